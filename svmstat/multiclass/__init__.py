"""More than two classes: a machine for each pair, coupled probabilities, votes [003: section 3]."""

from svmstat.multiclass.bootstrap import bootstrap_deviance
from svmstat.multiclass.folds import PairsHeldOut, hold_out
from svmstat.multiclass.leave_one_out import PairsDeletion, PairsLeaveOneOut, deletion_changes, leave_one_out
from svmstat.multiclass.pairs import Pair, PairsMachine, PosedPairs, fit_pair_maps, fit_pairs, pose_pairs
from svmstat.multiclass.probabilities import PairMaps, coupled, log_likelihoods, pairs_of, vote

__all__ = [
    "Pair",
    "PairMaps",
    "PairsDeletion",
    "PairsHeldOut",
    "PairsLeaveOneOut",
    "PairsMachine",
    "PosedPairs",
    "bootstrap_deviance",
    "coupled",
    "deletion_changes",
    "fit_pair_maps",
    "fit_pairs",
    "hold_out",
    "leave_one_out",
    "log_likelihoods",
    "pairs_of",
    "pose_pairs",
    "vote",
]
