"""What to change in a plan, in the words of the method that was used on a column, and never what is there already."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sfumato.data.aim import Aim
from sfumato.data.disclosure import Additive, Averaged, Disclosed, Disclosure, Sampled, Swapped, Synthetic
from sfumato.kernels.grid import significant
from sfumato.report.report import StepDone

__all__ = ["Edit", "Methods", "sampled"]

_To = Callable[[float], float] | float | str | bool | None
Kind = Literal["additive", "averaged", "misclassified", "drawn", "swapped", "shuffled", "exchanged", "synthetic"]
_KINDS: tuple[Kind, ...] = (
    "synthetic",
    "additive",
    "averaged",
    "misclassified",
    "drawn",
    "swapped",
    "shuffled",
    "exchanged",
)
"""What a disclosure's part tells of a method that masks; where several were used, the first of these is spoken of."""


@dataclass(frozen=True)
class Edit:
    """A change of a plan that can be made by setting one number, word or switch of a step.

    Parameters
    ----------
    text
        The change in words, as in the remedy that it is part of.
    path
        Where it is in the plan: `("steps", 0, "k")`.
    value
        What is written there; None leaves the parameter out.
    """

    text: str
    path: tuple[str | int, ...]
    value: Any


@dataclass(frozen=True)
class _Known:
    """What is known of the step that is spoken of: its disclosure's parts, and its parameters where there is a plan."""

    parts: tuple[Disclosed, ...]
    steps: tuple[StepDone, ...]
    column: str | None

    def parameter(self, name: str, value: object) -> bool:
        """Whether a step that masks the column has this value already."""
        return any(step.parameters.get(name) == value for step in self._masking)

    @property
    def _masking(self) -> Sequence[StepDone]:
        return [self.steps[place] for place in self.places]

    @property
    def places(self) -> Sequence[int]:
        """Numbers of the steps that mask the column, from 0; of all that mask where none does."""
        masking = [i for i, step in enumerate(self.steps) if step.masks]
        return [i for i in masking if self.column in (self.steps[i].parameters.get("columns") or ())] or masking

    @property
    def stratified(self) -> bool:
        """Whether a step that masks keeps strata apart; taken to be so where the steps are not known."""
        return not self.steps or any(step.parameters.get("by") for step in self._masking)

    @property
    def disjoint(self) -> bool:
        """Whether groups share no record already."""
        averaged = [part for part in self.parts if isinstance(part, Averaged)]
        return bool(averaged) and all(part.grouping != "knn" for part in averaged)

    @property
    def noise(self) -> list[Additive]:
        """The parts that tell of noise."""
        return [part for part in self.parts if isinstance(part, Additive)]

    def noisy(self, facts: Callable[[Additive], Collection[str]]) -> bool:
        """Whether noise on the column is clipped, rounded or the like."""
        return any(facts(part) if self.column is None else self.column in facts(part) for part in self.noise)


@dataclass(frozen=True)
class _Change:
    """One change to a plan, and when it is of no use because it is there already or cannot be made."""

    text: str
    done: Callable[[_Known], bool] = lambda known: False
    set: tuple[str | tuple[str, ...], _To] | None = None
    """The parameter that it sets (or several that mean the same), and to what: a value, or a function of what it is."""

    def edits(self, known: _Known) -> Iterator[Edit]:
        """As edits of the steps that mask the column, where they have the parameter."""
        if self.set is None:
            return
        names, to = self.set
        for place in known.places:
            parameters = known.steps[place].parameters
            for name in (names,) if isinstance(names, str) else names:
                path: tuple[str | int, ...] = ("steps", place, name)
                now = parameters.get(name)
                if isinstance(now, Mapping) and known.column is not None and known.column in now:
                    path, now = (*path, known.column), now[known.column]
                value: Any = to
                if callable(to):
                    value = to(now) if isinstance(now, int | float) and not isinstance(now, bool) else now
                if name in parameters and value != now:
                    yield Edit(self.text, path, value)


def _more(now: float) -> float:
    """Half as much again: of whole numbers the next whole one."""
    return math.ceil(now * 1.5) if isinstance(now, int) else significant(now * 1.5)


def _less(now: float) -> float:
    """Two thirds of it: of whole numbers the whole one below, at least 1."""
    return max(math.floor(now / 1.5), 1) if isinstance(now, int) else significant(now / 1.5)


def _fewer(now: float) -> float:
    """Two thirds of a number of records, at least 3."""
    return max(math.floor(now / 1.5), 3)


def _nearer(now: float) -> float:
    """Half way to 1."""
    return significant((1 + now) / 2)


def _double(now: float) -> float:
    return 2 * now


