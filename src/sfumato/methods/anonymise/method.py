"""Bring a table to k-anonymity and its kin with the least loss: broader categories, and few records left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import polars as pl

from sfumato.data.codebook import Codebook, Missing, Variable
from sfumato.data.disclosure import Coarsened, Disclosed, Suppressed
from sfumato.data.hidden import HIDDEN
from sfumato.data.publishable import Publishable
from sfumato.data.query import Counts
from sfumato.data.roles import Kind
from sfumato.data.suppression import Suppression
from sfumato.errors import EmptyRelease
from sfumato.kernels.lattice.local import Recoded, local
from sfumato.kernels.lattice.search import optimal
from sfumato.methods.anonymise.coding import Coded, Key, coded, in_texts
from sfumato.methods.anonymise.parameters import AnonymiseParameters
from sfumato.methods.base import Stage, StepDraws
from sfumato.methods.generalising import coarsened, code_text, described, generalised

__all__ = ["Anonymise", "Anonymised"]

_GONE, _STAYS = f"{HIDDEN}gone", f"{HIDDEN}stays"
LOCALLY = "to categories of different breadth, each the narrowest that enough records share (local recoding)"

NONE_MEETS = (
    "No levels of the keys meet what is asked ({asked}) with at most the share {limit:g} of the records left out "
    "(suppression_limit){time}. Allow a larger share, ask for less, or leave out a key: it is then to be dropped."
)
NOT_PROVEN = Publishable(
    "anonymise stopped at its time limit: what it found meets all that is asked, but something better may exist.",
    "Allow more time (time_limit).",
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
    cells
        With local recoding the categories of each pattern that stays, a column for each key, and one with `sfumato:`
        before its name for the new category. Else None.
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
    cells: pl.DataFrame | None = field(repr=False)
    told: tuple[Disclosed, ...] = field(repr=False)
    secret: tuple[str, ...] = ()

    @property
    def coarser(self) -> list[str]:
        """The keys of which some value changes."""
        return [key for key, level in self.levels.items() if level]


class Anonymise(AnonymiseParameters):
    """Recode keys to levels of their hierarchies, and leave out the classes that still fail.

    Protects against an intruder who knows the keys of a person: at least `k` records are alike, and with `l`, `t`,
    `alpha`, `beta` or `delta` they differ in what must not be learned. It says nothing of an intruder who knows more
    than the keys, and does not hide who is in the data. Levels are the same for all records; of all choices the one
    with the least loss is taken that leaves out no more than `suppression_limit`, by a search that proves it. With
    `local` each record's cells have levels of their own; what is found then is good, and not proven to be best.

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
        book = {key.name: described(codebook[key.name], key.hierarchy, found.levels[key.name]) for key in seen.keys}
        if found.cells is not None:
            book |= {n: _mixed(codebook[n]) for n in found.coarser}
        return _State(found, book, codebook)

    def search(self, codebook: Codebook, seen: Coded) -> Anonymised:
        """Find the levels.

        Raises
        ------
        EmptyRelease
            Where none meet what is asked.
        """
        return self._local(codebook, seen) if self.local else self._full(codebook, seen)

    def _full(self, codebook: Codebook, seen: Coded) -> Anonymised:
        """One level for each key."""
        secret = self.secret(codebook)
        found = optimal(
            seen.patterns,
            seen.levels,
            self.criteria(codebook, seen.values),
            limit=self.suppression_limit,
            loss=self.loss,
            weights=self.weights if self.attribute_weights else None,
            time_limit=self.time_limit,
        )
        if found is None:
            raise self._none_meets(secret)
        levels = dict(zip(self.keys, found.levels, strict=True))
        told = [
            p for key in seen.keys for p in coarsened(key.name, codebook[key.name], key.hierarchy, levels[key.name])
        ]
        return Anonymised(
            levels=levels,
            heights={key.name: key.hierarchy.height for key in seen.keys},
            score=found.score,
            suppressed=found.suppressed,
            optimal=found.optimal,
            bound=found.bound,
            maps={key.name: key.hierarchy.level(levels[key.name]) for key in seen.keys if levels[key.name]},
            gone=_gone(seen, levels, found.kept),
            cells=None,
            told=(*told, *self._rule(secret)),
            secret=secret,
        )

    def _local(self, codebook: Codebook, seen: Coded) -> Anonymised:
        """A level for each cell."""
        secret = self.secret(codebook)
        found = local(
            seen.patterns,
            seen.levels,
            self.criteria(codebook, seen.values),
            limit=self.suppression_limit,
            weights=self.weights if self.attribute_weights else None,
        )
        if found is None:
            raise self._none_meets(secret)
        stays = ~found.suppressed
        levels = {n: int(found.levels[stays, j].max(initial=0)) for j, n in enumerate(self.keys)}
        told = [Coarsened((n,), LOCALLY) for n, level in levels.items() if level]
        return Anonymised(
            levels=levels,
            heights={key.name: key.hierarchy.height for key in seen.keys},
            score=found.score,
            suppressed=found.records,
            optimal=False,
            bound=0.0,
            maps={},
            gone=pl.DataFrame(),
            cells=_cells(seen, found),
            told=(*told, *self._rule(secret)),
            secret=secret,
        )

    def _none_meets(self, secret: Sequence[str]) -> EmptyRelease:
        time = "" if self.time_limit is None else ", or none was found in the time given"
        return EmptyRelease(NONE_MEETS.format(asked=self.said(secret), limit=self.suppression_limit, time=time))

    def _rule(self, secret: Sequence[str]) -> tuple[Suppressed, ...]:
        """By what rule records may have been left out."""
        if not self.suppression_limit:
            return ()
        rule = f"records in classes that do not meet {self.said(secret)} were left out"
        return (Suppressed(columns=self.keys, rule=rule),)

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
        return () if states[0].found.optimal or self.local else (NOT_PROVEN,)


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


