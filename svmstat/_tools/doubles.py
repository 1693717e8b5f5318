"""What numbers of double precision have room for."""

import numpy as np

EPS = float(np.finfo(float).eps)
"""From 1 to the next number."""

FAR = 1e300
"""Beyond every number that is computed with."""
