"""Loss functions as what they change in the one problem: margins m and class weights L."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

NAMES = ("hinge",)


@dataclass(frozen=True, slots=True)
class Loss:
    """u_i [m_i − y_i f(x_i)]₊ with u_i = C · w_i · L(y_i).

    Attributes
    ----------
    name : str
    margin_event, margin_other : margins m of the two classes
    weight_event, weight_other : class weights L of the two classes
    """

    name: str
    margin_event: float
    margin_other: float
    weight_event: float
    weight_other: float

    def margin(self, y: Floats) -> Floats:
        """(n,) m_i for labels y in {−1, +1}."""
        return np.where(y > 0, self.margin_event, self.margin_other)

    def class_weight(self, y: Floats) -> Floats:
        """(n,) L(y_i) for labels y in {−1, +1}."""
        return np.where(y > 0, self.weight_event, self.weight_other)


def hinge(weight_event: float = 1.0, weight_other: float = 1.0) -> Loss:
    """The hinge loss L(y) [1 − y f]₊ [000: 20], [002: 10].

    Examples
    --------
    >>> hinge(weight_event=2.0).class_weight(np.array([-1.0, 1.0]))
    array([1., 2.])
    """
    return Loss("hinge", 1.0, 1.0, weight_event, weight_other)
