"""Types that a unit does not compute in, and the cast that would help: one wording for all
families."""

from __future__ import annotations

from collections.abc import Collection

from fusec.schedule.types import RefusalError

CASTS: dict[str, tuple[tuple[str, str], ...]] = {
    "f64": (("f32", "seven digits remain"),),
    "i64": (("i32", "where the values fit"), ("f32", "exact up to 2^24")),
    "ui64": (("i32", "where the values fit"), ("f32", "exact up to 2^24")),
    "ui32": (("i32", "where the values fit"), ("f32", "exact up to 2^24")),
    "i32": (("f32", "exact up to 2^24"),),
    "i16": (("i32", "exact"), ("f32", "exact")),
    "ui16": (("i32", "exact"), ("f32", "exact")),
    "i8": (("f16", "exact"), ("i32", "exact")),
    "ui8": (("f16", "exact"), ("i32", "exact")),
    "i1": (("f16", "0 and 1"), ("i32", "0 and 1")),
    "f16": (("f32", "exact"),),
    "bf16": (("f32", "exact"),),
}
"""Types that hold (nearly) what a type holds, the best first, and what is kept."""


def cast_for(dtype: str, takes: Collection[str]) -> tuple[str, str] | None:
    """The first type that a unit takes and that helps, and what is kept; None if none does."""
    return next((cast for cast in CASTS.get(dtype, ()) if cast[0] in takes), None)


def type_refusal(what: str, dtype: str, takes: Collection[str], unit: str) -> RefusalError:
    """`what` on `dtype` where `unit` takes other types; the numbers name the cast for advice."""
    found = cast_for(dtype, takes)
    if found is None:
        advice = "no cast keeps its values"
    else:
        advice = f"cast its operands to {found[0]} ({found[1]}), and the result back"
    return RefusalError(
        "type",
        f"{what} on {dtype} {unit}, only on {', '.join(takes)}; {advice}",
        {"type": dtype, "takes": ", ".join(takes), "cast": found[0] if found else ""},
    )
