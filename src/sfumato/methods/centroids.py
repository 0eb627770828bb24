"""Deterministic anonymisation: each record becomes the centroid of its nearest neighbours within its stratum."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Literal

import polars as pl
from pydantic import BeforeValidator, Field, model_validator

from sfumato.data.codebook import Codebook
from sfumato.data.disclosure import Averaged
from sfumato.data.roles import Kind
from sfumato.methods.base import Method, Stage, numeric_problems
from sfumato.methods.centroid_stages import Averaging, Preparing, Restoring, Stratifying, rebuilt

__all__ = ["PRESETS", "Centroids"]

PRESETS: dict[str, dict[str, Any]] = {
    "avraam2021": {
        "rescale": True,
        "recentre": False,
        "round_to": None,
    }
}
"""Settings of published studies; `min_stratum` is k in `avraam2021`."""

Bounds = tuple[float | None, float | None]
RoundTo = Literal["input"] | float | dict[str, float] | None


class Centroids(Method):
    """Replace numbers by the centroid of a record's k nearest neighbours within its stratum, then restore the spread.

    Protects against an intruder who knows exact values of the columns and looks for them: hardly any value stays. It
    does not make the record unfindable: the released point lies near the true one, so that whoever knows true values
    and stratum links far more than one in k records (`linkage_nearest` measures it; `grouping="mdav"` lowers it).
    Columns not listed stay as they are, and a category that is the same for a whole stratum is given away.

    Parameters
    ----------
    columns
        Continuous or integer columns to mask together, at most 64.
    by
        Categorical columns; neighbours are sought within each of their combinations.
    k
        Records in a centroid, the record itself included; at least 3.
    grouping
        `knn`: the k nearest of each record. `mdav`: disjoint groups of at least k (microaggregation); which of equal
        records goes to which group is told by the record's keyed draw, and without a record column they share.
    ties
        What the last ring of equally distant neighbours does: `share` what remains of k, or count whole (`all`).
    distinct
        Count equal records once, so that twins do not map to themselves.
    rescale
        Restore each column's standard deviation over the whole table.
    recentre
        Restore each column's mean over the whole table.
    min_stratum
        Smallest stratum, by default max(2k, k + 3): in a stratum of k everybody gets the same centroid.
    on_small
        What happens to smaller strata: an `error`; `merge` with the nearest; `suppress` their records; or
        `drop_variable`, which takes the last of `by` out of the release until all are large enough.
    max_suppressed
        Largest share of the records that `suppress` may leave out.
    clip
        Lowest and highest value by column, null for an open side. Never take them from the data.
    round_to
        `input`: to the decimal places of the column's values, integers stay integers; a number: to its multiples; by
        column; or null.
    missing
        `keep`: a record's neighbours are those that have the columns it has, and what is missing stays so;
        `category`: only those with the same columns missing; `median`, `mean`: fill in; `drop`: leave records out.
    block_size
        Most records that are searched together; larger strata are cut at medians.
    allow_small_k
        Let k = 2 through, which releases averages of pairs.
    preset
        `avraam2021`: the paper's settings for what is not given.

    References
    ----------
    Avraam, Jones and Burton (2021), doi:10.21203/rs.3.rs-344334/v1. MDAV: Domingo-Ferrer and Torra (2005),
    doi:10.1007/s10618-005-0007-5.

    Examples
    --------
    >>> Centroids(columns=("age", "fare"), by=("sex",), k=3, preset="avraam2021").min_stratum
    3
    """

    masks: ClassVar[bool] = True

    do: Literal["centroids"] = "centroids"
    columns: tuple[str, ...] = Field(min_length=1, max_length=64)
    by: tuple[str, ...] = ()
    k: int = Field(ge=2)
    grouping: Literal["knn", "mdav"] = "knn"
    ties: Literal["share", "all"] = "share"
    distinct: bool = False
    rescale: bool = True
    recentre: bool = True
    min_stratum: int = Field(default=None, ge=2, validate_default=False)  # type: ignore[assignment]
    on_small: Literal["error", "merge", "suppress", "drop_variable"] = "error"
    max_suppressed: float = Field(default=0.05, ge=0, le=1)
    clip: dict[str, Bounds] | None = None
    round_to: Annotated[RoundTo, BeforeValidator(lambda v: v)] = "input"
    missing: Literal["keep", "median", "mean", "drop", "category"] = "keep"
    block_size: int | None = Field(default=None, ge=2)
    allow_small_k: bool = False
    preset: Literal["avraam2021"] | None = None

    @model_validator(mode="before")
    @classmethod
    def _fill(cls, given: Any) -> Any:
        """Take what is not given from the preset, and `min_stratum` from k."""
        if not isinstance(given, dict):
            return given
        preset = given.get("preset")
        given = {**(PRESETS.get(preset, {}) if isinstance(preset, str) else {}), **given}
        k = given.get("k")
        if given.get("min_stratum") is None and isinstance(k, int):
            given["min_stratum"] = k if preset else max(2 * k, k + 3)
        return given

    @model_validator(mode="after")
    def _sane(self) -> Centroids:
        if self.k < 3 and not self.allow_small_k:
            raise ValueError(
                "k must be at least 3: with k = 2 every value is the average of a pair (allow_small_k: true)"
            )
        if self.min_stratum < self.k:
            raise ValueError("min_stratum must be at least k")
        if self.block_size is not None and self.block_size < 2 * self.k:
            raise ValueError("block_size must be at least 2k")
        if len(set(self.columns)) < len(self.columns) or set(self.columns) & set(self.by):
            raise ValueError("a column may stand only once among columns and by")
        if self.on_small in ("merge", "drop_variable") and not self.by:
            raise ValueError(f"on_small: {self.on_small} needs columns in by")
        self._check_by_column()
        return self

    def _check_by_column(self) -> None:
        for low, high in (self.clip or {}).values():
            if low is not None and high is not None and low > high:
                raise ValueError("clip takes [low, high] for each column, with low not above high")
        steps = self.round_to.values() if isinstance(self.round_to, dict) else (self.round_to,)
        if any(isinstance(s, float | int) and not s > 0 for s in steps):
            raise ValueError("round_to takes positive numbers")
        named = {*(self.clip or {}), *(self.round_to if isinstance(self.round_to, dict) else ())}
        if unknown := sorted(named - set(self.columns)):
            raise ValueError(f"clip and round_to name {', '.join(unknown)}, which is not among columns")

    def check(self, codebook: Codebook) -> list[str]:
        """Numbers in `columns`, categories in `by`."""
        problems = super().check(codebook) + numeric_problems(codebook, self.columns)
        for name in self.by:
            if name in codebook and codebook[name].kind == Kind.CONTINUOUS:
                problems.append(f"column {name!r} in by is continuous; strata need categories (recode it with `band`)")
        return problems

    def stage(self, codebook: Codebook, states: tuple[Any, ...]) -> Stage | None:
        """Prepare, settle the strata, average, restore."""
        match len(states):
            case 0:
                return Preparing(self, codebook).stage()
            case 1:
                return Stratifying(self, codebook, states[0]).stage()
            case 2:
                return Averaging(self, codebook, *states).stage()
            case 3:
                return Restoring(self, codebook, *states).stage()
        return None

    def disclose(self, states: tuple[Any, ...]) -> Averaged:
        """How values were averaged; nothing that was learned."""
        return Averaged(
            columns=self.columns,
            by=states[1].by if states else self.by,
            k=self.k,
            grouping=self.grouping,
            rescaled=self.rescale,
            recentred=self.recentre,
            rounded=self.round_to is not None,
            clipped=self.clip is not None,
            merged=states[1].merged if states else (),
        )

    def notes(self, states: tuple[Any, ...]) -> tuple[str, ...]:
        """What each stage had to say."""
        return tuple(note for state in states for note in state.notes)

    def reconstructions(self, frames: Sequence[pl.DataFrame], states: tuple[Any, ...]) -> dict[str, pl.DataFrame]:
        """The centroids before rescaling: the scale can be found from columns on a lattice, so it protects nothing."""
        return {"unscaled": rebuilt(frames[2], states[2])}
