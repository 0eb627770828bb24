"""Bring a table to k-anonymity and its kin with the least loss: broader categories, and few records left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.data.disclosure import Disclosed, Suppressed
from sfumato.data.query import Counts
from sfumato.data.roles import Kind
from sfumato.data.suppression import Suppression
from sfumato.errors import EmptyRelease
from sfumato.kernels.lattice.search import optimal
from sfumato.methods.anonymise.coding import Coded, coded, in_texts
from sfumato.methods.anonymise.parameters import AnonymiseParameters
from sfumato.methods.base import HIDDEN, Stage, StepDraws
from sfumato.methods.generalising import coarsened, described, generalised

__all__ = ["Anonymise", "Anonymised"]

_GONE = f"{HIDDEN}gone"

NONE_MEETS = (
    "No levels of the keys meet what is asked ({asked}) with at most the share {limit:g} of the records left out "
    "(suppression_limit){time}. Allow a larger share, ask for less, or leave out a key: it is then to be dropped."
)
NOT_PROVEN = (
    "anonymise stopped at its time limit: what it found meets all that is asked, but something better may exist. Allow "
    "more time (time_limit)."
)


@dataclass(frozen=True)
class Anonymised:
    """What was found, and how it is applied. Confidential.

    Parameters
    ----------
    levels
        Level of each key.
    heights
        The top level, `*`, of each key.
    score
        The loss.
    suppressed
        Records that are left out.
    optimal
        Whether nothing loses less.
    bound
        What everything loses at least.
    maps
        Of each key whose level is not 0, the category of each value.
    gone
        The classes that are left out, a column for each key.
    told
        What is disclosed of the keys.
    secret
        The variables that criteria speak of.
    """

    levels: dict[str, int]
    heights: dict[str, int]
    score: float
    suppressed: int
    optimal: bool
    bound: float
    maps: dict[str, dict[str, str]] = field(repr=False)
    gone: pl.DataFrame = field(repr=False)
    told: tuple[Disclosed, ...] = field(repr=False)
    secret: tuple[str, ...] = ()


class Anonymise(AnonymiseParameters):
    """Recode keys to levels of their hierarchies, the same for all records, and leave out the classes that still fail.

    Protects against an intruder who knows the keys of a person: at least `k` records are alike, and with `l`, `t`,
    `alpha`, `beta` or `delta` they differ in what must not be learned. It says nothing of an intruder who knows more
    than the keys, and does not hide who is in the data. Of all choices of levels the one with the least loss is taken
    that leaves out no more than `suppression_limit`; it is found by a search that proves it.

    References
    ----------
    Sweeney (2002), doi:10.1142/S0218488502001648; Machanavajjhala et al. (2007), doi:10.1145/1217299.1217302; Li, Li
    and Venkatasubramanian (2007), doi:10.1109/ICDE.2007.367856. Search: Kohlmayer et al. (2012),
    doi:10.1109/SocialCom-PASSAT.2012.52.

    Examples
    --------
    >>> step = Anonymise(keys=("age", "sex"), k=5)
    >>> step.suppression_limit, step.changes
    (0.05, ('age', 'sex'))
    """

    do: Literal["anonymise"] = "anonymise"

    def describe(self, codebook: Codebook, states: tuple[Any, ...] = ()) -> Codebook:
        """Keys become texts, but for those that stay on level 0; before the run none is known to."""
        if not states:
            coarse = {n: codebook[n].model_copy(update={"kind": Kind.CATEGORICAL}) for n in self.keys}
            return codebook.replace(**coarse)
        return codebook.replace(**states[0].described)

    def stage(self, codebook: Codebook, states: tuple[Any, ...]) -> Stage | None:
        """One look at the counts of all patterns, one pass over the records."""
        if states:
            return None
        secret = self.secret(codebook)

        def fit(answers: Sequence[pl.DataFrame]) -> _State:
            seen = coded(answers[0], codebook, self.keys, secret)
            return self._state(codebook, seen)

        return Stage(transform=_apply, queries=(Counts((*self.keys, *secret)),), fit=fit)

    def _state(self, codebook: Codebook, seen: Coded) -> _State:
        found = self.search(codebook, seen)
        book = {
            key.name: described(codebook[key.name], key.hierarchy, found.levels[key.name]) for key in seen.keys
        }
        return _State(found, book, codebook)

    def search(self, codebook: Codebook, seen: Coded) -> Anonymised:
        """Find the levels.

        Raises
        ------
        EmptyRelease
            Where none meet what is asked.
        """
        secret = self.secret(codebook)
        hierarchies = seen.levels
        found = optimal(
            seen.patterns,
            hierarchies,
            self.criteria(codebook, seen.values),
            limit=self.suppression_limit,
            loss=self.loss,
            weights=self.weights if self.attribute_weights else None,
            time_limit=self.time_limit,
        )
        if found is None:
            time = "" if self.time_limit is None else ", or none was found in the time given"
            raise EmptyRelease(NONE_MEETS.format(asked=self.said(secret), limit=self.suppression_limit, time=time))
        levels = dict(zip(self.keys, found.levels, strict=True))
        return Anonymised(
            levels=levels,
            heights={key.name: key.hierarchy.height for key in seen.keys},
            score=found.score,
            suppressed=found.suppressed,
            optimal=found.optimal,
            bound=found.bound,
            maps={key.name: key.hierarchy.level(levels[key.name]) for key in seen.keys if levels[key.name]},
            gone=_gone(seen, levels, found.kept),
            told=self._told(codebook, seen, levels, secret),
            secret=secret,
        )

    def _told(
        self, codebook: Codebook, seen: Coded, levels: dict[str, int], secret: Sequence[str]
    ) -> tuple[Disclosed, ...]:
        parts: list[Disclosed] = []
        for key in seen.keys:
            parts += coarsened(key.name, codebook[key.name], key.hierarchy, levels[key.name])
        if self.suppression_limit > 0:
            rule = f"records in classes that do not meet {self.said(secret)} were left out"
            parts.append(Suppressed(columns=self.keys, rule=rule))
        return tuple(parts)

    def disclose(self, states: tuple[Any, ...]) -> tuple[Disclosed, ...]:
        """The level of each key, and the rule by which records were left out."""
        found: tuple[Disclosed, ...] = states[0].found.told
        return found

    def sentence(self) -> str:
        """That nothing had to be done."""
        return f"{', '.join(self.keys)}: every class met what was asked, so nothing was changed."

    def suppressed(self, states: tuple[Any, ...]) -> Suppression:
        """The records that went."""
        return Suppression(records=states[0].found.suppressed)

    def notes(self, states: tuple[Any, ...]) -> tuple[str, ...]:
        """Levels, and how many records went."""
        found = states[0].found
        levels = ", ".join(f"{key} {level} of {found.heights[key]}" for key, level in found.levels.items())
        return (f"Levels: {levels}. {found.suppressed} records were left out; {self.loss} {found.score:.6g}.",)

    def warnings(self, states: tuple[Any, ...]) -> tuple[str, ...]:
        """Where the search was stopped."""
        return () if states[0].found.optimal else (NOT_PROVEN,)


@dataclass(frozen=True)
class _State:
    """What a pass over the records needs."""

    found: Anonymised
    described: dict[str, Any]
    codebook: Codebook = field(repr=False)


def _gone(seen: Coded, levels: dict[str, int], kept: np.ndarray[Any, Any]) -> pl.DataFrame:
    """The classes that are left out, in the categories that are released."""
    coarse = {key.name: _categories(seen, j, levels[key.name])[~kept] for j, key in enumerate(seen.keys)}
    schema = {key.name: pl.String for key in seen.keys}
    return pl.DataFrame({n: list(column) for n, column in coarse.items()}, schema=schema).unique(maintain_order=True)


def _categories(seen: Coded, key: int, level: int) -> np.ndarray[Any, Any]:
    return np.array(seen.keys[key].categories(level), dtype=object)[seen.patterns.codes[:, key]]


def _apply(batch: pl.DataFrame, state: _State, draws: StepDraws) -> pl.DataFrame:
    """Recode a batch, and leave out what fails: classes are told by their released categories."""
    found, book = state.found, state.codebook
    texts = batch.select(
        generalised(n, batch.schema[n], book, found.maps[n]) if level else in_texts(n, batch.schema[n], book)
        for n, level in found.levels.items()
    )
    if found.gone.height:
        marked = found.gone.with_columns(pl.lit(True).alias(_GONE))
        joined = texts.join(marked, on=list(found.levels), how="left", nulls_equal=True, maintain_order="left")
        stays = joined[_GONE].is_null()
        batch, texts = batch.filter(stays), texts.filter(stays)
    return batch.with_columns(texts[n] for n, level in found.levels.items() if level)
