"""The laws of methods, each for one step on one table."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import polars as pl
from ruamel.yaml import YAML

from sfumato.data.codebook import Codebook
from sfumato.data.dataset import rows as rows_of
from sfumato.data.disclosure import Disclosure
from sfumato.data.hidden import HIDDEN
from sfumato.data.query import Query
from sfumato.draws import Draws
from sfumato.engines.duckdb import DuckDBDataset
from sfumato.engines.polars import PolarsDataset
from sfumato.engines.spill import Spill
from sfumato.errors import DataError, PlanError
from sfumato.methods.base import Method
from sfumato.plan.plan import Plan
from sfumato.release.run import Ran, run_steps
from sfumato.testing.broken import hold, same_rows

__all__ = ["StepLaws"]

SECRET, ANOTHER = bytes(range(16)), b"another secret, 24 bytes"
PLANTED = 987_654.321
_CHOICES = ("do", "columns", "column", "formula", "by", "map", "band", "labels", "clip", "preset", "method")
"""Parameters that another word or number does not fit."""


@dataclass(frozen=True)
class _Watching(PolarsDataset):
    """Remembers how often it was asked, and whether whole strata were needed."""

    seen: list[str] = field(default_factory=list)

    def ask_all(self, queries: Sequence[Query]) -> list[pl.DataFrame]:
        self.seen.append("asked" if queries else "")
        return [self.ask(query) for query in queries]

    def map(
        self,
        f: Callable[[pl.DataFrame], pl.DataFrame],
        by: Sequence[str] | None = None,
        codebook: Codebook | None = None,
    ) -> _Watching:
        if by is not None:
            self.seen.append("stratum")
        made = super().map(f, by, codebook)
        return replace(self, frame=made.frame, codebook=made.codebook)


@dataclass(frozen=True)
class StepLaws:
    """A step on a table, held to the laws of methods; what it makes of the table is made once.

    Parameters
    ----------
    step
        The step.
    data
        A table on which it can run, with a record's id.
    codebook
        Of that table.

    Examples
    --------
    >>> from sfumato.methods.noise import Noise
    >>> from sfumato.testing.tables import PEOPLE, people
    >>> StepLaws(Noise(columns=["x"], share=0.1), people(), PEOPLE).order_changes_nothing()
    """

    step: Method
    data: pl.DataFrame = field(repr=False)
    codebook: Codebook = field(repr=False)

    @cached_property
    def ran(self) -> Ran[PolarsDataset]:
        """The step, run plainly."""
        return self._run(self.data)

    @cached_property
    def released(self) -> pl.DataFrame:
        """What is left of the table, by id."""
        return self._by_id(rows_of(self.ran.after))

    def order_changes_nothing(self, seed: int = 1) -> None:
        """The release does not depend on the order of records."""
        shuffled = self.data.sample(fraction=1, shuffle=True, seed=seed)
        same_rows(self.released, self._released(shuffled), "with the records in another order")

    def partition_changes_nothing(self, rows: int = 7) -> None:
        """Nor on how many rows are worked on at once."""
        same_rows(self.released, self._released(self.data, rows), f"in parts of {rows} rows")

    def every_engine_gives_the_same(self, spill: Spill | None = None, part_rows: int = 23) -> None:
        """Nor on whether they are in memory: to the bit."""
        with contextlib.nullcontext(spill) if spill else contextlib.closing(Spill()) as opened:
            data = DuckDBDataset.of(self.data, self.codebook, opened, part_rows=part_rows)
            found = self._by_id(rows_of(run_steps([self.step], data, Draws(SECRET)).after))
        same_rows(self.released, found, "with rows that do not fit into memory", exactly=True)

    def ids_and_other_columns_survive(self) -> None:
        """What the step does not say that it changes stays, with the record that it is of."""
        id_name = self._id
        strata = self.step.strata if getattr(self.step, "on_small", None) in ("merge", "drop_variable") else ()
        changed = set(self.step.changes) - {id_name}
        kept = [n for n in self.data.columns if n not in changed and n not in strata]
        before, after = self._with_given_ids().sort(id_name), self.released
        hold(not after[id_name].is_duplicated().any(), "an id is in two records")
        still = before.filter(pl.col(id_name).is_in(after[id_name].implode()))
        same_rows(still.select(kept), after.select(kept), "what the step does not change")

    def reads_back_from_yaml_as_itself(self) -> None:
        """A plan that is written and read again is the same plan."""
        plan = Plan(title="t", steps=[self.step])
        again = Plan.from_yaml(plan.to_yaml())
        hold(again.steps[0].model_dump() == self.step.model_dump(), "a step that is read from YAML is another one")
        hold(again.digest == plan.digest, "a plan that is read from YAML has another digest")

    def any_parameter_changes_the_hash(self) -> None:
        """No parameter is without a trace in the plan's digest."""
        plan = Plan(title="t", steps=[self.step])
        plain = YAML(typ="safe").load(plan.to_yaml())["steps"][0]
        for name in plain.keys() - {*_CHOICES}:
            try:
                changed = Plan.model_validate({"title": "t", "steps": [{**plain, name: _other(plain[name])}]})
            except ValueError:
                continue
            hold(changed.digest != plan.digest, f"another {name!r} leaves the plan's digest as it is")

    def same_secret_same_release(self) -> None:
        """A release that is made again holds nothing new."""
        same_rows(self.released, self._released(self.data), "made again", exactly=True)

    def input_stays_and_nothing_hidden_leaves(self) -> None:
        """The table that was given is left alone, and no column of the step's own is in the release."""
        frame = self.data.clone()
        left = [name for name in self._released(frame).columns if name.startswith(HIDDEN)]
        hold(not left, f"released, though hidden: {', '.join(left)}")
        hold(frame.equals(self.data), "the input was changed")

    def another_secret_changes_only_draws(self) -> None:
        """Nothing that is told or counted hangs on the secret."""
        one, two = self.ran, self._run(self.data, ANOTHER)
        hold(_beside_draws(one.disclosure) == _beside_draws(two.disclosure), "another secret changes the disclosure")
        hold(one.after.codebook == two.after.codebook, "another secret changes the codebook")
        rows, others = rows_of(one.after), rows_of(two.after)
        hold(rows.schema == others.schema, "another secret changes the columns")
        if self.step.name != "sample":  # how many of a stratum stay is rounded by a draw
            hold(rows.height == others.height, "another secret changes the number of records")

    def disclosure_speaks_of_known_columns(self) -> None:
        """Of released columns or of ones that went; and it is read back from JSON as itself."""
        known = {*self.data.columns, *self.ran.after.columns}
        unknown = {name for part in self.ran.disclosure for name in part.columns} - known
        hold(not unknown, f"the disclosure speaks of columns that there never were: {', '.join(sorted(unknown))}")
        again = Disclosure.from_plain(json.loads(json.dumps(self.ran.disclosure.to_plain())))
        hold(again == self.ran.disclosure, "a disclosure that is read from JSON is another one")

    def no_value_is_in_a_sentence(self) -> None:
        """Numbers of the data that are no parameters never stand in what is published in words, or in a refusal."""
        numbers = [n for n, kind in self.data.schema.items() if kind == pl.Float64]
        planted = pl.int_range(pl.len()) == self.data.height // 3
        marked = self.data.with_columns(pl.when(planted).then(PLANTED).otherwise(n).alias(n) for n in numbers[:1])
        try:
            told = self._run(marked).disclosure.sentences()
        except DataError as error:  # one value that makes most of a variance is refused
            told = (str(error),)
        shown = [s for s in (*told, self.step.sentence()) if "987654" in s or "987,654" in s]
        hold(not shown, "a value of the data is in a sentence that is published")

    def it_asks_and_gathers_as_it_says(self) -> None:
        """So that `--dry-run` tells how often large data are gone through, and strata that are too large are told."""
        data = _Watching(self.data, self.codebook)
        run_steps([self.step], data, Draws(SECRET))
        whole, asked = "stratum" in data.seen, data.seen.count("asked")
        says = "`whole_strata` says otherwise"
        hold(whole == self.step.whole_strata, f"it {'needs' if whole else 'does not need'} whole strata: {says}")
        hold(asked <= 1 + self.step.later_passes <= self.step.passes, "it asks more often than `passes` says")

    def a_missing_column_is_refused(self) -> None:
        """Before data are touched."""
        needed = [n for n in (*self.step.changes, *self.step.strata) if n in self.codebook]
        if not needed:
            return
        with contextlib.suppress(PlanError):
            Plan(steps=[self.step]).check(self.codebook.without(needed[0]))
            raise AssertionError(f"a table without {needed[0]!r} is not refused")

    @property
    def _id(self) -> str:
        return next(name for name, variable in self.codebook.items() if variable.role == "record")

    def _run(self, frame: pl.DataFrame, secret: bytes = SECRET, rows: int | None = None) -> Ran[PolarsDataset]:
        return run_steps([self.step], PolarsDataset(frame, self.codebook, batch_rows=rows), Draws(secret))

    def _released(self, frame: pl.DataFrame, rows: int | None = None) -> pl.DataFrame:
        return self._by_id(rows_of(self._run(frame, rows=rows).after))

    def _by_id(self, frame: pl.DataFrame) -> pl.DataFrame:
        return frame.sort(self._id) if self._id in frame.columns else frame

    def _with_given_ids(self) -> pl.DataFrame:
        """The table with the ids that the step gives, which are those of its own table: rows keep their order."""
        given = self._id in self.step.changes
        return self.data.with_columns(rows_of(self.ran.after)[self._id]) if given else self.data


def _other(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, str):
        return "another" if value == "other" else "other"
    return 1


def _beside_draws(disclosure: Disclosure) -> list[dict[str, Any]]:
    """What is told, but for coarse figures of what was drawn."""
    drawn: list[frozenset[str]] = [getattr(part, "drawn", frozenset()) for part in disclosure.parts]
    parts = zip(disclosure.to_plain(), drawn, strict=True)
    return [{n: value for n, value in part.items() if n not in figures} for part, figures in parts]
