"""``load()``: the fit that a file holds, without solving anything and without running what the file says."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from svmstat._tools.frames import KINDS, PANDAS, alike, can_answer
from svmstat.calibration import fit_calibration
from svmstat.errors import ArgumentTypeError, ModelFileError
from svmstat.formula import Untrusted
from svmstat.kernels import Additive, Kernel, additive_kernel
from svmstat.machine import Machine, machine_with, pose
from svmstat.model import Call, Posing
from svmstat.prepared import results_of, tell_of_certificate
from svmstat.resampling.unseen import Fitted
from svmstat.results import SVMResults
from svmstat.results.calibrated import kind_of
from svmstat.solver import Solution, Status, misfit
from svmstat.storage import Reading, decoded, own_version, read_archive, refused
from svmstat.storage.tables import decode_frame


def load(path: str | Path) -> SVMResults:
    """The fit that `SVMResults.save` has written to a file.

    Its predictions are those of the fit that was saved, bit for bit on the same kind of machine with the same versions
    numpy and svmstat; elsewhere up to rounding. Nothing is solved: the design is made of the stored columns, and then
    the stored solution must satisfy the optimality conditions of the problem that follows, to the tolerance of every
    fit. All methods work as before, but two: the search of a `tune` is not stored, so that ``retune=True`` is refused,
    and ``update`` knows the columns alone that the fit reads.

    Parameters
    ----------
    path : str or Path
        A file that may come from anyone. Formula and condition are read as texts from outside Python, see
        `svmstat.formula.safety`; no class is looked up by name, nothing is executed, and nothing is written.

    Returns
    -------
    SVMResults

    Raises
    ------
    ModelFileError
        If it is no such file, damaged, of a later format, or its parts do not agree; the message names the member.

    Warns
    -----
    CertificateWarning
        If the fit was not certified when it was saved.

    Notes
    -----
    The digests in the file tell damage. They are no signature: who can change the file can make new ones, and so give
    another fit, of other data. Its solution is one that `svm` could have found; the held-out decision values, to which
    the map of its probabilities is fitted, are those of the file, for nothing is refitted.

    Examples
    --------
    >>> import tempfile, os
    >>> import svmstat
    >>> liver = svmstat.datasets.load("liver")
    >>> fit = svmstat.svm("disease ~ np.log(ast) + np.log(alt) + np.log(gldh)", liver, C=4)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     fit.save(os.path.join(folder, "liver.svmstat"))
    ...     again = svmstat.load(os.path.join(folder, "liver.svmstat"))
    >>> again.predict_proba(liver).equals(fit.predict_proba(liver))
    True
    """
    if not isinstance(path, str | Path):
        raise ArgumentTypeError(f"path={path!r} is not allowed: it must be the name of a file.")
    reading = Reading(path, read_archive(path))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what there was to tell was told of the fit; a hostile text says anything
            fit = _made(reading)
    except ModelFileError:
        raise
    except Exception as error:  # numbers and texts of the file that no check has met may raise anything
        raise refused(path, f"{type(error).__name__}: {error}", "model.json") from error
    tell_of_certificate(fit)
    return fit


def _made(reading: Reading) -> SVMResults:
    """The fit, from its parts."""
    settings = _settings(reading, "call")
    of_others = _settings(reading, "of_others") if "of_others" in reading.model else {}
    data = decode_frame(reading, reading.entry(reading.model, "data"))
    formula = reading.entry(reading.model, "formula")
    kernel = decoded(reading, reading.entry(reading.model, "kernel"))
    solutions = [decoded(reading, each) for each in reading.entry(reading.model, "solutions")]
    held_out = decoded(reading, reading.entry(reading.model, "held_out"))
    untuned = tuple(reading.entry(reading.model, "untuned"))
    optimism = decoded(reading, reading.entry(reading.model, "optimism"))
    kind = reading.entry(reading.model, "kind")
    reading.finish()
    if not isinstance(formula, str) or not isinstance(kernel, Kernel):
        reading.refuse("its formula is no text, or its kernel none")
    if not all(isinstance(each, Solution) and isinstance(each.status, Status) for each in solutions):
        reading.refuse("a solution is none, or has no status")
    if not set(of_others) <= {"subset"}:
        reading.refuse("what takes the place of arguments for other rows is none of them")
    if not set(untuned) <= {"C", "gamma"} or not (optimism is None or isinstance(optimism, float)):
        reading.refuse("what is said of the tuning is not what a fit says")
    if kind not in KINDS:
        reading.refuse(f"its data are a frame of the kind {kind!r}, which is none of {', '.join(KINDS)}")
    posing = Call({"formula": Untrusted(formula), "data": data, **settings}).posing()
    machine = _machine(reading, posing, kernel, solutions)
    kind = kind if can_answer(kind) else PANDAS
    call = Call({"formula": Untrusted(formula), "data": alike(data, kind), **settings}, of_others=of_others)
    fit = results_of(posing.prepared, machine, untuned, call=call, optimism=optimism, kind=kind)
    fit.adopt_maps(_maps(reading, fit, held_out))
    return fit


def _settings(reading: Reading, name: str) -> dict[str, Any]:
    """The arguments of the call, or those that take the place of some of them for other rows."""
    said = reading.entry(reading.model, name)
    if not isinstance(said, dict) or {"formula", "data"} & set(said):
        reading.refuse("its call is none")
    settings = {name: decoded(reading, value) for name, value in said.items()}
    if isinstance(settings.get("subset"), str):
        settings["subset"] = Untrusted(settings["subset"])
    return settings


def _machine(reading: Reading, posing: Posing, kernel: Kernel, solutions: list[Any]) -> Machine:
    """The machine with these solutions, each of which must be that of its problem."""
    prepared, frame = posing.prepared, posing.prepared.frame
    if kernel.of_rows is not posing.kernel.of_rows or kernel.unresolved:
        reading.refuse("its kernel is not that of the call, or has not learnt from the data")
    terms = additive_kernel(frame.design.terms, posing.kernel).names if frame.design.additive else ()
    if (kernel.names if isinstance(kernel, Additive) else ()) != terms:
        reading.refuse(
            f"its kernel is not of the terms of the formula: {', '.join(terms) or 'these have one together'}"
        )
    kernel = kernel.resolve(prepared.X, frame.weights, frame.design.named_slices)
    posed = pose(kernel, prepared.X, frame.codes, frame.weights, prepared.contrasts(posing.nu), C=posing.C)
    if len(solutions) != len(posed.pairs):
        reading.refuse(f"it has {len(solutions)} solutions for {len(posed.pairs)} pairs of levels")
    for pair, solution in zip(posed.pairs, solutions, strict=True):
        if (wrong := misfit(pair.problem, solution)) is not None:
            levels = (frame.response.levels[code] for code in (pair.first, pair.second))
            reading.refuse(
                f"the solution for {' and '.join(map(repr, levels))} is none of the stored data: {wrong}"
                f"{_of_another_version(reading)}"
            )
    return machine_with(posed, solutions)


def _of_another_version(reading: Reading) -> str:
    """What a refusal says of a file that another svmstat has written."""
    theirs, ours = str(reading.model.get("svmstat"))[:40], own_version()
    if theirs == ours:
        return ""
    return (
        f"; svmstat {theirs} wrote it, and this is {ours}, which may read columns out of a formula in another way: fit "
        "again with the data"
    )


def _maps(reading: Reading, fit: SVMResults, held_out: Any) -> Fitted:
    """The maps of the probabilities, fitted to the stored held-out decision values."""
    shape = len(fit.machine.codes), len(fit.machine.pairs)
    by, own = held_out if isinstance(held_out, tuple) and len(held_out) == 2 else (None, None)
    if not isinstance(own, np.ndarray) or own.dtype != bool or own.shape != shape[1:]:
        reading.refuse("the map of the probabilities has not an entry for each pair of levels")
    kind = kind_of(fit.asked, fit.n_used)
    if kind == "insample":
        return Fitted(fit.insample_maps, None, own)
    if not isinstance(by, np.ndarray) or by.dtype != float or by.shape != shape or np.isinf(by).any():
        reading.refuse("the held-out decision values are not of the rows of the fit")
    return Fitted(fit_calibration(fit.machine, by, fit.coupled_by, kind), by, own)
