"""Whole numbers that are no amounts by the look of them, and steps that would treat them as such."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.kinds import Columns
from sfumato.data.profile import seeming_kind
from sfumato.methods.base import Method

__all__ = ["no_amounts"]


def no_amounts(
    steps: Sequence[Method], variables: Mapping[str, Variable], frame: Columns, known: Codebook
) -> Iterator[tuple[str, str]]:
    """Columns that a step would mask or smooth as amounts, and that `init` would draft as dates or codes.

    Nothing is said of a column whose kind the plan or the file states, nor of one that an earlier step changed.

    Parameters
    ----------
    steps, variables
        Of the plan.
    frame
        The table.
    known
        What its file says.

    Yields
    ------
    tuple of str
        The column, and the problem with what to write.

    Examples
    --------
    >>> import polars as pl
    >>> from sfumato.methods.noise import Noise
    >>> born = pl.DataFrame({"born": [19581231 - 10000 * i for i in range(30)]})
    >>> next(no_amounts([Noise(columns=["born"], sd=1)], {}, born, Codebook()))[0]
    'born'
    """
    changed: set[str] = set()
    for number, step in enumerate(steps, 1):
        for n in (n for n in step.amounts if n in frame.columns and n not in changed):
            said, of_file = variables.get(n, Variable()), known[n] if n in known else Variable()
            column = frame.get_column(n)
            if said.kind or of_file.kind or of_file.measure == "scale" or not column.dtype.is_integer():
                continue
            seems = seeming_kind(column, of_file.model_copy(update={"missing": said.missing or of_file.missing}))
            if seems is None:
                continue
            kind, why = seems
            yield (
                n,
                f"step {number} ({step.name}) takes the whole numbers of {n!r} for amounts, and they look like {kind} "
                f"({why}). Say what they are under variables: {n}: {{kind: {kind}}}, or {n}: {{kind: integer}} if they "
                f"are amounts",
            )
        changed |= set(step.changes)
