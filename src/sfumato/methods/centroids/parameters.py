"""The parameters of `centroids`, with their defaults and what makes no sense; what each means stands in `Centroids`."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field, TypeAdapter, ValidationError, model_validator

from sfumato.methods.base import Method

__all__ = ["PRESETS", "CentroidParameters"]

PRESETS: dict[str, dict[str, Any]] = {
    "avraam2021": {
        "rescale": True,
        "recentre": False,
        "round_to": None,
        "blur": 0.0,
        "moments": "exact",
    }
}
"""Settings of published studies; `min_stratum` is k in `avraam2021`."""

_INTEGER = TypeAdapter(int)

Bounds = tuple[float | None, float | None]
RoundTo = Literal["input"] | float | dict[str, float] | None


class CentroidParameters(Method):
    """What the stages of `centroids` go by, see `Centroids`."""

    effort: ClassVar[float] = 50.0
    masks: ClassVar[bool] = True
    whole_strata: ClassVar[bool] = True
    passes: ClassVar[int] = 4
    draws_by_id: ClassVar[bool] = True
    averages: ClassVar[bool] = True

    do: Literal["centroids"] = "centroids"
    columns: tuple[str, ...] = Field(min_length=1, max_length=64)
    by: tuple[str, ...] = ()
    k: int = Field(ge=2)
    grouping: Literal["knn", "mdav", "variable", "optimal"] = "knn"
    ties: Literal["share", "all"] = "share"
    distinct: bool = False
    rescale: bool = True
    recentre: bool = True
    moments: Literal["rounded", "exact"] = "rounded"
    min_stratum: int = Field(default=None, ge=2, validate_default=False)  # type: ignore[assignment]
    on_small: Literal["error", "merge", "suppress", "drop_variable"] = "error"
    max_suppressed: float = Field(default=0.05, ge=0, le=1)
    clip: dict[str, Bounds] | None = None
    round_to: RoundTo = "input"
    missing: Literal["keep", "median", "mean", "drop", "category"] = "keep"
    blur: float = Field(default=0.0, ge=0, le=1, allow_inf_nan=False)
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
        usual = dict(PRESETS.get(preset, {})) if isinstance(preset, str) else {}
        if given.get("blur"):
            usual.pop("round_to", None)
        given = {**usual, **given}
        if given.get("min_stratum") is None:
            try:
                k = _INTEGER.validate_python(given.get("k"))
            except ValidationError:
                return given  # k itself is reported
            given["min_stratum"] = k if preset == "avraam2021" else max(2 * k, k + 3)
        return given

    @model_validator(mode="after")
    def _sane(self) -> CentroidParameters:
        if self.k < 3 and not self.allow_small_k:
            raise ValueError(
                "k must be at least 3: with k = 2 every value is the average of a pair (allow_small_k: true)"
            )
        if self.grouping == "optimal" and len(self.columns) > 1:
            raise ValueError("grouping: optimal is for one column; for several together take grouping: variable")
        if self.min_stratum < self.k:
            raise ValueError("min_stratum must be at least k")
        if self.block_size is not None and self.block_size < 2 * self.k:
            raise ValueError("block_size must be at least 2k")
        if len({*self.columns, *self.by}) < len(self.columns) + len(self.by):
            raise ValueError("a column may stand only once among columns and by")
        if self.on_small in ("merge", "drop_variable") and not self.by:
            raise ValueError(f"on_small: {self.on_small} needs columns in by")
        self._check_by_column()
        return self

    @model_validator(mode="after")
    def _nothing_idle(self) -> CentroidParameters:
        """What one grouping has and others do not, and what is for left-out strata or moments where there are none."""
        found = {} if self.grouping == "knn" else dict.fromkeys(("ties", "distinct"), "`grouping: knn`")
        found |= {} if self.k < 3 else {"allow_small_k": "`k: 2`"}
        found |= {} if self.rescale or self.recentre else {"moments": "`rescale: true` or `recentre: true`"}
        self.refuse_idle(found | ({} if self.on_small == "suppress" else {"max_suppressed": "`on_small: suppress`"}))
        return self

    def grid_of(self, column: str) -> Literal["input"] | float | None:
        """What the released values of a column are rounded to; blurred ones always to something."""
        given = self.round_to
        return given.get(column, "input" if self.blur else None) if isinstance(given, dict) else given

    def _check_by_column(self) -> None:
        for low, high in (self.clip or {}).values():
            if low is not None and high is not None and low > high:
                raise ValueError("clip takes [low, high] for each column, with low not above high")
        steps = self.round_to.values() if isinstance(self.round_to, dict) else (self.round_to,)
        if any(isinstance(s, float | int) and not s > 0 for s in steps):
            raise ValueError("round_to takes positive numbers")
        if self.blur and self.round_to is None:
            raise ValueError(
                "round_to: null leaves every last digit of blurred values, and these tell what they were computed "
                "from; write input, which gives a column without decimals of its own a thousandth of its sd"
            )
        named = {*(self.clip or {}), *(self.round_to if isinstance(self.round_to, dict) else ())}
        if unknown := sorted(named - set(self.columns)):
            raise ValueError(f"clip and round_to name {', '.join(unknown)}, which is not among columns")
