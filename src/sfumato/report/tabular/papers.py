"""What is told of a table of totals beside the table: to those who get it, or to the custodian alone."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from sfumato.tables.protect import Protected
from sfumato.tables.reader import Reader
from sfumato.tables.rules import leaves, read_rules
from sfumato.tables.table import COUNT, LOWER, Table

__all__ = [
    "Figure",
    "TablePapers",
    "papers_of_built",
    "papers_of_judged",
    "papers_of_protected",
    "title_of",
    "zeros_said",
]

Figure = str | int | float | bool | None


@dataclass(frozen=True)
class TablePapers:
    """What is told of a table. All of it is written beside the table, so what is confidential must not be in it, unless
    the papers are the custodian's.

    Parameters
    ----------
    title
        What the table is called.
    internal
        Whether the table is the custodian's: it shows what must not leave.
    sentences
        What whoever works with the table must know.
    method
        How it was protected, in a word.
    rules
        By what rules cells are unsafe: thresholds in full, of rules on shares the names alone; in internal papers in
        full.
    figures
        Figures of the protection, by name.
    audit
        What an attacker finds, by name.
    proof
        What is proved of the pattern of hidden cells, in a sentence.
    tolerance
        Largest difference of totals from their parts that is rounding; None where totals are exact.
    ok
        Whether the audit was passed.
    reader
        What its readers were taken to know of hidden cells; None where none are hidden.

    Examples
    --------
    >>> TablePapers("Firms by town", sentences=("Every value is rounded to a multiple of 5.",)).internal
    False
    """

    title: str
    internal: bool = False
    sentences: tuple[str, ...] = ()
    method: str | None = None
    rules: str | None = None
    figures: Mapping[str, Figure] = field(default_factory=dict)
    audit: Mapping[str, Figure] = field(default_factory=dict)
    proof: str | None = None
    tolerance: float | None = None
    ok: bool = True
    reader: Reader | None = None


CUSTODIANS = "This table is the custodian's: it shows what must not leave. It is no release."
_EMPTY = "A combination of codes that is not listed is empty, or was not asked for."
_HIDDEN = (
    "A hidden cell has no value. `lower` and `upper` are what everybody can work out of it from the other cells: its "
    "true value lies between them."
)
_WHOLE = "Ends of the intervals of counts are rounded inwards to whole numbers."
_LARGE = "Where `lower` and `upper` of a hidden cell are empty, they were not worked out: the table is large."
_UNIONS = (
    "A published total less its published parts is the sum of its hidden parts: these sums are as safe, by the same "
    "rules, as a cell is."
)
_OUTSIDERS = (
    "No reader was taken to be a contributor. One who is alone in hidden cells may work out others; and a published "
    "total less its published parts may tell a sum of hidden cells that a rule would call unsafe."
)
_NO_LEVELS = "It was only asked that no unsafe value can be worked out exactly, not how closely it can be bounded."
_EQUATIONS = (
    "The table is large: that a value cannot be worked out was proved by the equations alone. That values are 0 or "
    "more may tell more of some."
)
_KEYED = (
    "Which cells are hidden beside unsafe ones hangs on the custodian’s secret, so that nobody can run the search "
    "again and compare."
)
_PLAIN_COSTS = (
    "Which cells are hidden beside unsafe ones hangs on the values alone. Whoever runs the search again on every table "
    "that fits may drop some of them."
)
_AGAINST = (
    "The table was audited against whoever adds and subtracts what is published and knows which codes are parts of "
    "which. It is not protected against further tables of the same data that were not audited with it, nor against "
    "contributors who tell each other their values."
)
_FORCED = (
    "The audit was not passed: hidden cells can be worked out. The table left all the same, by the custodian's "
    "decision."
)


def papers_of_built(table: Table) -> TablePapers:
    """The papers of a table that was built, and is not protected: the custodian's.

    Examples
    --------
    >>> import polars as pl
    >>> papers_of_built(Table.of(pl.DataFrame({"town": ["a", "b"], "count": [3, 4]}))).title
    'Counts by town'
    """
    said = (CUSTODIANS, "Its cells were neither judged nor protected.", _EMPTY)
    return TablePapers(title_of(table), True, said, figures={"cells": len(table)})


def papers_of_judged(done: Protected) -> TablePapers:
    """The custodian's papers of a table that was judged and protected: rules and figures in full."""
    told = done.to_plain()
    figures = {name: told[name] for name in ("cells", "primary", "secondary", "secondary_value", "optimal", "gap")}
    return TablePapers(
        title_of(done.judged),
        True,
        (CUSTODIANS, _EMPTY, *done.notes),
        method=done.suppression.method,
        rules=None if done.rule is None else done.rule.text,
        figures=figures,
        audit=done.audit.summary(),
        proof=_proof(done),
        tolerance=done.tolerance,
        ok=done.ok,
        reader=done.reader,
    )


