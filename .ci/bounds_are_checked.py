"""Fails unless numba checks indices: NUMBA_BOUNDSCHECK=1, and a cache that was made with it."""

import numpy as np

from svmstat.solver.gram import gather

try:
    gather(np.zeros((1, 1)), np.array([7]), np.array([0]), np.array([0]), np.zeros((1, 1)))
except IndexError:
    print("indices are checked")
else:
    raise SystemExit("an index out of bounds went unnoticed: numba does not check them")
