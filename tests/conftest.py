"""Settings of Hypothesis for all tests: the same examples in every run, no time limit for one of them."""

import sys
from pathlib import Path

from hypothesis import settings

# The checks of the fuzz lie beside the package and are not installed with it. Last, so that what is tested is the
# package that is installed.
sys.path.append(str(Path(__file__).parents[1]))

settings.register_profile("svmstat", deadline=None, derandomize=True, max_examples=50, print_blob=True)
settings.load_profile("svmstat")
