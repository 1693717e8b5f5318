"""CPU seconds from numpy and scipy to the first answer of both kernels: ``python first_use.py CASE FOLDER NAME …``.

CASE is a file that `sizes` of command.py has written; without a FOLDER numba's kernels are used.
"""

import sys
import time

import numpy as np
import scipy.linalg.lapack  # noqa: F401 - the modules of numba's kernels import it, for others in them

from benchmarks.ahead_of_time.given import Descent, Walks
from benchmarks.ahead_of_time.loading import load


def main(case, *library):
    """Print them."""
    kept = np.load(case)
    descent = Descent(*(kept[name] for name in Descent._fields))._replace(p=int(kept["p"]))
    walks = Walks(*(kept[f"walk_{name}"] for name in Walks._fields))
    start = time.process_time()
    if library:
        kernels = load(library[0], library[1:])
        descent.by(kernels.smo)
        walks.by(kernels.walk_all)
    else:
        by_numba(descent, walks)
    print(time.process_time() - start)


def by_numba(descent, walks):
    """Import numba's kernels and call each once."""
    from benchmarks.ahead_of_time.numba_walks import walk_all  # noqa: PLC0415 - the import is timed
    from svmstat.solver.rough.smo import smo  # noqa: PLC0415

    descent.by(smo)
    walks.by(walk_all)


if __name__ == "__main__":
    main(*sys.argv[1:])
