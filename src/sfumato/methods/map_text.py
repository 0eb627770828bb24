"""Replace texts by more general ones that the plan lists."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import polars as pl
from pydantic import Field, model_validator

from sfumato.data.codebook import Codebook
from sfumato.data.disclosure import Coarsened
from sfumato.data.query import Counts
from sfumato.errors import DataError
from sfumato.methods.base import Method, Stage, StepDraws
from sfumato.methods.checks import few_missing
from sfumato.methods.texts import (
    folded,
    general,
    label_problems,
    parts,
    phrase,
    refuse_no_text,
    replaced,
    text_problems,
    there,
)

__all__ = ["MapText"]

_INSTEAD = "recode replaces numbers, coarsen_date dates"


class MapText(Method):
    """Replace texts by more general ones: detailed medical expertise by a few broad fields.

    Protects against an intruder who knows a rare answer, by making more people share it. It cannot protect a rare
    combination with other columns, and a map that keeps a detail keeps what the detail gives away.

    Texts are compared without regard to capitals, to blanks and to other forms of the same letters (NFKC, case
    folding). A text that the plan does not list never passes.

    Parameters
    ----------
    columns
        The columns to replace, all alike.
    map
        General text for each whole text.
    words
        General text for texts that hold a word or a phrase, for those that `map` does not list; the first that is found
        holds.
    separator
        What stands between several values in a cell. Each is replaced; the different results are sorted and joined.
    default
        The text for values that are not listed (`unmapped: other`) and for rare results (`min_count`).
    unmapped
        What becomes of values that are not listed: they are refused (`error`), become `default` (`other`), or the cell
        becomes `missing`.
    min_count
        Results with fewer records than this become `default`; where all that became so are still fewer, they become
        missing.

    Examples
    --------
    >>> MapText(columns=["field"], map={"Cardiology": "internal medicine", "ENT": "surgery"}).sentence()
    'field: replaced by more general texts.'
    """

    coarsens: ClassVar[bool] = True

    do: Literal["map_text"] = "map_text"
    columns: tuple[str, ...] = Field(min_length=1)
    map: dict[str, str] = Field(default_factory=dict)
    words: dict[str, str] = Field(default_factory=dict)
    separator: str | None = Field(default=None, min_length=1)
    default: str = Field(default="other", min_length=1)
    unmapped: Literal["error", "other", "missing"] = "error"
    min_count: int | None = Field(default=None, ge=2)

    @model_validator(mode="after")
    def _sane(self) -> MapText:
        if not self.map and not self.words:
            raise ValueError("map_text needs `map` or `words`")
        for name, given in (("map", self.map), ("words", self.words)):
            seen: dict[str, str] = {}
            for old, new in given.items():
                if not folded(old) or not new.strip():
                    raise ValueError(f"`{name}` takes texts that are not empty")
                if seen.setdefault(folded(old), new) != new:
                    raise ValueError(f"two keys of `{name}` differ in capitals or blanks only and have two results")
        if self.separator is not None and not self.separator.strip():
            raise ValueError("`separator` is a sign such as ; and no blank")
        return self

    @model_validator(mode="after")
    def _nothing_idle(self) -> MapText:
        """The text for others, where nothing becomes it."""
        used = self.unmapped == "other" or self.min_count is not None
        self.refuse_idle({} if used else {"default": "`unmapped: other` or `min_count`"})
        return self

    @property
    def counts_records(self) -> bool:
        """Results need so many, where `min_count` asks for them."""
        return self.min_count is not None

    def check(self, codebook: Codebook) -> list[str]:
        """Texts are needed, and results that stand for nothing else."""
        labels = (*self.map.values(), *self.words.values(), self.default)
        return [
            *super().check(codebook),
            *text_problems(codebook, self.columns, _INSTEAD),
            *label_problems(codebook, self.columns, labels),
        ]

    def describe(self, codebook: Codebook, states: tuple[Any, ...] = ()) -> Codebook:
        """General texts are categories."""
        return codebook.replace(**{n: general(codebook[n]) for n in self.columns})

    def stage(self, codebook: Codebook, states: tuple[Any, ...]) -> Stage | None:
        """One pass, text by text, after a look at which there are."""

        def fit(answers: Sequence[pl.DataFrame]) -> dict[str, _Mapped]:
            found = {n: self._fitted(n, counts, codebook) for n, counts in zip(self.columns, answers, strict=True)}
            if self.unmapped == "error" and (open_ := [n for n, mapped in found.items() if mapped.unmapped]):
                raise DataError(
                    f"{', '.join(open_)}: there are texts that `map` and `words` of map_text do not list. Add them, or "
                    "say what becomes of others: `unmapped: other`, or missing."
                )
            return found

        def transform(batch: pl.DataFrame, state: dict[str, _Mapped], draws: StepDraws) -> pl.DataFrame:
            return batch.with_columns(replaced(n, batch.schema[n], codebook, state[n].new) for n in self.columns)

        return None if states else Stage(transform, tuple(Counts((n,)) for n in self.columns), fit)

    def _fitted(self, column: str, counts: pl.DataFrame, codebook: Codebook) -> _Mapped:
        """The new text of every text of a column, and how it went."""
        refuse_no_text(column, counts.schema[column], self.name, _INSTEAD)
        whole = {folded(old): new for old, new in self.map.items()}
        word = phrase(map(folded, self.words))
        found = {folded(old): new for old, new in self.words.items()}
        new: dict[str, str | None] = {}
        unmapped = changed = 0
        records: Counter[str] = Counter()
        rows = there(counts, column, codebook).rows()
        for text, count in rows:
            results = {whole.get(part) or found.get(word(part) or "") for part in parts(text, self.separator)}
            if None in results:
                unmapped += count
                results = {r or self.default for r in results} if self.unmapped == "other" else set()
            new[text] = self._joined(r for r in results if r is not None) if results else None
            changed += count * (new[text] != text)
            if (result := new[text]) is not None:
                records[result] += count
        rare = {result for result, count in records.items() if count < (self.min_count or 0)}
        merged = sum(records[result] for result in rare)
        stays = records[self.default] * (self.default not in rare)
        small = merged + stays < (self.min_count or 0)
        for text, result in new.items():
            if result in rare:
                new[text] = None if small else self.default
        missing = merged if small else 0
        gone = sum(count for text, count in rows if new[text] is None)
        return _Mapped(new, changed, unmapped, merged, missing, gone)

    def _joined(self, results: Any) -> str:
        return f"{self.separator} ".join(sorted(results))

    def disclose(self, states: tuple[Any, ...]) -> tuple[Coarsened, ...]:
        """That texts are more general, and the rule for rare ones."""
        rare = f"; of those with fewer than {self.min_count} records to {self.default!r}" if self.min_count else ""
        return (Coarsened(self.columns, f"to more general texts{rare}"),)

    def sentence(self) -> str:
        """What it does."""
        return f"{', '.join(self.columns)}: replaced by more general texts."

    def notes(self, states: tuple[Any, ...]) -> tuple[str, ...]:
        """How many records were changed, not listed, rare."""
        return tuple(
            f"{n}: {m.changed} records changed, {m.unmapped} with a text that is not listed, {m.rare} with a rare "
            f"result, of which {m.missing} are missing now."
            for n, m in states[0].items()
        )

    def warnings(self, states: tuple[Any, ...]) -> tuple[str, ...]:
        """Columns in which few records became missing."""
        fewest, mapped = self.min_count or 0, states[0].items()
        return few_missing([n for n, m in mapped if 0 < m.gone < fewest], "min_count")


@dataclass(frozen=True)
class _Mapped:
    """What becomes of the texts of a column, and how many records that concerns."""

    new: dict[str, str | None]
    changed: int
    unmapped: int
    rare: int
    missing: int
    gone: int
