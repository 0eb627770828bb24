"""What a protected table comes to, in sentences for people who are no statisticians."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sfumato.api.protect_table import TableAsked

__all__ = ["NAMES", "facts", "methods", "notes", "verdict"]

NAMES: Mapping[tuple[str, str], str] = {
    ("suppress", "auto"): "Hide cells",
    ("suppress", "optimal"): "Hide cells: cheapest pattern",
    ("suppress", "flow"): "Hide cells: flows",
    ("suppress", "elimination"): "Hide cells: elimination",
    ("round", "controlled"): "Round so that totals add up",
    ("round", "conventional"): "Round each to the nearest",
    ("round", "random"): "Round each at random",
    ("round", "barnardise"): "Counts off by one at random",
    ("adjust", "auto"): "Move unsafe values",
    ("recode", "branches"): "Coarser codes",
    ("perturb", "auto"): "Noise by cell keys",
}
"""By method and way."""
_OPTIONS = {
    "--tell-unsafe (tell_unsafe)": "“Publish which hidden cells are unsafe”",
}
"""Options of the command, as the page calls them."""
_HIDES = {
    "optimal": "the cheapest pattern",
    "flow": "cheapest flows",
    "elimination": "elimination",
}


def verdict(asked: TableAsked, told: Mapping[str, Any]) -> dict[str, Any]:
    """What the audit says: `state` (ok, warn, bad or empty), `headline`, `sentences`.

    Parameters
    ----------
    asked
        The table.
    told
        What the command prints as JSON.
    """
    return {"suppress": _hidden, "round": _rounded, "adjust": _adjusted, "recode": _recoded, "perturb": _noisy}[
        asked.method
    ](told)


def _said(state: str, headline: str, *sentences: str) -> dict[str, Any]:
    return {"state": state, "headline": headline, "sentences": [one for one in sentences if one]}


def _hidden(told: Mapping[str, Any]) -> dict[str, Any]:
    inside = told["insiders"]
    near = (
        f"Whoever is alone or largest in a hidden cell bounds {_many(inside['below_level'], 'unsafe one')} more "
        "closely than the rule asks. That is reported, not prevented."
        if inside["below_level"]
        else ""
    )
    alone = f"A contributor alone in a hidden cell works out {_many(inside['exact'] or 0, 'unsafe one')} exactly."
    if not told["ok"]:
        return _said(
            "bad",
            "The audit failed: hidden cells can still be worked out",
            *_failed(told),
            alone if inside["exact"] else "",
            "Nothing was written. Take coarser codes, a hierarchy, or fewer variables.",
            near,
        )
    if not told["primary"]:
        return _said("ok", "No cell is unsafe by these rules", "So nothing had to be hidden.")
    if told["primary"] + told["secondary"] == told["cells"]:
        return _said(
            "warn",
            "Every cell is hidden: nothing is left of the table",
            "Where seconds are given below “Time, and what is shown”, allow more. Else take coarser codes, a "
            "hierarchy, fewer variables, or another method.",
        )
    closely = (
        "An attacker who sees the table and knows how codes add up finds an interval for each hidden cell, and for "
        "unsafe ones none closer than the rule asks."
    )
    outside = alone if inside["exact"] else ""  # no reader is a contributor, by the custodian's choice
    state = "warn" if outside or near else "ok"
    return _said(state, "The audit was passed: no hidden cell can be worked out", closely, outside, near)


def _failed(told: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with a table, from what is found exactly to what was not decided."""
    audit, levels, unions = told["audit"], told["levels"], told["unions"]
    if audit["exact"]:
        yield f"{_many(audit['exact'], 'unsafe cell')} can be worked out exactly."
    if audit["below_level"]:
        yield f"{_many(audit['below_level'], 'unsafe cell')} can be bounded more closely than the rule asks."
    if levels and levels["unproved"]:
        yield f"Of {_many(levels['unproved'], 'unsafe cell')} it was not proved that nobody can."
    if unions and unions["unsafe"]:
        yield f"{_many(unions['unsafe'], 'sum')} of hidden cells, which a published total tells, would be unsafe."


def _rounded(told: Mapping[str, Any]) -> dict[str, Any]:
    audit = told["audit"]
    if audit is None:
        return _said(
            "",
            "No audit of this table",
            "What rounded cells tell together is worked out for counts with up to 300 finest cells.",
        )
    empty = f"Certainly empty, for whoever looks: {_many(audit['zeros'], 'finest cell')}." if audit["zeros"] else ""
    if audit["exact"]:
        return _said(
            "bad",
            f"{_many(audit['exact'], 'finest cell')} can be worked out exactly",
            "Whoever knows how it was rounded can undo it there. Take a larger base, or round so that totals add up.",
            empty,
        )
    return _said(
        "ok",
        "No finest cell that is not empty can be worked out exactly",
        ""
        if audit["mean_width"] is None
        else f"Whoever knows how it was rounded finds intervals that are {audit['mean_width']:.3g} wide on average.",
        empty,
    )


def _adjusted(told: Mapping[str, Any]) -> dict[str, Any]:
    return _said(
        "ok" if told["primary"] else "",
        "Every unsafe value was moved at least as far as its rule asks"
        if told["primary"]
        else "No cell is unsafe by these rules",
        "Totals add up, and it is not told which cells were moved. No attacker was set on it: whoever knows a total "
        "from elsewhere, or the level of a cell, can draw conclusions.",
    )


def _recoded(told: Mapping[str, Any]) -> dict[str, Any]:
    return _said(
        "ok",
        "No published cell is unsafe",
        "Codes are as coarse as it takes; every published value is true, and what can be worked out from these is a "
        "sum of safe cells.",
    )


def _noisy(told: Mapping[str, Any]) -> dict[str, Any]:
    return _said(
        "",
        "Every cell has noise that hangs on its records",
        "The same cell has the same noise in every table made with this secret, so that asking again tells nothing "
        "more. Totals differ from the sums of their parts. No attacker was set on it.",
    )


def facts(asked: TableAsked, told: Mapping[str, Any], shown: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Terms with their figures."""
    loss = shown["loss"]
    out: list[tuple[str, Any]] = [("Cells that are not empty", loss["cells"])]
    if "primary" in told:
        out.append(("Unsafe by the rules", told["primary"]))
    if asked.method == "suppress":
        out += [("Hidden beside them", told["secondary"]), ("Value hidden beside them", told["secondary_value"])]
        if not told["primary"]:
            return out
        proved = "nothing cheaper exists" if told["optimal"] else "it was not proved that nothing is cheaper"
        out.append(("Found by", f"{_HIDES.get(told['method'], told['method'])}; {proved}"))
    elif asked.method == "recode":
        out += [("Not published", loss["hidden"]), ("Information on codes that is lost", f"{told['loss_share']:.1%}")]
    else:
        out += [("Changed", loss["changed"]), ("Largest change", told["largest_change"])]
        out.append(("Sum of all changes", loss["change"]))
    return out


def notes(told: Mapping[str, Any]) -> list[str]:
    """What the method had to say, in the words of the page; what the verdict says is not said again."""
    from sfumato.tables.protect import INSIDER

    return [_worded(note) for note in told.get("notes", []) if note != INSIDER]


def _worded(note: str) -> str:
    for option, words in _OPTIONS.items():
        note = note.replace(option, words)
    return note


def methods(tried: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Lines of the comparison."""
    return [{**one, "name": NAMES[one["method"], one["way"]]} for one in tried]


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"
