"""``python -m benchmarks validity [PART …]``: what stands behind each inferential number that svmstat prints.

Sizes, powers, coverages and calibration in simulations whose design the part tells, each with its Monte-Carlo standard
error. All parts take hours on two cores; the table of each is kept in ``benchmarks/results/validity-PART.txt``.
"""

import argparse
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

import pandas as pd

from benchmarks import (
    comparison,
    np_loo,
    span,
    tuning_optimism,
    validity_calibration,
    validity_coefficients,
    validity_copies,
    validity_effects,
    validity_evidence,
    validity_few,
    validity_gof,
    validity_groups,
    validity_permutations,
    validity_selection,
    validity_sets,
    validity_tails,
    validity_terms,
    validity_weights,
)

PARTS: dict[str, Callable[[bool], list[dict[str, Any]]]] = {
    "evidence": validity_evidence.rows,
    "evidence-weak": validity_evidence.weak,
    "evidence-weighed": validity_evidence.weighed,
    "evidence-small-costs": validity_evidence.small,
    "few": validity_few.rows,
    "copies": validity_copies.rows,
    "calibration": validity_calibration.rows,
    "gof": validity_gof.rows,
    "gof-large": validity_gof.large,
    "populations": validity_gof.populations,
    "gof-uneven": validity_gof.uneven,
    "gof-rare": validity_gof.rare,
    "gof-others": validity_gof.others,
    "scales": validity_gof.scales,
    "envelopes": validity_gof.envelopes,
    "envelopes-uneven": validity_gof.uneven_envelopes,
    "envelopes-weighed": validity_gof.weighed_envelopes,
    "sets": validity_sets.rows,
    "bands-insample": validity_sets.insample,
    "coefficients": validity_coefficients.rows,
    "coefficients-weak": validity_coefficients.weak,
    "coefficients-many": validity_coefficients.many,
    "coefficients-rare": validity_coefficients.rare,
    "effects": validity_effects.rows,
    "comparison": comparison.rows,
    "comparison-weighed": comparison.weighed,
    "errors": comparison.errors,
    "errors-factors": comparison.errors_of_factors,
    "tuning": tuning_optimism.rows,
    "span": span.rows,
    "terms": validity_terms.rows,
    "few-rows-terms": validity_terms.few,
    "curve-terms": validity_terms.curves,
    "rare-terms": validity_terms.rare,
    "rare-levels": validity_terms.rare_levels,
    "many-levels": validity_terms.many,
    "other-terms": validity_terms.others,
    "group-terms": validity_terms.grouped,
    "groups": validity_groups.rows,
    "groups-evidence": validity_groups.evidence,
    "weights": validity_weights.rows,
    "tails": validity_tails.rows,
    "permutations": validity_permutations.rows,
    "neyman-pearson": np_loo.rows,
    "selection": validity_selection.rows,
}


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks validity", description=__doc__)
    parser.add_argument("part", nargs="*", choices=[*PARTS, []], help="by default all")
    parser.add_argument("--quick", action="store_true", help="a few samples only")
    asked = parser.parse_args(arguments)
    for name in asked.part or PARTS:
        start = perf_counter()
        table = pd.DataFrame(PARTS[name](asked.quick))
        print(
            f"python -m benchmarks validity {name}{' --quick' if asked.quick else ''}: {perf_counter() - start:.0f} s"
        )
        print(table.to_string(index=False, na_rep="", float_format=lambda value: f"{value:.4f}"), flush=True)
