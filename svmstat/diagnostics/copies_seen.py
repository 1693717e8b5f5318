"""What is said of held-out rows where fits without them have seen copies of them."""

from svmstat.diagnostics.copies import other_copies_note
from svmstat.diagnostics.evidence import Evidence
from svmstat.resampling.copies import Copies

_SEEN = (
    "{seen:.6g} of {total:.6g} rows have copies, of the same predictors and level, which the fits without them have "
    "seen: held-out numbers promise too much, unless such rows are different cases."
)


def copies_seen(held_out: Evidence, by: str = "") -> tuple[str, ...]:
    """That fits without a row have seen copies of it, where there are more than chance makes.

    ``by`` is what holds copies out together.
    """
    copies = getattr(held_out, "copies", None)
    return () if copies is None else told_of_copies(copies, float(held_out.weights.sum()), by)


def told_of_copies(copies: Copies, total: float, by: str = "") -> tuple[str, ...]:
    """The same of such rows among this weight of all."""
    if not copies.suspicious:
        return ()
    together = f" {by} holds copies out together." if by and copies.together else ""
    return (_SEEN.format(seen=copies.seen, total=total) + together,)


def warning_of_copies(held_out: Evidence) -> tuple[str, ...]:
    """The same beside the numbers of a fit."""
    return copies_seen(held_out, "fit.kfold()" if held_out.how == "leave-one-out" else "")


def copies_left(held_out: Evidence) -> tuple[str, ...]:
    """What leaving out one copy of a row leaves."""
    one_by_one = held_out.how.startswith("leave-one")
    return other_copies_note(held_out.weights, held_out.units) if one_by_one else ()
