"""Run one benchmark: ``python -m benchmarks fit | loo-engine | gof | tune | simulation | first-call | large``."""

import sys

from benchmarks import first_call, fit, gof, large, loo_engine, simulation, tune

BENCHMARKS = {
    "fit": fit.main,
    "loo-engine": loo_engine.main,
    "gof": gof.main,
    "tune": tune.main,
    "simulation": simulation.main,
    "first-call": first_call.main,
    "large": large.main,
}

if len(sys.argv) != 2 or sys.argv[1] not in BENCHMARKS:
    sys.exit(f"usage: python -m benchmarks {'|'.join(BENCHMARKS)}")
BENCHMARKS[sys.argv[1]]()
