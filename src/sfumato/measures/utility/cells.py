"""Cells that were emptied, and gaps that were filled in, record by record."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from sfumato.data.aim import Aim
from sfumato.data.codebook import Codebook
from sfumato.data.finding import Finding, Findings
from sfumato.data.hidden import DELETED, FILLED, GAP
from sfumato.data.query import COUNT, Counts, Folded
from sfumato.measures.folds.asking import Asking, Question, at_once
from sfumato.measures.folds.input import columns_released, released, schema_of
from sfumato.measures.measure import Figure, Measure
from sfumato.measures.saying import capital, percent, value_of, with_value
from sfumato.measures.subject import Subject

__all__ = ["MEASURE"]

_FIGURES = ("cells_deleted", "cells_filled")


def _asks(subject: Subject) -> Asking:
    """Of all released records, wherever they are; of tables of which nobody noted gaps nothing is told."""
    if not subject.noted or not (columns := columns_released(subject)):
        return Findings()
    after = released(subject)
    there = schema_of(after)
    noted = [name for name in columns if f"{GAP}{name}" in there]
    counting = [Question(after, _counting(noted, after.codebook, there))] if noted else []
    rows, *happened = yield [Question(after, Counts(())), *counting]
    n = int(rows.item(0, COUNT))
    counts = {noted[i]: (deleted, filled) for told in happened for i, deleted, filled in told.iter_rows()}
    lines = []
    for place, figure in enumerate(_FIGURES):
        each = [counts.get(name, (0, 0))[place] for name in columns]
        lines.append(Finding(figure, value=_share(sum(each), n * len(columns))))
        lines += [Finding(figure, variable=name, value=_share(k, n)) for name, k in zip(columns, each, strict=True)]
    return Findings(tuple(lines))


def _counting(noted: Sequence[str], book: Codebook, schema: pl.Schema) -> Folded:
    """How many cells of each column were emptied, and filled in: since gaps were noted, and until then."""
    looked_at = [x for n in noted for x in (n, f"{GAP}{n}", f"{DELETED}{n}", f"{FILLED}{n}") if x in schema]

    def f(batch: pl.DataFrame) -> pl.DataFrame:
        sums = batch.select(x for n in noted for x in _happened(n, book.missing(n, batch.schema[n]), schema)).row(0)
        return pl.DataFrame(
            {"column": range(len(noted)), "deleted": sums[::2], "filled": sums[1::2]},
            schema=dict.fromkeys(("column", "deleted", "filled"), pl.Int64),
        )

    def merge(frames: pl.DataFrame) -> pl.DataFrame:
        return frames.group_by("column").agg(pl.all().sum()).sort("column")

    return Folded(tuple(looked_at), f, merge)


def _happened(name: str, gap: pl.Expr, schema: pl.Schema) -> Iterator[pl.Expr]:
    was = pl.col(f"{GAP}{name}")
    for column, happened in ((f"{DELETED}{name}", gap & ~was), (f"{FILLED}{name}", was & ~gap)):
        now = happened.sum().cast(pl.Int64)
        yield (now + pl.col(column).cast(pl.Int64).sum() if column in schema else now).alias(column)


def _share(count: int, of: int) -> float:
    return min(count / of, 1.0) if of else 0.0


def _compute(subject: Subject) -> Findings:
    return at_once(_asks(subject))


def _say(findings: Findings, fraction: float) -> str | None:
    whole = [line for name in _FIGURES for line in with_value(findings, name) if line.variable is None]
    if not whole:
        return None
    if not any(map(value_of, whole)):
        return "No cell deleted or filled in."
    words = ("deleted", "filled in")
    return capital(f"{'; '.join(_told(findings, line, word) for line, word in zip(whole, words, strict=False))}.")


def _told(findings: Findings, line: Finding, word: str) -> str:
    """How many of the cells, and of which column most."""
    if not value_of(line):
        return f"none {word}"
    most = max((f for f in findings.select(line.measure) if f.variable is not None), key=value_of, default=line)
    of = "" if most is line else f" (most of `{most.variable}`: {percent(value_of(most))})"
    return f"{percent(value_of(line))} of the cells {word}{of}"


MEASURE = Measure(
    family="lost",
    place=20,
    doing="deleted and filled cells",
    needs=frozenset({"input"}),
    figures=(
        Figure(
            "cells_deleted",
            title="Cells deleted",
            what="The share of the cells of released records and columns that held a value in the input and hold none "
            "now. Gaps that moved when values were exchanged or drawn are no part.",
            form="share",
            published="rate",
            whole="all cells",
            aim=Aim.GENTLER,
            detail=True,
        ),
        Figure(
            "cells_filled",
            title="Cells filled in",
            what="The share of the cells of released records and columns that held no value in the input and hold one "
            "now, as `impute` makes them. Gaps that moved when values were exchanged or drawn are no part.",
            form="share",
            published="rate",
            whole="all cells",
            aim=Aim.GENTLER,
            detail=True,
        ),
    ),
    compute=_compute,
    forms={"folded": _asks},
    say=_say,
)
