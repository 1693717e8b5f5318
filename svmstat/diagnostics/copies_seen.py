"""What is said of held-out rows where fits without them have seen copies of them."""

from svmstat.diagnostics.copies import other_copies_note
from svmstat.diagnostics.evidence import Evidence
from svmstat.resampling.copies import Copies

_SEEN = (
    "{seen:.6g} of {total:.6g} rows have copies, of the same predictors and level, which the fits without them have "
    "seen: held-out numbers promise too much, unless such rows are different cases."
)


def copies_seen(held_out: Evidence) -> str | None:
    """That fits without a row have seen copies of it, where that is so of many rows."""
    copies = getattr(held_out, "copies", None)
    if copies is None or not copies.suspicious:
        return None
    return of_copies(copies, float(held_out.weights.sum()))


def of_copies(copies: Copies, total: float) -> str:
    """The same of such rows among this weight of all."""
    return _SEEN.format(seen=copies.seen, total=total)


def copies_left(held_out: Evidence) -> tuple[str, ...]:
    """What leaving out one copy of a row leaves."""
    one_by_one = held_out.how.startswith("leave-one")
    return other_copies_note(held_out.weights, held_out.units) if one_by_one else ()


def remedy_of_copies(held_out: Evidence) -> str:
    """What holds them out together."""
    copies = held_out.copies
    together = copies is not None and copies.fewest > 1 and held_out.how == "leave-one-out"
    return " fit.kfold() holds copies out together." if together else ""
