"""What a comparison asks of a model: its rows, and what its refits say of rows that they have not seen."""

from collections.abc import Sequence
from typing import Protocol

from svmstat._tools.arrays import Codes
from svmstat.comparison.observed import Observed
from svmstat.resampling.said import Said


class Member(Protocol):
    """A model that can be fitted again without some of its rows, everything else as it was."""

    @property
    def observed(self) -> Observed:
        """Its rows; the classes of what is said are in the order of their levels."""

    def one_by_one(self, n_jobs: int | None, progress: bool) -> Said:
        """Each row left out on its own; one of weight w loses min(w, 1), and one of weight zero nothing."""

    def without(self, lots: Sequence[Codes], n_jobs: int | None, progress: bool) -> list[Said]:
        """The rows of each lot left out together, and predicted."""
