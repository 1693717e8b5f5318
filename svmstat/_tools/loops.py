"""Loops that compiled functions share.

Numba takes a quarter of a second to compile an assignment of one array to a slice of another, with the text of the
error that it might raise, anew in every function where one stands: a loop, or a call of these, costs a tenth of it.
"""

from numba import njit


@njit(cache=True, nogil=True)
def copy_into(target, values):
    """target[:] = values, both (n,)."""
    for i in range(target.shape[0]):
        target[i] = values[i]