_STRENGTH = ("share", "sd", "variance")
_LARGER_K = _Change("take a larger `k`", set=("k", _more))
_DISJOINT = _Change(
    "take groups that share no record (`grouping: mdav`), which lower this most at the same `k`",
    lambda k: k.disjoint,
    set=("grouping", "mdav"),
)
_BLUR = _Change(
    "blur the centroids (`blur: 0.1`), so that they are no exact averages any more",
    lambda k: any(part.blur for part in k.parts if isinstance(part, Averaged)) or k.disjoint,
    set=("blur", 0.1),
)
_MORE_COLUMNS = _Change("average more columns together", lambda k: k.disjoint)
_ROUNDED = _Change(
    "round what is restored (`moments: rounded`)",
    lambda k: all(part.moments == "rounded" for part in k.parts if isinstance(part, Averaged)),
    set=("moments", "rounded"),
)
_BLUR_CHANGES = _Change(
    "average several columns together and blur the centroids (`blur: 0.1`)",
    lambda k: any(part.blur for part in k.parts if isinstance(part, Averaged)),
    set=("blur", 0.1),
)
_PERTURB = _Change(
    "draw exchanged numbers anew (`perturb: 0.02`); of categories exchange some (`pram`)",
    lambda k: any(part.perturb for part in k.parts if isinstance(part, Swapped)),
    set=("perturb", 0.02),
)
_ONE_STRENGTH = _Change(
    "release the same people with one strength and one secret only: name the earlier release (`--earlier`), or say the "
    "strength (`variance` or `sd` in place of `share`)"
)
_NOT_AGAIN = _Change("do not release the same people again in this way")
_SMALLER_K = _Change("take a smaller `k`", set=("k", _less))
_FEWER_STRATA = _Change(
    "leave columns out of `by`, so that records find nearer neighbours in larger groups", lambda k: not k.stratified
)
_MORE_NOISE = _Change("add more noise (`sfumato tune` finds the least that meets a limit)", set=(_STRENGTH, _more))
_LESS_NOISE = _Change("add less noise (`sfumato tune` finds the least that meets a limit)", set=(_STRENGTH, _less))
_IN_THE_MODEL = _Change("tell analysts to take the disclosed noise out of their model (`sfumato fit`)")
_MORE_EXCHANGED = _Change("exchange more categories (a lower `retention`)", set=("retention", _less))
_FEWER_EXCHANGED = _Change("exchange fewer categories (a higher `retention`)", set=("retention", _nearer))
_EXCHANGE_IN_THE_MODEL = _Change("tell analysts to take the disclosed exchange out of their model (`sfumato fit`)")
_WIDER = _Change("swap over a wider `window`", set=("window", _more))
_NARROWER = _Change("swap over a narrower `window`", set=("window", _less))
_LARGER_GROUPS = _Change("draw values from larger groups (`group`)", set=("group", _more))
_SMALLER_GROUPS = _Change("draw values from smaller groups (`group`)", set=("group", _fewer))
_MORE_AREAS, _FEWER_AREAS = (
    _Change("exchange more households (a larger `rate`)", set=("rate", _more)),
    _Change("exchange fewer households (a smaller `rate`)", set=("rate", _less)),
)
_BROADER_PROFILES = _Change("add a profile of fewer columns to `similar`, so that more find a partner")
_FEWER_GIVEN = _Change("condition on fewer columns (`given`, `by`), so that less of a value follows from them")
_MORE_GIVEN = _Change("condition on the columns that are analysed with it (`given`, `by`)")
_DISTINCT = _Change(
    "let every distinct record count once (`distinct: true`), so that identical records no longer stay as they are",
    lambda k: k.disjoint or k.parameter("distinct", True),
    set=("distinct", True),
)
_UNCLIPPED = _Change(
    "leave `clip` out, for many values that are set to a bound are what they were",
    lambda k: not k.noisy(lambda part: part.bounds),
    set=("clip", None),
)
_FINER = _Change(
    "round to a smaller multiple (`round_to`), or add more noise, so that fewer values are rounded back",
    lambda k: k.noisy(lambda part: part.bounds) or not k.noisy(lambda part: part.coarse),
)
_STRONGER = _Change(
    _MORE_NOISE.text,
    lambda k: k.noisy(lambda part: part.bounds) or k.noisy(lambda part: part.coarse),
    set=(_STRENGTH, _more),
)
_GROW = _Change(
    "let the noise grow for outliers (`grow: 2`)", lambda k: any(part.grows for part in k.noise), set=("grow", 2)
)
_GROW_SOONER = _Change(
    "let the noise grow from nearer the centre on (a smaller `grow`)", lambda k: not any(part.grows for part in k.noise)
)
_LARGER_LEAVES = _Change("take more donors for a leaf (a larger `min_leaf`)", set=("min_leaf", _double))
_SMALLER_LEAVES = _Change(
    "take fewer donors for a leaf (a smaller `min_leaf`)", lambda k: k.parameter("min_leaf", 1), set=("min_leaf", _less)
)
_COARSER_FIRST = _Change("coarsen or top-code before values are drawn")
_FEWER_COPIES = _Change(
    "release fewer copies", lambda k: all(p.copies == 1 for p in k.parts if isinstance(p, Synthetic))
)
_SMOOTH = _Change(
    "draw numbers between donors (`smooth: true`)", lambda k: k.parameter("smooth", True), set=("smooth", True)
)
_NO_MORE = _Change("do not make another release of the same people")
_MEANS = _Change("keep the means (`recentre: true`)", lambda k: k.parameter("recentre", True), set=("recentre", True))
_SPREAD = _Change("restore the spread (`rescale: true`)", lambda k: k.parameter("rescale", True), set=("rescale", True))
_CLIP = _Change("give the column's possible values as bounds (`clip: {column: [low, high]}`)")
_TOP_CODE = _Change("top-code them (`clip: {column: [low, high]}`)")
_BROADER = _Change("recode rare categories into broader ones (`recode`)")
_OUT = _Change("leave the column out (`drop`)")
_PRAM = _Change("exchange the column's categories (`pram`)")
_NOISIER = _Change("add more noise to that column", set=(_STRENGTH, _more))
_MERGE = _Change(
    "merge small groups (`on_small: merge`)",
    lambda k: not k.stratified or k.parameter("on_small", "merge"),
    set=("on_small", "merge"),
)
_SUPPRESS = _Change("leave out the records of small groups (`suppress_strata`)")
_OUTCOME = _Change("leave the outcome out if the release can do without it (`drop`)")

