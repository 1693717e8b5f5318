"""The least of a function along one coordinate after the other, each number tried on a logarithmic scale."""

from collections.abc import Callable, Sequence

import numpy as np

from svmstat._tools.arrays import Floats

LINES = ((-4.0, -2.0, -1.0, 1.0, 2.0, 4.0), (-0.5, 0.5))
"""Powers of two by which a number is moved: along a whole line, and where that leads nowhere by a little."""

REACH = 12.0
"""Powers of two that a number goes from its start: a weight of 2^-12 is none beside others of one."""

SAME = 1e-4
"""A score that is not less by this share of itself is no better: moves would go on for the last digit."""

Scores = Callable[[Sequence[Floats]], Sequence[float]]
"""What scores several points at once; NaN for those that have none."""


def descend(scores: Scores, start: Floats) -> Floats:
    """The point (k,) of numbers > 0 from which no move of one of them leads to a smaller score.

    A number goes to the best place of its line, the next sets off from there, round after round; where small moves have
    led somewhere, large ones are tried from there. No point is scored twice.

    Examples
    --------
    >>> def scores(points):
    ...     return [1.0 + float(np.abs(np.log2(point) - [3.0, -1.5]).sum()) for point in points]
    >>> descend(scores, np.ones(2))
    array([8.        , 0.35355339])
    """
    known: dict[tuple[float, ...], float] = {}

    def score(at: Sequence[Floats]) -> Floats:
        keys = [tuple(each.tolist()) for each in at]
        new = [key for key in dict.fromkeys(keys) if key not in known]
        if new:
            known.update(zip(new, scores([np.exp2(key) for key in new]), strict=True))
        return np.array([known[key] for key in keys])

    point = begin = np.log2(start)
    least = score([point])[0]

    def moves_along(line: Sequence[float]) -> bool:
        nonlocal point, least
        before = point
        for k in range(len(point)):
            tried = [_moved(point, k, by, begin[k]) for by in line]
            found = np.where(np.isnan(values := score(tried)), np.inf, values)
            if found.min() < least - SAME * abs(least):
                point, least = tried[int(found.argmin())], found.min()
        return point is not before

    again = True
    while again:
        again = False
        for line in LINES:
            while moves_along(line):
                again = line is LINES[-1]
    return np.exp2(point)


def _moved(point: Floats, k: int, by: float, begin: float) -> Floats:
    found = point.copy()
    found[k] = np.clip(found[k] + by, begin - REACH, begin + REACH)
    return found
