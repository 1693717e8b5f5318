"""Run one benchmark: ``python -m benchmarks NAME``; without a name the names are listed."""

import sys

from benchmarks import (
    additive,
    beside,
    davenport,
    first_call,
    fit,
    gof,
    grids,
    growth,
    landmarks,
    large,
    large_loo,
    linear,
    loo_engine,
    multiclass,
    nu_grid,
    path,
    simulation,
    tune,
    validity,
)
from benchmarks.ahead_of_time import command as ahead_of_time
from benchmarks.fuzz import command as fuzz

BENCHMARKS = {
    "additive": additive.main,
    "fit": fit.main,
    "loo-engine": loo_engine.main,
    "gof": gof.main,
    "growth": growth.main,
    "tune": tune.main,
    "path": path.main,
    "multiclass": multiclass.main,
    "nu-grid": nu_grid.main,
    "simulation": simulation.main,
    "large": large.main,
    "linear": linear.main,
    "landmarks": landmarks.main,
}

WITH_OPTIONS = {
    "ahead-of-time": ahead_of_time.main,
    "beside": beside.main,
    "davenport": davenport.main,
    "first-call": first_call.main,
    "fuzz": fuzz.main,
    "grids": grids.main,
    "large-loo": large_loo.main,
    "validity": validity.main,
}

known = {**BENCHMARKS, **WITH_OPTIONS}
if len(sys.argv) < 2 or sys.argv[1] not in known or (len(sys.argv) > 2 and sys.argv[1] not in WITH_OPTIONS):
    sys.exit(f"usage: python -m benchmarks {'|'.join(known)}")
if sys.argv[1] in WITH_OPTIONS:
    WITH_OPTIONS[sys.argv[1]](sys.argv[2:])
else:
    BENCHMARKS[sys.argv[1]]()