_ALIKE = (_BROADER, _MERGE, _SUPPRESS, _OUT)
_DIVERSE = (_BROADER, _MERGE, _OUTCOME)
_SHARED: dict[Aim, tuple[_Change, ...]] = {Aim.ALIKE: _ALIKE, Aim.DIVERSE: _DIVERSE, Aim.BOUNDS: (_CLIP,)}
"""Changes that are the same whatever masked the columns."""

_CHANGES: dict[Kind, dict[Aim, tuple[_Change, ...]]] = {
    "additive": {
        Aim.FURTHER: (_MORE_NOISE,),
        Aim.TOGETHER: (_ONE_STRENGTH,),
        Aim.GENTLER: (_LESS_NOISE, _IN_THE_MODEL),
        Aim.READ: (_NOISIER, _PRAM, _OUT),
        Aim.KEPT: (_UNCLIPPED, _FINER, _STRONGER),
        Aim.APART: (_GROW, _GROW_SOONER, _TOP_CODE),
    },
    "averaged": {
        Aim.FURTHER: (_DISJOINT, _LARGER_K),
        Aim.UNSOLVED: (_DISJOINT, _BLUR, _MORE_COLUMNS, _LARGER_K),
        Aim.TOGETHER: (_ROUNDED, _BLUR_CHANGES, _NOT_AGAIN),
        Aim.GENTLER: (_SMALLER_K, _FEWER_STRATA),
        Aim.READ: (_PRAM, _OUT),
        Aim.KEPT: (_DISTINCT, _LARGER_K),
        Aim.APART: (_TOP_CODE,),
        Aim.MEANS: (_MEANS, _SMALLER_K),
        Aim.SPREAD: (_SPREAD, _SMALLER_K),
        Aim.TABLES: (_MEANS, _SMALLER_K, _FEWER_STRATA),
    },
    "misclassified": {
        Aim.FURTHER: (_MORE_EXCHANGED,),
        Aim.TOGETHER: (_ONE_STRENGTH,),
        Aim.GENTLER: (_FEWER_EXCHANGED, _EXCHANGE_IN_THE_MODEL),
        Aim.READ: (_MORE_EXCHANGED, _OUT),
        Aim.KEPT: (_MORE_EXCHANGED,),
        Aim.APART: (_BROADER, _OUT),
    },
    "synthetic": {
        Aim.FURTHER: (_LARGER_LEAVES, _COARSER_FIRST, _FEWER_COPIES),
        Aim.TOGETHER: (_FEWER_COPIES, _NO_MORE),
        Aim.GENTLER: (_SMALLER_LEAVES,),
        Aim.READ: (_LARGER_LEAVES, _OUT),
        Aim.KEPT: (_SMOOTH, _LARGER_LEAVES),
        Aim.APART: (_COARSER_FIRST, _LARGER_LEAVES),
    },
    "drawn": {
        Aim.FURTHER: (_LARGER_GROUPS,),
        Aim.TOGETHER: (_PERTURB,),
        Aim.GENTLER: (_SMALLER_GROUPS,),
        Aim.READ: (_LARGER_GROUPS, _OUT),
        Aim.KEPT: (_LARGER_GROUPS,),
        Aim.APART: (_LARGER_GROUPS, _BROADER, _OUT),
    },
    "swapped": {
        Aim.FURTHER: (_WIDER,),
        Aim.TOGETHER: (_PERTURB, _NOT_AGAIN),
        Aim.GENTLER: (_NARROWER,),
        Aim.READ: (_WIDER, _OUT),
        Aim.KEPT: (_WIDER,),
        Aim.APART: (_BROADER, _OUT),
    },
    "shuffled": {
        Aim.FURTHER: (_FEWER_GIVEN,),
        Aim.TOGETHER: (_NOT_AGAIN,),
        Aim.GENTLER: (_MORE_GIVEN,),
        Aim.READ: (_FEWER_GIVEN, _OUT),
        Aim.KEPT: (_FEWER_GIVEN,),
        Aim.APART: (_TOP_CODE, _OUT),
    },
    "exchanged": {
        Aim.FURTHER: (_MORE_AREAS,),
        Aim.TOGETHER: (_NOT_AGAIN,),
        Aim.GENTLER: (_FEWER_AREAS,),
        Aim.READ: (_MORE_AREAS, _OUT),
        Aim.KEPT: (_MORE_AREAS,),
        Aim.APART: (_BROADER_PROFILES, _BROADER, _OUT),
    },
}
_LIKE = {Aim.UNSOLVED: Aim.FURTHER, Aim.MEANS: Aim.GENTLER, Aim.SPREAD: Aim.GENTLER, Aim.TABLES: Aim.GENTLER}
"""Aims that a method without changes of its own serves as it serves another."""


