"""``python -m benchmarks validity``: sizes, powers, coverages and calibration behind every number that is printed.

Each part simulates one kind of inference and gives rows of one table: part, design, n, quantity, nominal value (if
there is one), mean over the samples, its Monte-Carlo standard error, samples. ``--part NAME`` runs one part, ``--quick``
a tenth of the samples.
"""

import argparse
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

from benchmarks import (
    validity_calibration,
    validity_evidence,
)

PARTS: dict[str, Callable[[bool], list[dict[str, Any]]]] = {
    "evidence": validity_evidence.rows,
    "calibration": validity_calibration.rows,
}


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks validity", description=__doc__)
    parser.add_argument("--part", choices=PARTS, action="append", help="by default all")
    parser.add_argument("--quick", action="store_true")
    asked = parser.parse_args(arguments)
    for name in asked.part or PARTS:
        start = perf_counter()
        found = PARTS[name](asked.quick)
        print(f"{name}: {len(found)} numbers in {perf_counter() - start:.0f} s{', quick' if asked.quick else ''}")
        print_table(found)


def print_table(found: list[dict[str, Any]]) -> None:
    """The rows, those of one design together."""
    width = max(len(each["quantity"]) for each in found)
    design = None
    for each in found:
        if (each["part"], each["design"], each["n"]) != design:
            design = each["part"], each["design"], each["n"]
            print(f"\n{each['part']}; {each['design']}; n = {each['n']}; {each['samples']} samples")
        nominal = "" if each["nominal"] is None else f"   nominal {each['nominal']:g}"
        print(f"  {each['quantity']:<{width}}  {each['value']:9.4f} +- {each['se']:.4f}{nominal}", flush=True)
    print()
