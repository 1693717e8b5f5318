"""As how many rows weights count."""

import numpy as np
import pytest

from svmstat.diagnostics.copies import copies_note
from svmstat.objective.units import Units


@pytest.mark.parametrize(
    ("weights", "told"),
    [
        ([1.0, 1.0, 0.0], ""),
        ([1.0, 2.0, 0.0, 3.0], "3 rows count as 6 independent ones"),
        ([0.5, 1.0, 1.0], "3 rows count as 2.5 independent ones"),
        ([1.0, 1.0, 2.0], "3 rows count as 4 independent ones"),
    ],
)
def test_copies_are_told_where_some_row_is_not_one(weights, told):
    note = copies_note(np.array(weights))
    assert (told in note[0]) if told else note == ()
    assert copies_note(np.array(weights), Units(np.arange(len(weights)), len(weights), False)) == ()
