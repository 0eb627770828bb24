"""`decide`: one decision about one table, without a server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import ValidationError

from sfumato.data.codebook import Codebook
from sfumato.data.plain_errors import plain_errors
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import DataError
from sfumato.gate.decision import Decision, judge
from sfumato.gate.margin import Margin, parsed
from sfumato.gate.policy import Policy, of_criteria
from sfumato.gate.reading import read_levels, records_of
from sfumato.gate.records import Records

__all__ = ["Dependences", "decide", "margin_of", "opened", "refuse_unknown", "searching"]

Dependences = Literal["found", "declared"]
"""Which dependences between columns count as known: those that are found in the data too, or those declared alone."""


def decide(
    data: PolarsDataset,
    known: Sequence[str] = (),
    ask: str = "",
    interval: tuple[int, int] | None = None,
    *,
    attribution: Mapping[str, str] | None = None,
    dominance: str | Sequence[str] | None = None,
    policy: Policy | None = None,
    count: str | None = None,
    levels: str | PathLike[str] | Mapping[str, Any] | None = None,
    never: Sequence[Mapping[str, str]] = (),
    chance: Sequence[Sequence[str]] = (),
    dependences: Dependences = "found",
) -> Decision:
    """Decide whether somebody who knows some tables may be given another one.

    Parameters
    ----------
    data
        What `sf.read` gives: records, or a table of counts.
    known
        Tables that they know, each as its variables with commas between: `"A,B"`, `"region@county,C"`; sums as
        `"cost|A,B"`.
    ask
        The table that is asked for.
    interval
        Count and width: of every cell of the joint table with a true count of 1 to `count`, the most and the least that
        it can be lie `width` apart or farther. (4, 10) where no criterion is given.
    attribution
        Rule (`positive` or `any`) by sensitive variable.
    dominance
        Rules on shares for sums, `"p(10)"`; `p(10)` and `nk(2,90)` where none are given.
    policy
        Criteria, in place of `interval`, `attribution` and `dominance`.
    count
        The column of counts of a table; else every row is one person.
    levels
        A file with levels, or their mapping.
    never
        Combinations of codes that cannot be, each as code by variable.
    chance
        Columns that were found to hang on one another (`never`, `tells_together`), and do so by chance alone: each as a
        set of columns.
    dependences
        `found`: what columns of the data tell of one another counts as known. `declared`: `levels` and `never` alone,
        as in published figures; whoever guesses the rest can learn more than is proved.

    Returns
    -------
    Decision
        `.decision` is `granted` (proved safe), `refused`, or `undecided`: nothing was proved.

    Raises
    ------
    DataError
        Unknown names, codes without a group, a combination that occurs after all, `chance` where nothing was found or
        what was found is arithmetic.

    Examples
    --------
    >>> import polars as pl
    >>> import sfumato as sf
    >>> data = sf.read(pl.DataFrame({"A": [1, 1, 2], "B": [1, 2, 1], "n": [2, 3, 3]}))
    >>> decide(data, ["A"], "B", (2, 4), count="n").decision
    'refused'

    References
    ----------
    Dobra & Fienberg (2000), PNAS 97, 11885-11892.
    """
    records = opened(data, count=count, levels=levels, never=never, chance=chance, dependences=dependences)
    wanted = policy or _criteria(interval, attribution, dominance)
    refuse_unknown(wanted, records)
    return judge(records, [margin_of(one, records) for one in known], margin_of(ask, records), wanted)


def _criteria(
    interval: tuple[int, int] | None,
    attribution: Mapping[str, str] | None,
    dominance: str | Sequence[str] | None,
) -> Policy:
    try:
        return of_criteria(interval, attribution, dominance)
    except ValidationError as error:
        raise DataError("; ".join(sentence for _, sentence in plain_errors(error, None))) from None


def opened(
    data: PolarsDataset,
    *,
    count: str | None = None,
    levels: str | PathLike[str] | Mapping[str, Any] | None = None,
    never: Sequence[Mapping[str, str]] = (),
    record: str | None = None,
    chance: Sequence[Sequence[str]] = (),
    dependences: Dependences = "found",
) -> Records:
    """The records of a data set, coded, and searched for dependences between columns."""
    search = searching(dependences, chance)
    groups = None
    if levels is not None:
        groups = read_levels(levels if isinstance(levels, Mapping) else Path(levels), Path())
    book: Codebook = data.codebook
    return records_of(
        data.frame, book, count=count, record=record, levels=groups, never=never, chance=chance, search=search
    )


def searching(dependences: Dependences, chance: Sequence[Sequence[str]] = ()) -> bool:
    """Whether dependences are searched for.

    Raises
    ------
    DataError
        Another word; `chance` where nothing is searched for.
    """
    if dependences not in get_args(Dependences):
        raise DataError("`dependences` is `found` or `declared`.")
    if chance and dependences == "declared":
        raise DataError("`chance` is said of what is found: not beside dependences `declared`.")
    return dependences == "found"


def refuse_unknown(policy: Policy, records: Records) -> None:
    """Refuse a criterion about a variable that there is not: it would hold whatever is given.

    Raises
    ------
    DataError
        With the variable's name.
    """
    names = {*records.codes, *records.numbers}
    for variable in policy.attribution.variables if policy.attribution else ():
        if variable not in names:
            raise DataError(f"There is no variable {variable!r}, of which `attribution` speaks.")


def margin_of(text: str, records: Records, version: str | None = None) -> Margin:
    """A table as commands write it."""
    names = list(dict.fromkeys([*records.structure.variables, *records.numbers]))
    return parsed(text, names, records.structure.levels, version or records.versions[0])
