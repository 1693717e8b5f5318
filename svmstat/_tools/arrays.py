"""Names of array types."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]
"""Classes, groups or places of rows."""
