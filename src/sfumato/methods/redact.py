"""Take personal data that have a form out of texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import polars as pl
from pydantic import Field, model_validator

from sfumato.data.codebook import Codebook
from sfumato.data.disclosure import Coarsened
from sfumato.data.entities import KINDS, Entity, found
from sfumato.data.presidio import KINDS_OF_PRESIDIO, found_more, need_presidio
from sfumato.data.publishable import Publishable
from sfumato.data.query import Counts
from sfumato.methods.base import Method, Stage, StepDraws
from sfumato.methods.texts import refuse_no_text, text_problems, there

__all__ = ["Redact"]

_INSTEAD = "drop leaves numbers out, pseudonymise replaces ids"

NAMES_ARE_LEFT = Publishable(
    "redact: it finds what has a form, not names of people and places.", "Read what is left before release."
)
"""What is said to the custodian of every run."""


class Redact(Method):
    """Replace e-mail addresses, telephone numbers, postcodes and the like within texts by a word for each.

    Protects against looking a person up by what has a form: addresses, numbers of accounts and of the health service.
    It does not find names of people, places or employers, nor what a story tells, so that a column that is an
    identifier stays one: drop it, or read all of it and say `role: other`.

    Parameters
    ----------
    columns
        The columns of texts.
    entities
        What is looked for: `email`, `url`, `ip`, `phone`, `postcode`, `nhs_number`, `ni_number`, `iban`, `card` and
        `date`, with `presidio` also `wallet`, `mac` and `vehicle`; all of them where nothing is said.
    engine
        `pattern`: sfumato's own patterns. `presidio`: the recognisers of Presidio as well (extra `pii`), without a
        model of language, so that it finds no names either.
    replace
        By entity, the text that takes its place; else its name in brackets, such as [phone].

    Examples
    --------
    >>> Redact(columns=["notes"]).word("phone"), Redact(columns=["notes"], replace={"phone": "***"}).word("phone")
    ('[phone]', '***')
    """

    coarsens: ClassVar[bool] = True

    do: Literal["redact"] = "redact"
    columns: tuple[str, ...] = Field(min_length=1)
    entities: tuple[str, ...] | None = Field(default=None, min_length=1)
    engine: Literal["pattern", "presidio"] = "pattern"
    replace: dict[str, str] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _known(self) -> Redact:
        known = KINDS if self.engine == "pattern" else KINDS_OF_PRESIDIO
        if unknown := [kind for kind in self.kinds if kind not in known]:
            raise ValueError(f"there is no entity {', '.join(unknown)}; entities: {', '.join(known)}")
        if unasked := [kind for kind in self.replace if kind not in self.kinds]:
            raise ValueError(f"`replace` names {', '.join(unasked)}, not among `entities`")
        return self

    @property
    def kinds(self) -> tuple[str, ...]:
        """What is looked for."""
        return self.entities or (KINDS if self.engine == "pattern" else KINDS_OF_PRESIDIO)

    def word(self, kind: str) -> str:
        """What takes the place of an entity."""
        return self.replace.get(kind, f"[{kind.replace('_', ' ')}]")

    def check(self, codebook: Codebook) -> list[str]:
        """Texts are needed, and the extra where its engine is asked for."""
        if self.engine == "presidio":
            need_presidio()
        return [*super().check(codebook), *text_problems(codebook, self.columns, _INSTEAD)]

    def describe(self, codebook: Codebook, states: tuple[Any, ...] = ()) -> Codebook:
        """Labels, orders and hierarchies were those of the texts as they stood; the role stays."""
        gone: dict[str, Any] = {"labels": {}, "order": (), "hierarchy": {}}
        return codebook.replace(**{n: codebook[n].model_copy(update=gone) for n in self.columns})

    def stage(self, codebook: Codebook, states: tuple[Any, ...]) -> Stage | None:
        """One pass, text by text, after a look at which there are."""

        def fit(answers: Sequence[pl.DataFrame]) -> dict[str, _Redacted]:
            return {n: self._fitted(n, counts, codebook) for n, counts in zip(self.columns, answers, strict=True)}

        def transform(batch: pl.DataFrame, state: dict[str, _Redacted], draws: StepDraws) -> pl.DataFrame:
            return batch.with_columns(
                pl.col(n).cast(pl.String).replace(list(state[n].new), list(state[n].new.values())).alias(n)
                for n in self.columns
            )

        return None if states else Stage(transform, tuple(Counts((n,)) for n in self.columns), fit)

    def _fitted(self, column: str, counts: pl.DataFrame, codebook: Codebook) -> _Redacted:
        refuse_no_text(column, counts.schema[column], self.name, _INSTEAD)
        texts = there(counts, column, codebook)
        records = dict(texts.rows())
        spans = self._finder()(texts[column])
        replaced: Counter[str] = Counter()
        for text, entities in spans.items():
            for entity in entities:
                replaced[entity.kind] += records[text]
        new = {text: self._without(text, entities) for text, entities in spans.items()}
        return _Redacted(new, dict(replaced), sum(records[text] for text in new))

    def _finder(self) -> Callable[[pl.Series], Mapping[str, Sequence[Entity]]]:
        look = found if self.engine == "pattern" else found_more
        return lambda texts: look(texts, self.kinds)

    def _without(self, text: str, entities: Sequence[Entity]) -> str:
        """A text with a word in the place of each find."""
        kept, at = [], 0
        for entity in entities:
            kept += [text[at : entity.start], self.word(entity.kind)]
            at = entity.end
        return "".join((*kept, text[at:]))

    def disclose(self, states: tuple[Any, ...]) -> tuple[Coarsened, ...]:
        """What was looked for."""
        words = ", ".join(kind.replace("_", " ") for kind in self.kinds)
        return (Coarsened(self.columns, f"so that what has the form of these is replaced by a word: {words}"),)

    def notes(self, states: tuple[Any, ...]) -> tuple[str, ...]:
        """How many of each entity were replaced."""
        told = []
        for n, redacted in states[0].items():
            kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(redacted.replaced.items()))
            told.append(f"{n}: {redacted.records} records changed{f' ({kinds})' if kinds else ''}.")
        return tuple(told)

    def warnings(self, states: tuple[Any, ...]) -> tuple[str, ...]:
        """What it does not find."""
        return (NAMES_ARE_LEFT,)


@dataclass(frozen=True)
class _Redacted:
    """The new text of each text that held something, and how much of what was replaced."""

    new: dict[str, str]
    replaced: dict[str, int]
    records: int