def _cells(seen: Coded, found: Recoded) -> pl.DataFrame:
    """The patterns that stay, with their new categories: of groups with the same values always the same one."""
    stays = ~found.suppressed
    columns = {key.name: seen.frame[key.name].filter(stays) for key in seen.keys}
    for j, key in enumerate(seen.keys):
        names = _names(key)
        at = zip(seen.patterns.codes[stays, j].tolist(), found.levels[stays, j].tolist(), strict=True)
        columns[f"{HIDDEN}{key.name}"] = pl.Series([names[leaf, level] for leaf, level in at], dtype=pl.String)
    return pl.DataFrame(columns).unique(maintain_order=True)


def _names(key: Key) -> dict[tuple[int, int], str | None]:
    """The category of each leaf on each level; of levels on which it stands for the same values, that of the lowest."""
    groups = key.levels().groups
    names: dict[tuple[int, int], str | None] = {}
    below = np.ones(len(key.leaves), dtype=np.int64)
    for level in range(key.hierarchy.height + 1):
        sizes = np.bincount(groups[level])[groups[level]]
        for leaf, category in enumerate(key.categories(level)):
            same = level > 0 and sizes[leaf] == below[leaf]
            names[leaf, level] = names[leaf, level - 1] if same else category
        below = sizes
    return names


def _mixed(variable: Variable) -> Variable:
    """A key whose categories are of different breadth."""
    codes = tuple(Missing(code=code_text(code), label=code.label) for code in variable.missing)
    return variable.model_copy(
        update={
            "kind": Kind.CATEGORICAL,
            "missing": codes,
            "order": (),
            "hierarchy": {},
            "labels": {},
            "range": None,
            "measure": None,
            "format": None,
        }
    )


def _apply(batch: pl.DataFrame, state: _State, draws: StepDraws) -> pl.DataFrame:
    """Recode a batch, and leave out what fails: classes are told by their released categories."""
    found, book = state.found, state.codebook
    if found.cells is not None:
        return _apply_cells(batch, found, found.cells, book)
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


def _apply_cells(batch: pl.DataFrame, found: Anonymised, cells: pl.DataFrame, book: Codebook) -> pl.DataFrame:
    """Give each record the categories of its pattern; a pattern that has none is left out."""
    keys = list(found.levels)
    texts = batch.select(in_texts(n, batch.schema[n], book) for n in keys)
    marked = cells.with_columns(pl.lit(True).alias(_STAYS))
    joined = texts.join(marked, on=keys, how="left", nulls_equal=True, maintain_order="left")
    stays = joined[_STAYS].fill_null(False)
    new = joined.filter(stays)
    return batch.filter(stays).with_columns(new[f"{HIDDEN}{n}"].alias(n) for n in found.coarser)
