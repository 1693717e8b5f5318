"""The least of a function along one coordinate after the other, each number tried on a logarithmic scale."""

from collections.abc import Callable, Sequence

import numpy as np

from svmstat._tools.arrays import Floats

STEPS = (2.0, 1.0, 0.5)
"""Powers of two by which a number moves, the next when no move of the one before helps."""

REACH = 10.0
"""Powers of two beyond which a number does not go."""

SAME = 1e-4
"""A score that is not less by this share of itself is no better: moves would go on for the last digit."""

Scores = Callable[[Sequence[Floats]], Sequence[float]]
"""What scores several points at once; NaN for those that have none."""


def descend(scores: Scores, start: Floats) -> Floats:
    """The point (k,) of numbers > 0 from which no move of one of them by a step leads to a smaller score.

    Both directions are tried at once, and the better is followed for as long as it helps. No point is scored twice.

    Examples
    --------
    >>> def scores(points):
    ...     return [1.0 + float(np.abs(np.log2(point) - [3.0, -1.5]).sum()) for point in points]
    >>> descend(scores, np.ones(2))
    array([8.        , 0.35355339])
    """
    known: dict[tuple[float, ...], float] = {}

    def score(at: Sequence[Floats]) -> list[float]:
        keys = [tuple(each.tolist()) for each in at]
        new = [key for key in dict.fromkeys(keys) if key not in known]
        if new:
            known.update(zip(new, scores([np.exp2(key) for key in new]), strict=True))
        return [known[key] for key in keys]

    point = np.log2(start)
    least = score([point])[0]
    for step in STEPS:
        moved = True
        while moved:
            moved = False
            for k in range(len(point)):
                tried = [_moved(point, k, way * step) for way in (-1.0, 1.0)]
                found = score(tried)
                best = int(np.nanargmin([*found, np.inf]))
                while best < len(tried) and _better(found[best], least):
                    way = np.sign(tried[best][k] - point[k])
                    point, least, moved = tried[best], found[best], True
                    tried = [_moved(point, k, way * step)]
                    found, best = score(tried), 0
    return np.exp2(point)


def _moved(point: Floats, k: int, by: float) -> Floats:
    found = point.copy()
    found[k] = np.clip(found[k] + by, -REACH, REACH)
    return found


def _better(score: float, least: float) -> bool:
    return bool(score < least - SAME * abs(least))