def papers_of_protected(done: Protected) -> TablePapers:
    """The papers of a protected table as it is handed out.

    Left out are the parameters of rules on shares, which bound contributions to published cells; the sum of the values
    that were hidden besides, which is one more equation of hidden values; how good the pattern is, for whoever would
    look for it again; which of the hidden cells, or how many, could be published again; and, unless the table has two
    letters, how many of them are unsafe.
    """
    hidden = done.table.column(done.table.value)
    gone = 0 if hidden is None else int(sum(math.isnan(x) for x in hidden))
    figures: dict[str, Figure] = {"cells": done.cells, "hidden": gone}
    if done.reader.letters:
        figures |= {"primary": done.primary, "secondary": done.secondary}
    audit: dict[str, Figure] = {"method": done.audit.method}
    if done.reader.letters or not done.audit.exact:  # how many of the cells that are told are unsafe is not told
        audit["exact"] = done.audit.exact
    if done.audit.below_level == 0 and done.levels is not None:
        audit["below_level"] = 0
    said = [_HIDDEN, *_of_rules(done), _EMPTY, *_of_reader(done), *_of_unions(done), _AGAINST, _costs_said(done)]
    if done.levels is None:
        said.append(_NO_LEVELS)
        if done.audit.levels is not None and done.audit.levels.unproved:
            said.append(_EQUATIONS)
    if not done.reader.letters:
        said.append("Which of the hidden cells are the unsafe ones is not told: all have status x.")
    if not done.ok:
        said.insert(0, _FORCED)
    if done.tolerance:
        said.append(
            f"Totals may differ from the sums of their parts by up to {done.tolerance:g}: values are rounded, "
            "and the intervals of hidden cells are no more exact than that."
        )
    return TablePapers(
        title_of(done.table),
        False,
        tuple(said),
        method="suppression",
        rules=None if done.rule is None else done.rule.public,
        figures=figures,
        audit=audit,
        tolerance=done.tolerance,
        ok=done.ok,
        reader=done.reader,
    )


def _of_reader(done: Protected) -> list[str]:
    """What readers were taken to know; the audit's own notes are the custodian's: they may say what to try."""
    reader, least = done.reader, done.reader.least
    known = [f"that hidden values are {least:g} or more"] if math.isfinite(least) else []
    if reader.whole:
        known.append("that they are whole numbers")
    if reader.letters and reader.threshold is not None:
        known.append(f"that those with status x are {reader.threshold} or more")
        known += [f"that those with status u are below {reader.threshold}"] if reader.below else []
    if reader.contributor:
        known.append("the value of every cell in which they are the only contributor")
    out = [f"What readers were taken to know of hidden cells: {'; '.join(known) or 'nothing'}."]
    if reader.whole:
        out.append(_WHOLE)
    if done.audit.lower and _open(done):
        out.append(_LARGE)
    return out


def _open(done: Protected) -> bool:
    """Whether an interval of a hidden cell was not worked out."""
    low, value = done.table.column(LOWER), done.table.values
    return low is None or any(math.isnan(x) and math.isnan(y) for x, y in zip(low, value, strict=True))


def _of_unions(done: Protected) -> list[str]:
    """What holds of sums of hidden cells, and of contributors: only what was enforced, and is so."""
    if done.reader.contributor and done.unions is not None and not done.unions["unsafe"]:
        return [_UNIONS]
    return [_OUTSIDERS] if done.audit.insider is not None and not done.reader.contributor else []


def _costs_said(done: Protected) -> str:
    return _KEYED if done.keyed else _PLAIN_COSTS


def title_of(table: Table) -> str:
    """A title from the names of the value and the variables.

    Examples
    --------
    >>> import polars as pl
    >>> title_of(Table.of(pl.DataFrame({"town": ["a"], "kind": ["x"], "turnover": [3]}), "turnover"))
    'turnover by town and kind'
    """
    *first, last = table.variables
    names = f"{', '.join(first)} and {last}" if first else last
    return f"{'Counts' if table.value == COUNT else table.value} by {names}"


def zeros_said(complete: bool) -> str:
    """What zeros of a table whose values were changed stand for, and cells that are not listed.

    Examples
    --------
    >>> zeros_said(complete=True)
    'A published 0 need not be empty, and an empty cell is a published 0.'
    """
    if complete:
        return "A published 0 need not be empty, and an empty cell is a published 0."
    return "A published 0 need not be empty. Cells that are not listed are empty, or were not asked for."


def _proof(done: Protected) -> str:
    found = done.suppression
    if found.optimal:
        return "It is proved that no cheaper set of cells would protect as much."
    if found.gap is not None:
        return f"It is proved that no other set of cells is cheaper by more than {math.ceil(100 * found.gap)}%."
    return "It was not proved that no cheaper set of cells would protect as much."


_RULES = {
    "zero": "Zeros may be unsafe.",
    "p": "A cell is unsafe where somebody could estimate its largest contribution too closely (p% rule).",
    "pq": "A cell is unsafe where somebody could estimate its largest contribution too closely (pq rule).",
    "nk": "A cell is unsafe where few contributors make nearly all of it (dominance rule).",
    "attribute": "A cell is unsafe where everybody in a row or column is in one of its cells.",
    "coalition": "A cell is unsafe where all but a few of a row or column are in it.",
}


def _of_rules(done: Protected) -> list[str]:
    """The rules in sentences; parameters of those on shares are nobody's but the custodian's."""
    if done.rule is None:
        return []
    out = []
    for rule in leaves(read_rules(done.rule)):
        if rule.name == "n":
            out.append(f"A cell is unsafe that fewer than {rule.numbers[0]:g} contribute to.")
        else:
            out.append(_RULES[rule.name])
    return [*dict.fromkeys(out), f"Rules: {done.rule.public}."]
