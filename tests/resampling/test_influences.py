"""The largest influences of refits, and of refits of these, against what is drawn and fitted one by one."""

from functools import partial

import numpy as np
import pytest
from levels import sample

from svmstat import svm
from svmstat.kernels import RBF
from svmstat.machine import fit_again
from svmstat.resampling.bootstrap import drawn_labels, replicate_generator
from svmstat.resampling.influences import MEASURES, Maxima, largest_influences, of_both, of_refit, seconds_of, together
from svmstat.resampling.predicted import How, predicted
from svmstat.resampling.relabelled import refits

SEED = np.random.SeedSequence(7)
HOW = How("wu-lin-weng", "loo")


def redrawn(machine, chances, rng):
    """The refit to labels of all rows, each at a point of its own."""
    copies = drawn_labels(machine, chances, rng)
    rows, codes = np.nonzero(copies)
    return fit_again(machine, rows, codes, copies[rows, codes]), rows


def test_refits_of_refits_draw_from_what_the_refits_report(clouds, fit, K):
    machine, maps = fit(RBF(0.5), *clouds(25 * K, K, seed=3), C=2.0)
    chances = maps.probabilities(machine.group_values)
    look = partial(largest_influences, HOW, partial(of_both, HOW, None))
    found = refits(machine, look, chances=chances, B=3, seed=SEED, what="")
    assert any(each is not None for each in found)
    for r, largest in enumerate(found):
        if largest is None:  # as one of six classes may be lost
            continue
        rng = replicate_generator(SEED, r)
        first, point = redrawn(machine, chances, rng)
        alone = largest_influences(HOW, of_refit, first, point, rng)
        np.testing.assert_allclose(largest.first, alone.first, rtol=1e-9)
        second, point = redrawn(first, predicted(first, HOW).maps.probabilities(first.group_values), rng)
        again = largest_influences(HOW, of_refit, second, point, rng)
        assert (largest.second is None) == (again is None)
        if again is not None:
            np.testing.assert_allclose(largest.second, again.first, rtol=1e-9)


def test_replicates_that_begin_later_are_those_of_all(clouds, fit):
    machine, maps = fit(RBF(0.5), *clouds(40, 2, seed=3), C=2.0)
    look, chances = partial(largest_influences, HOW, of_refit), maps.probabilities(machine.group_values)
    every, later = (
        refits(machine, look, chances=chances, B=B, first=first, seed=SEED, what="") for B, first in ((4, 0), (2, 2))
    )
    np.testing.assert_array_equal([each.first for each in every[2:]], [each.first for each in later])


def test_a_refit_that_another_procedure_makes_is_made_by_it_again(clouds, fit):
    machine, maps = fit(RBF(0.5), *clouds(40, 2, seed=3), C=2.0)
    calls = []

    def refit(X, codes, weights):
        calls.append(len(X))
        return fit_again(machine, np.arange(len(X)), codes, weights)

    look = partial(largest_influences, HOW, partial(of_both, HOW, refit))
    chances = maps.probabilities(machine.group_values)
    refits(machine, look, chances=chances, B=2, seed=SEED, refit=refit, what="", n_jobs=1)
    assert len(calls) == 4


@pytest.mark.parametrize("calibration", ["loo", "insample", "kfold", "venn-abers"])
def test_what_a_machine_reports_is_what_its_fit_reports(calibration):
    found = svm("y ~ x + z", sample(2, 60, seed=3), calibration=calibration, C=2.0)
    again = predicted(found.machine, found._how).probability
    expected = found.maps.probabilities(found.machine.group_values)
    np.testing.assert_allclose(again, expected, rtol=0, atol=1e-9)


def test_what_failed_is_no_number():
    known, nothing = np.arange(5.0), np.full(len(MEASURES), np.nan)
    found = together([Maxima(known, 2.0 * known), Maxima(known), None, Maxima(known)], 3)
    np.testing.assert_array_equal(found.first, [known, known, nothing, known])
    np.testing.assert_array_equal(found.second, [2.0 * known, nothing, nothing])


def test_more_refits_have_more_refits():
    assert [seconds_of(B) for B in (99, 199, 999)] == [49, 49, 249]