@dataclass(frozen=True)
class Methods:
    """The methods that masked a release, as its disclosure and the plan's steps tell them.

    Parameters
    ----------
    disclosure
        The disclosure; None where it is not known.
    guess
        What is taken to have been done where the disclosure tells of no masking method.
    steps
        The steps as they were run, where they are known: what they have already is not proposed.

    Examples
    --------
    >>> told = Disclosure([Additive(("bmi",), [[0.1]])])
    >>> Methods(told).remedy(Aim.KEPT, "bmi")
    'add more noise (`sfumato tune` finds the least that meets a limit)'
    """

    disclosure: Disclosure | None
    guess: Kind = "averaged"
    steps: tuple[StepDone, ...] = ()

    def kind(self, column: str | None = None) -> Kind:
        """The method that was used on a column; of the release where the column is none that was masked."""
        found = {_kind_of(part) for part in self._parts(column)}
        return next((kind for kind in _KINDS if kind in found), self.guess)

    def remedy(self, aim: Aim, column: str | None = None) -> str:
        """What to change in the step that masked the column (without one: in the main step)."""
        texts = [change.text for change in self._changes(aim, column)]
        return ", or ".join(texts) or "protect the columns that it speaks of by a stronger method, or leave them out"

    def edits(self, aim: Aim, column: str | None = None) -> tuple[Edit, ...]:
        """Those changes of the remedy that can be made by setting one parameter of a step; none without the steps.

        Numbers go half as far again, or to the third less: whoever makes the change looks at what came of it.
        """
        known = self._known(column)
        return tuple(edit for change in self._changes(aim, column) for edit in change.edits(known))

    def _changes(self, aim: Aim, column: str | None) -> list[_Change]:
        of_kind = _CHANGES[self.kind(column)]
        changes = _SHARED.get(aim) or of_kind.get(aim) or of_kind[_LIKE[aim]]
        known = self._known(column)
        return [change for change in changes if not change.done(known)]

    def _known(self, column: str | None) -> _Known:
        return _Known(self._parts(column), self.steps, column)

    def _parts(self, column: str | None) -> tuple[Disclosed, ...]:
        masking = tuple(part for part in self.disclosure or () if part.what in _KINDS and not _fills(part))
        return tuple(part for part in masking if column in part.columns) or masking


def _fills(part: Disclosed) -> bool:
    """Whether a part tells of missing values that were drawn, which hides nobody."""
    return isinstance(part, Synthetic) and part.kind == "missing"


def sampled(disclosure: Disclosure | None) -> float:
    """The share of the records that a release holds: the product of the fractions that its disclosure tells.

    Examples
    --------
    >>> sampled(Disclosure([Sampled(fraction=0.5), Sampled(fraction=0.2)])), sampled(None)
    (0.1, 1.0)
    """
    return math.prod(part.fraction for part in disclosure or () if isinstance(part, Sampled)) * 1.0


def _kind_of(part: Disclosed) -> str:
    """Which method a part of a disclosure tells of: an exchange within groups is none by ranks."""
    return "drawn" if isinstance(part, Swapped) and part.group is not None else part.what
