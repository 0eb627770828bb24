"""Measures for the terminal: what a limit may name, and what is said of each."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, get_args

from sfumato.measures.measure import FAMILIES, Figure, Need
from sfumato.measures.registry import figures, measure_of, measures
from sfumato.measures.subject import KEYS, STRATA
from sfumato.render.text import plain_text

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["facts", "show_measure", "show_measures"]

_WIDEST = 26
"""Names in the list of measures are given so much room; longer ones widen their own part of it."""
_FORM: Mapping[str, str] = MappingProxyType(
    {"share": "a share, 0 to 1", "count": "a count of records or values", "number": "a number"}
)
_BETTER: Mapping[str, str] = MappingProxyType(
    {"low": "lower", "high": "higher", "near": "near its baseline", "change": "near 0"}
)
_PUBLISHED: Mapping[str, str] = MappingProxyType(
    {
        "rate": "with three significant digits",
        "hundredth": "with two decimals",
        "ladder": "as “at least 2, 3, 5, 10, 20, 50, …”",
        "change": "as the change from the original to the release",
        "mean": "its mean over three or more, with three significant digits",
        "no": "not at all",
    }
)
_NEEDS: Mapping[str, str] = MappingProxyType(
    {
        "table": "a table",
        "pair": "the table before and after",
        "input": "the table as it was read",
        "columns": "numbers that were masked",
        KEYS: "released keys",
        STRATA: "strata of masking steps",
        "sensitive": "categories that nobody must learn",
        "disclosure": "what the release discloses",
        "suppression": "a run of steps",
        "cells": "a plan that takes single values out of keys",
        "model": "a model",
        "earlier": "an earlier release, with true values",
        "intruder": "keys that an intruder knows, beside the release",
        "control": "people who are not in the release",
        "guesses": "what nobody must learn, and people who are not in the release or values drawn within groups",
        "outsider": "columns that leave, with true values of some of them",
        "leaving": "the same release without one person",
    }
)
_BASELINES: Mapping[str, str] = MappingProxyType(
    {"Original": "the original table", "Without protection": "the unprotected table"}
)


def facts(said: Figure) -> dict[str, str]:
    """What kind of figure it is, beside what it stands, what it needs and how it is published, in words.

    Examples
    --------
    >>> from sfumato.measures.registry import figure
    >>> facts(figure("k_anonymity"))["Needs"]
    'a table; released keys, or strata of masking steps'
    """
    measure = measure_of(said.name)
    needs = [need for need in get_args(Need) if measure is not None and need in measure.needs]
    text = "; ".join(_NEEDS[need] for need in needs)
    baseline = said.baseline or "none"
    return {
        "Figure": f"{_FORM[said.form]}; better when {_BETTER[said.better]}",
        "Baseline": _BASELINES.get(baseline) or baseline[:1].lower() + baseline[1:],
        "Needs": text.replace(f"{_NEEDS[KEYS]}; {_NEEDS[STRATA]}", f"{_NEEDS[KEYS]}, or {_NEEDS[STRATA]}"),
        "Published": _PUBLISHED[said.published],
    }


def show_measures(console: Console) -> None:
    """Print a line for each figure, under the headings of reports.

    Parameters
    ----------
    console
        Where to.

    Examples
    --------
    >>> import io
    >>> from rich.console import Console
    >>> out = Console(file=io.StringIO(), width=80)
    >>> show_measures(out)
    >>> "Risk: groups of people alike" in out.file.getvalue()
    True
    """
    from rich.table import Table

    width = max(len(name) for name in figures() if len(name) <= _WIDEST) + 2
    room = console.width - width - len("better when higher") - 4
    titles = max(1, min(room, max(len(said.title) for said in figures().values())))
    for family, heading in FAMILIES.items():
        inside = [said for measure in measures().values() if measure.family == family for said in measure.figures]
        if not inside:
            continue
        console.print()
        console.print(plain_text(heading, style="bold"))
        for said in inside:
            long = len(said.name) > _WIDEST
            if long:  # on a line of its own, so that one name does not leave the titles of all without room
                console.print(plain_text(f"  {said.name}"))
            table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
            table.add_column(min_width=width)
            table.add_column(width=titles)
            better = plain_text(f"better when {_BETTER[said.better]}", style="dim")
            table.add_row(plain_text("" if long else f"  {said.name}"), plain_text(said.title), better)
            console.print(table)
    console.print()


def show_measure(said: Figure, console: Console) -> None:
    """Print what a figure says, and what is to be known of it.

    Parameters
    ----------
    said
        The figure.
    console
        Where to.

    Examples
    --------
    >>> import sys
    >>> from rich.console import Console
    >>> from sfumato.measures.registry import figure
    >>> show_measure(figure("sd"), Console(file=sys.stdout, width=60))  # doctest: +NORMALIZE_WHITESPACE
    <BLANKLINE>
    sd
    <BLANKLINE>
    Standard deviation. The spread of each column.
    <BLANKLINE>
      Figure     a number; better when near its baseline
      Baseline   the original table
      Needs      the table before and after
      Published  as the change from the original to the release
    <BLANKLINE>
    """
    from rich.table import Table

    table = Table(box=None, show_header=False, padding=(0, 1), pad_edge=False)
    for name, text in facts(said).items():
        table.add_row(plain_text(f"  {name}", style="dim"), plain_text(text))
    console.print()
    console.print(plain_text(said.name, style="bold"))
    console.print()
    console.print(plain_text(f"{said.title}. {said.what}"))
    console.print()
    console.print(table)
    console.print()
