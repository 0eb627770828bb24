"""What the editor of a step `recode` shows of one column."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from markupsafe import Markup

from sfumato.api.recoding import Branch, banded, branches, few, private, suits
from sfumato.errors import PlanError, SfumatoError
from sfumato.render.cuts import histogram_with_cuts
from sfumato.web.studio.recoding import Banding, Subject, Tree, banding, subject, tree
from sfumato.web.studio.studio import Studio

__all__ = ["Asked", "editor", "picked"]

_MOST_UNLISTED, _MOST_POINTS, _OPEN = 100, 100, 12


@dataclass(frozen=True)
class Asked:
    """What the address of the editor says.

    Parameters
    ----------
    step
        Position of the step; None for one that is to be added.
    column
        Which column.
    form
        `bands` or `categories`, where it is not the one that the step has or that suits the column.
    everything
        Show rare categories and values of identifiers.
    find
        What is looked for.
    """

    step: int | None
    column: str
    form: str = ""
    everything: bool = False
    find: str = ""

    def address(self, **other: str) -> str:
        """The page's address that says it, or something else."""
        where = {"add": "recode"} if self.step is None else {"step": str(self.step)}
        said = {"as": self.form, "all": "yes" if self.everything else "", "find": self.find} | other
        parts = {**where, "recode": self.column, **{key: word for key, word in said.items() if word}}
        return f"/protect?{urlencode(parts)}#{'adding' if self.step is None else f'step-{self.step}'}"

    @property
    def fields(self) -> dict[str, str]:
        """What forms of the editor send with them."""
        step = "" if self.step is None else str(self.step)
        return {
            "step": step,
            "recode": self.column,
            "as": self.form,
            "all": "yes" if self.everything else "",
            "find": self.find,
        }


def editor(studio: Studio, asked: Asked, focus: str = "") -> dict[str, Any]:
    """What the editor shows; where it cannot, a sentence.

    Parameters
    ----------
    studio
        Whose plan it is.
    asked
        What is looked at.
    focus
        What the keyboard goes to: the mark of a category; else the heading.
    """
    told: dict[str, Any] = {"asked": asked, "wrong": "", "form": "", "focus": focus, "of": None, "other_form": ""}
    try:
        of = subject(studio, asked.step, asked.column)
        suited = suits(of.data, asked.column)
        form = asked.form or _form(of) or suited
        if not form:
            return told | {"wrong": "Dates are made coarser by the step coarsen_date, not by this one."}
        numbers = of.data.frame.schema[of.column].is_numeric()
        other = {"bands": "categories", "categories": "bands" if numbers else ""}[form]
        told |= {"of": of, "form": form, "other_form": other, "masked": private(of.data.codebook[of.column])}
        return told | (_bands(banding(of), asked) if form == "bands" else _tree(tree(of), asked))
    except PlanError as error:
        return told | {"wrong": " ".join(f"{problem.message}." for problem in error.problems[:3]), "form": ""}
    except SfumatoError as error:
        return told | {"wrong": str(error), "form": ""}


def _form(of: Subject) -> str:
    """The editor of what the step has."""
    if of.method is None:
        return ""
    return "categories" if of.method.band is None else "bands"


def _bands(one: Banding, asked: Asked) -> dict[str, Any]:
    seen = banded(one.of.data, asked.column, one.points, one.labels, everything=asked.everything)
    bars = [(bar.low or 0.0, bar.high or 0.0, bar.records) for bar in seen.bars]
    title = f"{asked.column}, and where its bands begin"
    svg = Markup(histogram_with_cuts(bars, one.points, "cuts", title)) if bars else None  # drawn as XML, which escapes
    return {
        "banding": one,
        "seen": seen,
        "svg": svg,
        "too_many": len(one.points) > _MOST_POINTS,
        "hidden": any(bar.records is None for bar in (*seen.bars, *seen.bands)),
        "many": one.rule.n if one.rule is not None else max(len(one.points) + 1, 5),
    }


def _tree(one: Tree, asked: Asked) -> dict[str, Any]:
    masked = private(one.of.data.codebook[asked.column])
    root = branches(one.values, one.broader, everything=asked.everything, masked=masked, find=asked.find)
    unlisted = one.unlisted if not one.flat else ()
    shown = [v.text for v in unlisted if asked.everything or (v.records >= 5 and not masked)][:_MOST_UNLISTED]
    after = few(one.values, one.broader, one.level, listed=one.rest != "keep")
    method = one.of.method
    return {
        "tree": one,
        "root": root,
        "mark": mark,
        "opened": _OPEN,
        "hidden": _hides(root),
        "unlisted": shown,
        "unlisted_more": len(unlisted) - len(shown),
        "unlisted_all": len(unlisted),
        "after": after,
        "levels": [(n, few(one.values, one.broader, n, listed=True)[0]) for n in range(1, one.height + 1)],
        "free": sum(v.text not in one.broader for v in one.values) if one.flat else 0,
        "stray": len(set(one.broader) - {v.text for v in one.values}),
        "own": bool(one.of.data.codebook[asked.column].hierarchy) and (method is None or method.level is None),
    }


def _hides(branch: Branch) -> bool:
    return branch.others > 0 or branch.records is None or any(_hides(one) for one in branch.below)


def mark(level: int, name: str) -> str:
    """What a form sends for a category: names may hold what no form sends unchanged."""
    return f"{level}.{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:20]}"


def picked(one: Tree, marks: list[str], asked: Asked) -> list[tuple[int, str]]:
    """The categories that were chosen.

    Parameters
    ----------
    one
        The tree.
    marks
        Of categories; `o.` before the mark of a category, or alone, for its values that are not shown by name; `found`
        for all values that have what is looked for.
    asked
        What is shown.
    """
    every: dict[str, tuple[int, str]] = {}
    for value in dict.fromkeys([*(v.text for v in one.values), *one.broader]):
        for level, name in enumerate((value, *one.broader.get(value, ()))):
            every.setdefault(mark(level, name), (level, name))
    chosen = [every[word] for word in marks if word in every]
    masked = private(one.of.data.codebook[asked.column])
    if rest := [word for word in marks if word.startswith("o.")]:
        shown = branches(one.values, one.broader, everything=asked.everything, masked=masked, most=10**9)
        everything = branches(one.values, one.broader, everything=True, most=10**9)
        chosen += _unnamed(shown, everything, rest)
    if "found" in marks and asked.find:
        found = branches(
            one.values, one.broader, everything=asked.everything, masked=masked, find=asked.find, most=10**9
        )
        chosen += [(0, value.name) for value in _leaves(found)]
    return list(dict.fromkeys(chosen))


def _leaves(branch: Branch) -> Iterator[Branch]:
    for one in branch.below:
        yield from [one] if one.level == 0 else _leaves(one)


def _unnamed(shown: Branch, every: Branch, marks: list[str]) -> Iterator[tuple[int, str]]:
    """Values that are not shown by name, in the categories that are marked."""
    if "o." + ("" if shown.level < 0 else mark(shown.level, shown.name)) in marks:
        named = {one.name for one in shown.below if one.level == 0}
        yield from ((0, one.name) for one in every.below if one.level == 0 and one.name not in named)
    there: Mapping[tuple[int, str], Branch] = {(one.level, one.name): one for one in every.below}
    for one in shown.below:
        if one.level > 0:
            yield from _unnamed(one, there[one.level, one.name], marks)
