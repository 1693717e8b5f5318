"""What an effect is an effect on: probabilities of the levels, or decision values of the pairs."""

from dataclasses import dataclass

import numpy as np

from svmstat._tools.arrays import Floats
from svmstat._tools.texts import probability_of
from svmstat.diagnostics.shape import Shape
from svmstat.reporting.rendering.parts import Entry

ON = ("prob", "decision")

_ROUNDING = 1e-9
"""Of a sum of weights that were divided by their mean."""

FLAT = (
    "The map from f to probabilities is flat, as where held-out values tell nothing of the response: every row has the "
    "class frequency, whatever its f."
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The q predictions of a row that effects are shown of: one for two levels, of more one for each level or pair.

    Attributes
    ----------
    on : str
        "prob" or "decision".
    shape : Shape
    flat : bool
        Whether the probabilities of all rows are the same, the maps being flat.
    """

    on: str
    shape: Shape
    flat: bool = False

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be said of it."""
        return (f"{FLAT} on='decision' shows what f does.",) if self.flat else ()

    def shown(self, values: Floats) -> Floats:
        """Of values (…, Q) of all levels, or pairs, the q that are shown: of two levels the event."""
        if self.on == "prob" and self.shape.two:
            code = self.shape.response.event_code
            return values[..., code : code + 1]
        return values

    @property
    def keys(self) -> np.ndarray:
        """(q,) the level, or pair as "first : second", that each is of."""
        response = self.shape.response
        if self.on == "decision":
            found = np.empty(len(response.pairs), object)
            found[:] = [f"{response.levels[i]} : {response.levels[j]}" for i, j in response.pairs]
            return found
        return np.asarray([response.event]) if self.shape.two else np.asarray(self.shape.levels)

    @property
    def names(self) -> tuple[str, ...]:
        """What each is called, such as "P(y = yes)"."""
        if self.on == "prob":
            return tuple(probability_of(self.shape.response.name, level) for level in self.keys)
        return ("f",) if self.shape.two else tuple(f"f({pair})" for pair in self.keys)

    @property
    def name(self) -> str:
        """What all are called together."""
        if len(self.keys) == 1:
            return self.names[0]
        return "P(level)" if self.on == "prob" else "f(pair)"

    @property
    def key_name(self) -> str:
        """The column in which the keys stand."""
        return "level" if self.on == "prob" else "pair"


def rows_averaged(weights: Floats) -> tuple[Entry, ...]:
    """What a summary says of rows with these weights (n,) whose predictions are averaged.

    Of weights that repeat rows also their sum; that of probability weights is n.

    Examples
    --------
    >>> [(entry.label, entry.value) for entry in rows_averaged(np.array([2.0, 3.0]))]
    [('Rows averaged over, weighted', 2), ('Sum of weights', 5.0)]
    """
    n, total = len(weights), float(weights.sum())
    rows = Entry(f"Rows averaged over{', weighted' if np.ptp(weights) > 0.0 else ''}", n, "count")
    return (rows,) if abs(total - n) <= _ROUNDING * total else (rows, Entry("Sum of weights", total, "count"))
