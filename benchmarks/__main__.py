"""Run one benchmark: ``python -m benchmarks NAME``; without a name the names are listed."""

import sys

from benchmarks import first_call, fit, gof, growth, large, loo_engine, multiclass, path, simulation, tune

BENCHMARKS = {
    "fit": fit.main,
    "loo-engine": loo_engine.main,
    "gof": gof.main,
    "growth": growth.main,
    "tune": tune.main,
    "path": path.main,
    "multiclass": multiclass.main,
    "simulation": simulation.main,
    "first-call": first_call.main,
    "large": large.main,
}

if len(sys.argv) != 2 or sys.argv[1] not in BENCHMARKS:
    sys.exit(f"usage: python -m benchmarks {'|'.join(BENCHMARKS)}")
BENCHMARKS[sys.argv[1]]()
