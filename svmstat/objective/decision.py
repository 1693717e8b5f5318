"""What the two errors cost and whom the rule is for: costs, priors and class weights [000: 13–18]."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from svmstat._tools.arrays import Floats
from svmstat._tools.checks import between, positive, refuse
from svmstat.errors import ArgumentError
from svmstat.formula import ModelFrame
from svmstat.objective.losses import bayes_weights

_COSTS = ("fp", "fn")


@dataclass(frozen=True, slots=True)
class Decision:
    """What a fit was told of the decision that it is for.

    Attributes
    ----------
    class_weight : dict
        L for each level; 1 if nothing was given.
    given : bool
        Whether there were class weights, costs or priors.
    costs : dict or None
        {"fp": cost of a false positive, "fn": of a false negative}.
    priors : dict or None
        The share of each level in the target population.
    """

    class_weight: dict[Any, float]
    given: bool
    costs: dict[str, float] | None
    priors: dict[Any, float] | None

    def factors(self, levels: Iterable[object]) -> Floats:
        """(K,) L of these levels."""
        return np.array([self.class_weight[level] for level in levels])

    @property
    def source(self) -> str:
        """The argument that the class weights come from; of costs and priors, the costs."""
        return "costs" if self.costs is not None else "priors" if self.priors is not None else "class_weight"

    @property
    def cost_fp(self) -> float:
        """What a false positive costs, 1 if nothing was said."""
        return 1.0 if self.costs is None else self.costs["fp"]

    @property
    def cost_fn(self) -> float:
        """What a false negative costs, 1 if nothing was said."""
        return 1.0 if self.costs is None else self.costs["fn"]


def decide(frame: ModelFrame, class_weight: object, costs: object, priors: object) -> Decision:
    """Check the three arguments of `svm` and turn them into class weights L.

    Costs and priors give L(−1) ∝ c_fp π⁺ π_t⁻ and L(+1) ∝ c_fn π⁻ π_t⁺ with mean one, π being the weighted shares of
    the sample and π_t those of the target population [000: 18]. For more than two levels priors give L ∝ π_t / π, which
    for two is the same, and there are no costs.

    Raises
    ------
    ArgumentError
        For values that are not allowed, and for class weights beside costs or priors.
    """
    if costs is None and priors is None:
        return Decision(_class_weights(class_weight, frame), class_weight is not None, None, None)
    name = "costs" if costs is not None else "priors"
    if class_weight is not None:
        raise ArgumentError(f"class_weight and {name} are two ways to say the same: give one of them.")
    levels = frame.response.levels
    if costs is not None and len(levels) > 2:
        raise ArgumentError(
            f"costs={costs!r} is not allowed: false positives and false negatives are those of two classes, and the "
            f"response {frame.response.name!r} has {len(levels)} levels; class_weight and priors weigh these."
        )
    given_costs = None if costs is None else check_costs(costs)
    shares = None if priors is None else _priors(priors, frame)
    sample = _shares(frame)
    target = sample if shares is None else shares
    if len(levels) > 2:
        ratios = {level: target[level] / sample[level] for level in levels}
        mean = sum(ratios.values()) / len(levels)
        return Decision({level: ratio / mean for level, ratio in ratios.items()}, True, None, shares)
    event = frame.response.event
    fp, fn = (1.0, 1.0) if given_costs is None else (given_costs["fp"], given_costs["fn"])
    event_weight, other_weight = bayes_weights(fp, fn, sample[event], target[event])
    weights = {level: event_weight if level == event else other_weight for level in levels}
    return Decision(weights, True, given_costs, shares)


def _shares(frame: ModelFrame) -> dict[Any, float]:
    """The weighted share of each level in the sample."""
    used = frame.weights > 0
    totals = np.bincount(frame.codes[used], frame.weights[used], len(frame.response.levels))
    return dict(zip(frame.response.levels, (totals / totals.sum()).tolist(), strict=True))


def check_costs(costs: object) -> dict[str, float]:
    """{"fp": …, "fn": …}, both > 0; a cost that is not named is 1."""
    if not isinstance(costs, Mapping) or not costs or not set(costs) <= set(_COSTS):
        allowed = "a mapping of 'fp' (false positive) and 'fn' (false negative) to numbers > 0"
        raise refuse("costs", costs, allowed)
    return {key: positive(f"costs[{key!r}]", costs.get(key, 1.0)) for key in _COSTS}


def _priors(priors: object, frame: ModelFrame) -> dict[Any, float]:
    levels = frame.response.levels
    named = ", ".join(map(repr, levels))
    if not isinstance(priors, Mapping):
        raise refuse("priors", priors, f"a mapping of the levels {named} to their shares")
    found = {frame.response.find(level): level for level in priors}
    if None in found or len(found) != len(levels) or len(priors) != len(levels):
        raise refuse("priors", priors, f"a mapping of all levels, which are {named}, to their shares")
    shares = {}
    for level in levels:
        shares[level] = between(f"priors[{found[level]!r}]", priors[found[level]], 0, 1)
    total = sum(shares.values())
    if abs(total - 1.0) > 1e-8:
        raise refuse("priors", priors, f"shares that sum to 1, not to {total:.10g}")
    return {level: share / total for level, share in shares.items()}


def _class_weights(class_weight: object, frame: ModelFrame) -> dict[Any, float]:
    """L for each level."""
    levels = frame.response.levels
    if class_weight is None:
        return dict.fromkeys(levels, 1.0)
    if isinstance(class_weight, str) and class_weight == "balanced":
        return {level: 1.0 / (len(levels) * share) for level, share in _shares(frame).items()}
    if not isinstance(class_weight, Mapping):
        raise refuse("class_weight", class_weight, "'balanced' or a mapping of levels to numbers > 0")
    weights = dict.fromkeys(levels, 1.0)
    for level, value in class_weight.items():
        known = frame.response.find(level)
        if known is None:
            named = ", ".join(map(repr, levels))
            raise refuse("class_weight", class_weight, f"a mapping of levels, which are {named}")
        weights[known] = positive(f"class_weight[{level!r}]", value)
    return weights
