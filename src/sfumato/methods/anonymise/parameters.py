"""Parameters of `anonymise`: keys, criteria, loss; and the criteria that the search takes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from sfumato.data.codebook import Codebook
from sfumato.data.files.hierarchies import HierarchyFolder
from sfumato.data.hierarchy import Hierarchy
from sfumato.errors import DataError
from sfumato.kernels.lattice.criteria.closeness import EqualT, HierarchicalT, OrderedT
from sfumato.kernels.lattice.criteria.criterion import Criterion, Overall
from sfumato.kernels.lattice.criteria.diversity import DistinctL, EntropyL, RecursiveL
from sfumato.kernels.lattice.criteria.likeness import Alpha, Beta, Delta
from sfumato.kernels.lattice.criteria.overall import AverageRisk, SampleUniques
from sfumato.kernels.lattice.criteria.sizes import KAnonymity
from sfumato.kernels.lattice.levels import Levels
from sfumato.methods.base import Method, unknown_problems
from sfumato.methods.checks import role_problems

__all__ = ["AnonymiseParameters", "LossName"]

LossName = Literal[
    "loss",
    "loss-arithmetic",
    "entropy",
    "monotone-entropy",
    "precision",
    "discernibility",
    "average-class-size",
]
_OF_SENSITIVE = ("l", "t", "alpha", "beta", "delta")


class AnonymiseParameters(Method):
    """What `anonymise` is asked for.

    Parameters
    ----------
    keys
        The columns that an intruder may know of a person.
    k
        Smallest class of records with equal keys, at least 2.
    suppression_limit
        Largest share of the records that may be left out, from 0 to 1.
    loss
        What is made least: `loss` (how many values a category stands for, geometric mean over keys), `loss-arithmetic`,
        `entropy`, `monotone-entropy`, `precision`, `discernibility`, `average-class-size`.
    hierarchies
        Folder with a file of the hierarchy of each key (`age.csv`), beside the plan; or the keys' own (`variables`). A
        key without one stays as it is or becomes `*`.
    sensitive
        What an intruder must not learn: else the variables with the role `sensitive`. Of `l`, `t`, `alpha`, `beta` and
        `delta`, each is asked of each of them.
    l
        l-diversity of each class: at least so many different values, or their like by `l_kind`.
    l_kind
        `distinct` values; `entropy`, whose exponential is at least l; `recursive`: the most frequent value less than
        `l_c` times as frequent as the l-th most frequent and all rarer ones together.
    l_c
        For `recursive`.
    t
        Largest distance between the distribution in a class and that in the whole file, from 0 to 1.
    t_kind
        Values `equal`ly far apart, `ordered` (numbers by size, an order by its places), or `hierarchical`.
    alpha
        Largest share that one value may have in a class.
    beta
        Largest relative gain of a value's share in a class over its share in the file.
    beta_kind
        `basic`, or `enhanced`, which bounds frequent values by −ln of their share too.
    delta
        Largest |ln| of the ratio of both shares.
    risk_average
        Largest average risk: number of classes over number of records that stay.
    uniques_sample
        Largest share of records that are alone in their class.
    attribute_weights
        How much the loss of each key counts; 1 where not given.
    local
        Recode locally: keys of different records may stand on different levels, which loses less, and makes values of a
        column overlap. Of two ways the better is taken; the loss is then always `loss-arithmetic`, cell by cell.
    time_limit
        Seconds after which the best that was found is taken, with what is proven of it; for more than about 12 keys.
    """

    coarsens: ClassVar[bool] = True
    effort: ClassVar[float] = 5.0

    keys: tuple[str, ...] = Field(min_length=1)
    k: int = Field(default=5, ge=2)
    suppression_limit: float = Field(default=0.05, ge=0, le=1)
    loss: LossName = "loss"
    hierarchies: HierarchyFolder | None = None
    sensitive: tuple[str, ...] = ()
    l: float | None = Field(default=None, ge=1)  # noqa: E741  the field's name
    l_kind: Literal["distinct", "entropy", "recursive"] = "distinct"
    l_c: float = Field(default=4.0, gt=0)
    t: float | None = Field(default=None, ge=0, le=1)
    t_kind: Literal["equal", "ordered", "hierarchical"] = "equal"
    alpha: float | None = Field(default=None, gt=0, le=1)
    beta: float | None = Field(default=None, gt=0)
    beta_kind: Literal["basic", "enhanced"] = "basic"
    delta: float | None = Field(default=None, gt=0)
    risk_average: float | None = Field(default=None, gt=0, le=1)
    uniques_sample: float | None = Field(default=None, ge=0, le=1)
    attribute_weights: dict[str, float] = Field(default_factory=dict)
    local: bool = False
    time_limit: float | None = Field(default=None, gt=0)

    @model_validator(mode="after")
    def _together(self) -> Self:
        if both := sorted(set(self.keys) & set(self.sensitive)):
            raise ValueError(f"{', '.join(both)}: sensitive, and among the keys; an intruder knows keys already")
        if len(set(self.keys)) < len(self.keys):
            raise ValueError("`keys` names a column twice")
        if self.l is not None and self.l_kind != "entropy" and self.l != int(self.l):
            raise ValueError("`l` is a whole number, but for l_kind: entropy")
        if unknown := sorted(set(self.attribute_weights) - set(self.keys)):
            raise ValueError(f"`attribute_weights` names {', '.join(unknown)}, not among the keys")
        if any(not weight > 0 for weight in self.attribute_weights.values()):
            raise ValueError("`attribute_weights` are above 0")
        if self.local and self.loss not in ("loss", "loss-arithmetic"):
            raise ValueError("`local` recoding has the loss loss-arithmetic; leave `loss` out")
        return self

    @model_validator(mode="after")
    def _nothing_idle(self) -> Self:
        """What says how a criterion is meant that is not asked for, and what one search has and the other does not."""
        of = {"l_kind": "l", "t_kind": "t", "beta_kind": "beta"}
        found = {kind: f"`{criterion}`" for kind, criterion in of.items() if getattr(self, criterion) is None}
        if self.l is None or self.l_kind != "recursive":
            found["l_c"] = "`l` and `l_kind: recursive`"
        self.refuse_idle(found | ({"time_limit": "`local: false`"} if self.local else {}))
        return self

    @property
    def changes(self) -> tuple[str, ...]:
        """The keys."""
        return self.keys

    @property
    def weights(self) -> tuple[float, ...]:
        """Of each key."""
        return tuple(self.attribute_weights.get(key, 1.0) for key in self.keys)

    def secret(self, codebook: Codebook) -> tuple[str, ...]:
        """What an intruder must not learn, where a criterion speaks of it."""
        if all(getattr(self, name) is None for name in _OF_SENSITIVE):
            return ()
        return self.sensitive or tuple(n for n in codebook.private if n not in self.keys)

    def check(self, codebook: Codebook) -> list[str]:
        """Keys that may be coarsened, something sensitive where criteria speak of it, hierarchies that are there."""
        problems = [*unknown_problems(codebook, (*self.keys, *self.sensitive)), *role_problems(codebook, self.keys)]
        if not self.secret(codebook) and (asked := [n for n in _OF_SENSITIVE if getattr(self, n) is not None]):
            problems.append(f"{', '.join(asked)} speaks of what must not be learned: name it (sensitive: [column])")
        for key in (key for key in self.keys if key in codebook):
            if self.hierarchies is not None and key in self.hierarchies.sha256 and not codebook[key].hierarchy:
                problems.append(f"the hierarchy of {key!r} is not in the folder {self.hierarchies.folder!r}")
            try:
                Hierarchy.of(codebook[key])
            except DataError as error:
                problems.append(f"column {key!r}: {error}")
        if self.t is not None and self.t_kind == "hierarchical":
            bare = [n for n in self.secret(codebook) if n in codebook and not codebook[n].hierarchy]
            problems += [f"t_kind: hierarchical needs a hierarchy of {n!r}" for n in bare]
        return problems

    def criteria(self, codebook: Codebook, values: Sequence[Sequence[str]]) -> list[Criterion | Overall]:
        """What the search judges classes by.

        Parameters
        ----------
        codebook
            Of the table.
        values
            Of each sensitive variable, the value that each code stands for.
        """
        found: list[Criterion | Overall] = [KAnonymity(self.k)]
        for number, (name, held) in enumerate(zip(self.secret(codebook), values, strict=True)):
            found += self._of(number, held, Hierarchy.of(codebook[name]))
        found += [] if self.risk_average is None else [AverageRisk(self.risk_average)]
        return found + ([] if self.uniques_sample is None else [SampleUniques(self.uniques_sample)])

    def _of(self, variable: int, values: Sequence[str], hierarchy: Hierarchy | None) -> Iterator[Criterion]:
        if self.l is not None:
            match self.l_kind:
                case "distinct":
                    yield DistinctL(int(self.l), variable)
                case "entropy":
                    yield EntropyL(self.l, variable)
                case "recursive":
                    yield RecursiveL(self.l_c, int(self.l), variable)
        if self.t is not None:
            match self.t_kind:
                case "equal":
                    yield EqualT(self.t, variable)
                case "ordered":
                    yield OrderedT(self.t, variable)
                case "hierarchical":
                    yield HierarchicalT(self.t, variable, _tree(values, hierarchy))
        if self.alpha is not None:
            yield Alpha(self.alpha, variable)
        if self.beta is not None:
            yield Beta(self.beta, variable, self.beta_kind == "enhanced")
        if self.delta is not None:
            yield Delta(self.delta, variable)

    def said(self, secret: Sequence[str]) -> str:
        """What is asked of each class, in words that may be published."""
        parts = [f"k = {self.k}"]
        kinds: Mapping[str, Any] = {"l": self.l_kind, "t": self.t_kind, "beta": self.beta_kind}
        for name in _OF_SENSITIVE:
            if (value := getattr(self, name)) is not None:
                kind = f" ({kinds[name]})" if name in kinds else ""
                parts.append(f"{name} = {value:g}{kind} of {', '.join(secret)}")
        return ", ".join(parts)


def _tree(values: Sequence[str], hierarchy: Hierarchy | None) -> Levels:
    """The tree of a sensitive variable's values; one that it does not list is far from all others."""
    if hierarchy is None:
        raise DataError("t_kind: hierarchical needs a hierarchy of the sensitive variable.")
    groups = []
    for level in range(hierarchy.height + 1):
        known = hierarchy.level(level)
        top = level == hierarchy.height
        labels = [known.get(v, "*" if top else f"\0{v}") for v in values]
        numbers = {label: number for number, label in enumerate(dict.fromkeys(labels))}
        groups.append(np.array([numbers[label] for label in labels], dtype=np.int64))
    return Levels(tuple(groups), rows=len(values))
