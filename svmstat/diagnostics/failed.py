"""What it means that replicates of a test failed."""

_MANY = 0.1
"""The share of failed replicates from which on the others may not be like all."""


def failed_warning(n_failed: int, B: int) -> tuple[str, ...]:
    """That many of B replicates failed, and the p-value is of the others; nothing where few or all did.

    Examples
    --------
    >>> failed_warning(3, 99), failed_warning(99, 99)
    ((), ())
    >>> failed_warning(20, 99)[0][:29]
    '20 of 99 replicates failed, a'
    """
    if n_failed <= _MANY * B or n_failed == B:
        return ()
    return (
        f"{n_failed} of {B} replicates failed, a class, a certificate or a row's held-out value being lost: the "
        "p-value is of the others, and right if those that failed are like these.",
    )
