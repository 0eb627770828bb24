"""Disclosures: the public sentences that an analyst needs to use a release well.

A disclosure may itself disclose (the sd of a stratum of four), so each holds parameters and rounded strengths only:
never a value, a count of records, or anything that was learned about few people.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from sfumato.data.coarsened import Coarsened
from sfumato.data.error_model import Additive, Misclassified
from sfumato.errors import DataError

__all__ = [
    "COPY",
    "Additive",
    "Averaged",
    "Coarsened",
    "Disclosed",
    "Disclosure",
    "Dropped",
    "Exchanged",
    "Imputed",
    "Misclassified",
    "Protected",
    "Sampled",
    "Shuffled",
    "Suppressed",
    "Swapped",
    "Synthetic",
]


COPY = "copy"
"""The column that numbers synthetic copies."""


class _Disclosed(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    drawn: ClassVar[frozenset[str]] = frozenset()
    """Fields that tell, coarsely, what draws came to, so that another secret may change them."""

    columns: tuple[str, ...]


class Averaged(_Disclosed):
    """Values are centroids of `k` similar records within strata of `by` (Avraam, Jones and Burton 2021).

    Means are kept where `recentred`, standard deviations where `rescaled`, exactly or to a tenth of their standard
    errors (`moments`); relations within small neighbourhoods are smoothed away.
    """

    drawn: ClassVar[frozenset[str]] = frozenset({"restored"})

    what: Literal["averaged"] = "averaged"
    by: tuple[str, ...] = ()
    k: int
    grouping: str
    rescaled: bool
    recentred: bool
    rounded: bool | dict[str, float]
    """Whether values were rounded, or to which multiple by column."""
    clipped: bool
    blur: float = 0.0
    """Noise on each average, its sd as a share of the root mean square distance of the averaged records from it."""
    merged: tuple[str, ...] = ()
    """Columns of `by` in which small strata were merged into others, so that released categories changed."""
    moments: Literal["rounded", "exact"] = "exact"
    """Whether what was restored is kept to a tenth of its standard error, or exactly."""
    restored: dict[str, tuple[float | None, float | None]] = Field(default_factory=dict)
    """Rounded mean and standard deviation that were restored, by column; null for one that was not."""

    def left(self, number: bool) -> str:
        """What a second release of nearly the same people tells of the value of one who is not in both."""
        if self.grouping == "knn" or self.blur:
            return ""
        return "A second release without somebody may tell their value, by the averages that changed."

    def sentence(self) -> str:
        """The disclosure in words."""
        where = f" within each combination of {', '.join(self.by)}" if self.by else ""
        whose = f"the {self.k} most similar records" if self.grouping == "knn" else f"{self.k} or more similar records"
        text = f"{', '.join(self.columns)}: each value is the average of {whose}{where}"
        if self.blur:
            text += (
                f", with normal noise whose standard deviation is {self.blur:g} of the root mean square distance of "
                "those records from their average, column by column"
            )
        near = " to a tenth of its standard error" if self.moments == "rounded" else ""
        both = self.rescaled and self.recentred
        text += "; the spread was then restored" if self.rescaled else "; the spread is smaller than in the original"
        text += "" if both or not self.rescaled else near
        text += ", and the mean is kept" if self.recentred else ", and the mean may have moved a little"
        text += f", each{near}" if both and near else near if self.recentred else ""
        if self.rounded:
            steps = self.rounded if isinstance(self.rounded, dict) else {}
            text += _in_multiples(steps, self.columns) or "; then values were rounded"
        if self.clipped:
            text += "; values outside stated bounds were set to the bound, which changes mean and spread a little"
        if self.merged:
            text += f"; small groups were merged, which changed some categories of {', '.join(self.merged)}"
        return text + "."


class Dropped(_Disclosed):
    """Columns that the release does not have."""

    what: Literal["dropped"] = "dropped"
    reason: str = ""
    """Why, in the words of the plan."""

    def sentence(self) -> str:
        """The disclosure in words."""
        why = f" ({self.reason})" if self.reason else ""
        return f"{', '.join(self.columns)}: left out of the release{why}."


def _in_multiples(rounded: Mapping[str, float], columns: Collection[str]) -> str:
    """To what those of some columns were rounded, in words that follow; nothing where nothing is told."""
    steps = ", ".join(f"{n} to multiples of {step:g}" for n, step in rounded.items() if n in columns)
    return f"; then values were rounded, {steps}" if steps else ""


_TOLD = "A second release without somebody tells their value exactly."


_DRAWN_AGAIN = (
    "A second release without somebody draws donors anew in the groups that are no longer the same, so that none of "
    "their values follows for certain."
)


class Exchanged(_Disclosed):
    """Households changed places: `columns`, the areas from the top level down and what moves with them.

    Those with a member of whom fewer than `k` in the area are alike in `keys` changed places with one of another area
    of that level, and then up to the share `rate` of each lowest area. Partners are alike in the first of `similar`
    that has candidates, so that the households of an area and profile stay as many.
    """

    what: Literal["exchanged"] = "exchanged"
    geography: tuple[str, ...]
    keys: tuple[str, ...]
    k: int
    similar: tuple[tuple[str, ...], ...]
    rate: float = Field(ge=0, le=1)

    def left(self, number: bool) -> str:
        """What a second release of nearly the same people tells of the value of one who is not in both."""
        return _TOLD

    def sentence(self) -> str:
        """The disclosure in words."""
        areas, keys = ", ".join(self.geography), ", ".join(self.keys)
        profiles = ", else ".join(", ".join(profile) for profile in self.similar)
        carried = [n for n in self.columns if n not in self.geography]
        moved = f", with {', '.join(carried)}," if carried else ""
        return (
            f"{areas}: households{moved} were exchanged between areas with others alike in {profiles}: those with "
            f"somebody of whom fewer than {self.k} in the area have the same {keys}, and then up to {self.rate:.3g} of "
            "the households of each lowest area. How many households an area holds is as it was; what else is known "
            "of a household is true, but its place may not be."
        )


class Imputed(_Disclosed):
    """Missing values were filled in, so that spread and relations are understated."""

    what: Literal["imputed"] = "imputed"
    method: str

    def sentence(self) -> str:
        """The disclosure in words."""
        return f"{', '.join(self.columns)}: missing values were filled in by the {self.method}."


class Shuffled(_Disclosed):
    """Each column holds the values that it held, in an order drawn anew (Muralidhar and Sarathy 2006).

    Ranks were drawn given `given`, all columns together, within each combination of `by`: rank correlations among
    `columns` and with `given` are kept in expectation; relations with other variables only as far as `given` carries
    them.
    """

    what: Literal["shuffled"] = "shuffled"
    given: tuple[str, ...] = ()
    by: tuple[str, ...] = ()

    def left(self, number: bool) -> str:
        """What a second release of nearly the same people tells of the value of one who is not in both."""
        return _TOLD

    def sentence(self) -> str:
        """The disclosure in words."""
        where = f" of the same {', '.join(self.by)}" if self.by else ""
        text = f"{', '.join(self.columns)}: values were shuffled between records{where}, so that all values stay"
        among = " among the columns" if len(self.columns) > 1 else ""
        both = " and" if among and self.given else ""
        given = f" with {', '.join(self.given)}" if self.given else ""
        if not among and not given:
            return text + "; whose they are was drawn at random, and relations with other columns are gone."
        return f"{text}; rank correlations{among}{both}{given} are kept, others only as far as they follow from these."


class Suppressed(_Disclosed):
    """Records or cells were removed by a rule. `columns` are those that the rule looks at."""

    what: Literal["suppressed"] = "suppressed"
    rule: str
    cells: bool = False
    """Whether values of `columns` were taken out, rather than records."""

    def sentence(self) -> str:
        """The disclosure in words."""
        return f"{', '.join(self.columns) or 'all columns'}: {self.rule}."


class Swapped(_Disclosed):
    """Values of each column were exchanged between records: margins are kept, relations are weakened.

    `window` is the greatest distance in ranks between two that exchange, as a share of the records; None where
    records exchange with any other. `together` says that a record's columns moved as one. `perturb` is the share of
    ranks below and above within which numbers were then drawn anew; None where the values themselves stay.

    With `group` each value is that of a donor drawn, with replacement, from a group of at least so many similar
    records; `together` then lists sets of columns that have one donor each, `moved` is the share of records (to .05)
    whose combination had survived and was moved, and `relations_shift` the mean change of correlations (to .01).
    """

    drawn: ClassVar[frozenset[str]] = frozenset({"moved", "relations_shift"})

    what: Literal["swapped"] = "swapped"
    by: tuple[str, ...] = ()
    window: float | None = None
    together: bool | tuple[tuple[str, ...], ...] = False
    perturb: float | None = None
    group: int | None = None
    moved: float | None = None
    relations_shift: float | None = None
    rounded: dict[str, float] = Field(default_factory=dict)
    """Multiple that numbers drawn anew were rounded to, by column."""

    @property
    def sets(self) -> tuple[tuple[str, ...], ...]:
        """With `group`: the columns in sets that had one donor each, in the order of the columns."""
        together = () if isinstance(self.together, bool) else self.together
        of = {n: tuple(m for m in self.columns if m in each) for each in together for n in each}
        return tuple(dict.fromkeys(of.get(n, (n,)) for n in self.columns))

    def left(self, number: bool) -> str:
        """What a second release of nearly the same people tells of the value of one who is not in both."""
        if self.group is not None:
            return _DRAWN_AGAIN
        if number and self.perturb is not None:
            share = f"{self.perturb:.3g} of all ranks"
            return f"A second release without somebody tells a number of theirs to within {share} or nearer."
        return _TOLD

    def sentence(self) -> str:
        """The disclosure in words."""
        where = f" of the same {', '.join(self.by)}" if self.by else ""
        if self.group is not None:
            return self._within_groups(where)
        text = f"{', '.join(self.columns)}: values were exchanged between records{where}"
        if self.window is not None:
            text += f" whose ranks lie within {self.window:.3g} of all ranks"
        if len(self.columns) > 1:
            text += "; the columns moved together" if self.together else ", for each column anew"
        return text + self._anew() + "."

    def _anew(self) -> str:
        """How numbers were drawn anew."""
        if self.perturb is None:
            return ""
        share = f"{self.perturb:.3g} of all ranks"
        text = f"; numbers were then drawn anew, evenly between the values {share} below and above"
        return text + _in_multiples(self.rounded, self.columns)

    def _within_groups(self, where: str) -> str:
        """The disclosure of an exchange within groups, in words."""
        text = (
            f"{', '.join(self.columns)}: each value is that of a record drawn from at least {self.group} similar ones"
        )
        text += f"{where}, for each column anew" if len(self.columns) > 1 else where
        if self.together and not isinstance(self.together, bool):
            text += f" (as one: {'; '.join(', '.join(each) for each in self.together)})"
        text += self._anew()
        if self.moved:
            text += f"; combinations that had stayed unique were moved, in about {self.moved:.0%} of the records"
        if self.relations_shift is not None:
            text += f"; correlations moved by {self.relations_shift:.2f} on average"
        return text + "."


class Sampled(_Disclosed):
    """The release is a random sample of the records; `columns` is empty.

    `fraction` is the chance of each record, simple or within each stratum of `by`. The column `weight`, where there is
    one, was divided by it.
    """

    what: Literal["sampled"] = "sampled"
    columns: tuple[str, ...] = ()
    by: tuple[str, ...] = ()
    fraction: float = Field(gt=0, le=1)
    weight: str | None = None

    def sentence(self) -> str:
        """The disclosure in words."""
        where = f" within each combination of {', '.join(self.by)}" if self.by else ""
        text = f"all columns: the release is a random sample of {self.fraction:.3g} of the records{where}"
        return text + (f"; the weights in {self.weight} were divided by it." if self.weight else ".")


class Protected(_Disclosed):
    """A fit of `columns` that no record can move far, of a subsample, with noise on its score.

    `subsample` is the share of records that it looks at; `tau` the noise's standard deviation as a multiple of what one
    record can move the standardised score by; `n` the records, to a multiple of 10; `widening` how many times as wide
    as without protection intervals are.
    """

    what: Literal["protected"] = "protected"
    subsample: float = Field(gt=0, le=1)
    tau: float = Field(gt=0)
    n: int = Field(ge=0)
    widening: float = Field(ge=0)

    def sentence(self) -> str:
        """The disclosure in words."""
        return (
            f"{', '.join(self.columns)}: fitted to {self.subsample:.0%} of the records, of whom none counts for more "
            f"than a bound, with normal noise of {self.tau:.3g} times that bound on the score; standard errors hold "
            f"it, and the intervals are {self.widening:g} times as wide as they would be without."
        )


class Synthetic(_Disclosed):
    """Values of `columns` were drawn from models, in `copies` copies.

    `kind`: `full`, every column, rows are nobody's; `partial`, some columns, or records, of the true people; `missing`,
    missing cells. `ratio` is the number of a copy's rows over that of the original's, to 3 digits; `proper` whether
    models were fitted anew for each copy; `households`, `persons` whether whole households were drawn, or whole persons
    with all their rows; `structure` whether nothing of the data is in them but names and kinds; `rounded` the multiple
    that numbers drawn between true ones were rounded to, by column.
    """

    what: Literal["synthetic"] = "synthetic"
    kind: Literal["full", "partial", "missing"]
    copies: int = Field(ge=1)
    ratio: float = Field(default=1.0, gt=0)
    proper: bool = False
    by: tuple[str, ...] = ()
    households: bool = False
    persons: bool = False
    structure: bool = False
    rounded: dict[str, float] = Field(default_factory=dict)

    def __init__(self, columns: Iterable[str] = (), **given: Any) -> None:
        super().__init__(columns=tuple(columns), **given)

    def sentence(self) -> str:
        """The disclosure in words."""
        whose = {
            "full": "no row is a person's",
            "partial": "the people are true, these values are not",
            "missing": "values that were missing were filled in",
        }[self.kind]
        many = "1 copy" if self.copies == 1 else f"{self.copies} copies, numbered in the column copy"
        if self.structure:
            return (
                f"{', '.join(self.columns)}: names and kinds alone, with ranges and categories that are the plan's or "
                f"stand for any; no row is a person's. There {'is' if self.copies == 1 else 'are'} {many}. Write and "
                "try programs with these data, and have them run on the true data by whoever holds them: no estimate "
                "from these means anything."
            )
        rounded = _in_multiples(self.rounded, self.columns)
        size = f", each with {self.ratio:g} times as many rows as there are records" if self.ratio != 1 else ""
        where = f", apart for each combination of {', '.join(self.by)}" if self.by else ""
        homes = ""
        if self.households or self.persons:
            whole, parts = ("households", "people") if self.households else ("persons", "rows")
            homes = (
                f" Whole {whole} were drawn: {parts} of one are alike, and intervals that take {parts} for independent "
                "of each other are too narrow."
            )
        return (
            f"{', '.join(self.columns)}: drawn from models of the data{where}; {whose}{rounded}. "
            f"There are {many}{size}.{homes} Relations that the models leave out are not in these data: what is found "
            "in one copy, or missing in all, is not to be concluded of the people. Fit every copy and combine (`fit` "
            "does), and have final figures run on the true data by whoever holds them (`compare --model`)."
        )


Disclosed = Annotated[
    Additive
    | Averaged
    | Coarsened
    | Dropped
    | Exchanged
    | Imputed
    | Misclassified
    | Protected
    | Sampled
    | Shuffled
    | Suppressed
    | Swapped
    | Synthetic,
    Field(discriminator="what"),
]
_KINDS = get_args(get_args(Disclosed)[0])
_ADAPTER: TypeAdapter[tuple[Disclosed, ...]] = TypeAdapter(tuple[Disclosed, ...])


class Disclosure:
    """All that a release tells its analysts, in the order of the steps.

    Parameters
    ----------
    parts
        Each a sentence of its own. What stands twice was done twice.

    Raises
    ------
    DataError
        For anything but parts.

    Examples
    --------
    >>> Disclosure([Imputed(columns=("age",), method="median")]).sentences()
    ('age: missing values were filled in by the median.',)
    >>> Disclosure([Additive(("bmi",), [[0.25]])]).of("bmi")[0].sd.tolist()
    [0.5]
    """

    def __init__(self, parts: Iterable[Disclosed] = ()) -> None:
        found: list[Disclosed] = []
        for part in parts:
            if not isinstance(part, _KINDS):
                raise DataError("A disclosure is a list of parts, for instance Disclosure([Additive(...)]).")
            again = any(part is other for other in found)
            found.append(part.model_copy() if again else part)  # parts are told apart by their identity
        self.parts = tuple(found)

    @classmethod
    def of_any(cls, told: Disclosure | Disclosed | Iterable[Disclosed] | None) -> Disclosure:
        """Take a disclosure, parts in a list, one part, or None for nothing.

        Raises
        ------
        DataError
            For anything else.

        Examples
        --------
        >>> len(Disclosure.of_any(Additive(("bmi",), [[0.25]]))), len(Disclosure.of_any(None))
        (1, 0)
        """
        if isinstance(told, cls):
            return told
        if isinstance(told, _KINDS):
            return cls([told])
        if told is not None and not isinstance(told, list | tuple):
            raise DataError(
                f"{type(told).__name__!r} is no disclosure. Give Disclosure([...]), or a list of its parts, for "
                "instance of Additive or Misclassified."
            )
        return cls(told or ())

    @property
    def synthetic(self) -> Synthetic | None:
        """What is synthetic; None where nothing is."""
        return next((part for part in self.parts if isinstance(part, Synthetic)), None)

    @property
    def without_synthetic(self) -> Disclosure:
        """What is disclosed beside: that of one copy."""
        return Disclosure(tuple(part for part in self.parts if not isinstance(part, Synthetic)))

    def __iter__(self) -> Iterator[Disclosed]:
        return iter(self.parts)

    def __len__(self) -> int:
        return len(self.parts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Disclosure) and self.parts == other.parts

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Disclosure({', '.join(self.sentences())})"

    def of(self, column: str) -> tuple[Disclosed, ...]:
        """The parts that speak of a column."""
        return tuple(part for part in self.parts if column in part.columns)

    def sentences(self) -> tuple[str, ...]:
        """Each part in words; what is said of every stratum alike stands once."""
        return tuple(dict.fromkeys(part.sentence() for part in self.parts))

    def to_plain(self) -> list[dict[str, object]]:
        """Plain values for `datapackage.json`."""
        return [part.model_dump(mode="json") for part in self.parts]

    @classmethod
    def from_plain(cls, plain: object) -> Disclosure:
        """Read what `to_plain` wrote.

        Raises
        ------
        DataError
            Where it is something else.
        """
        try:
            return cls(_ADAPTER.validate_python(plain))
        except ValidationError:
            raise DataError("This is not a disclosure as sfumato writes it into datapackage.json.") from None
