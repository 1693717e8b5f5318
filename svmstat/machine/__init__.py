"""Rows, pairs of classes on one gram matrix, decision values: two classes are one pair [003: section 3]."""

from svmstat.machine.fit import (
    Known,
    Machine,
    Posed,
    along_costs,
    cancelled,
    fit_again,
    fit_machine,
    in_units,
    machine_with,
    pose,
    reweighted,
    rows_of,
)
from svmstat.machine.groups import Groups, gram_of, group_rows, point_by_point
from svmstat.machine.pairs import (
    Contrast,
    Pair,
    PosedPair,
    by_class,
    contrasts,
    decided_elsewhere,
    elsewhere,
    for_weights,
    nu_contrast,
    others_of,
    pairs_of,
    vote,
)
from svmstat.machine.terms import TermSizes, term_at, term_sizes, term_values
from svmstat.machine.ties import tied, tied_to, tied_where_coarse
