"""One column of a step `recode` as its editor sees it, and each change of it as one edit of the plan's text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sfumato.api.recoding import Valued, rounded, valued
from sfumato.data.codebook import Scalar
from sfumato.data.files.hierarchies import hierarchy_of, hierarchy_text, mapping_text
from sfumato.data.grouping import Broader, apart, category, rare_together, renamed, together
from sfumato.data.hierarchy import Hierarchy, text_of
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import DataError
from sfumato.methods.banding import Bands, labels_of
from sfumato.methods.base import Method
from sfumato.methods.generalising import OTHER
from sfumato.methods.recode import Recode
from sfumato.plan.editing.edits import add
from sfumato.plan.editing.parts import set_parts
from sfumato.plan.plan import Plan
from sfumato.web.studio.beside import file_of
from sfumato.web.studio.stepped import plain_steps, previewer
from sfumato.web.studio.stepping import changed
from sfumato.web.studio.studio import Studio

__all__ = ["MOST_INLINE", "Banding", "Subject", "Tree", "banding", "own_step", "subject", "tree"]

MOST_INLINE = 1_000
"""Values of a tree that stands in the plan; a longer one goes into a file beside it."""
_MOST_TEXT = 200_000
_WAYS = ("map", "other", "band", "labels", "level", "hierarchy", "hierarchies", "unknown")
_NOTHING_LEFT = "Nothing would be together any more. Remove the step if it is not wanted, or undo."


@dataclass(frozen=True)
class Subject:
    """What is edited.

    Parameters
    ----------
    studio
        Of which plan.
    step
        Its position; None for one that is to be added.
    column
        The column.
    columns
        All columns of the step, which are recoded alike.
    plain
        The step as the plan writes it.
    method
        The step; None for one that is to be added.
    data
        The table as it enters the step.
    whole
        Whether that is the whole file.
    at
        Where the step is, or will be put.
    """

    studio: Studio
    step: int | None
    column: str
    columns: tuple[str, ...]
    plain: Mapping[str, Any]
    method: Recode | None
    data: PolarsDataset
    whole: bool
    at: int

    def written(self, way: Mapping[str, Any]) -> Callable[[str], str]:
        """The edit that makes the step recode in some way.

        Parameters
        ----------
        way
            Parameters of `recode` beside its columns.
        """
        value = {key: part for key, part in self.plain.items() if key not in _WAYS} | dict(way)

        def edit(text: str) -> str:
            if self.step is None:
                return add(text, ["steps"], self.at, value)
            for key in ("map", "hierarchy"):
                if isinstance(way.get(key), Mapping) and isinstance(self.plain.get(key), Mapping):
                    text = set_parts(text, ["steps", self.step, key], way[key])
            return changed(text, ["steps", self.step], value)

        return edit


def subject(studio: Studio, step: int | None, column: str) -> Subject:
    """A column of a step `recode`, or of one that is to be added where it belongs: before what masks other columns.

    Raises
    ------
    DataError
        There is no such step, or the column is none of it.
    PlanError
        Steps before cannot run.
    """
    plan, steps = studio.planned.plan, plain_steps(studio.planned.text)
    method: Recode | None = None
    plain: dict[str, Any] = {"do": "recode", "columns": [column]}
    if step is not None:
        found = plan.steps[step] if 0 <= step < len(plan.steps) else None
        if not isinstance(found, Recode) or column not in found.columns:
            raise DataError("There is no such step any more, or it does not recode this column.")
        method, plain = found, steps[step]
    at = _place(plan, column) if step is None else step
    data, whole = previewer(studio.opened).entering(plan, at, column)
    if column not in data.frame.columns:
        raise DataError("There is no such column, as the table enters this step.")
    columns = (column,) if method is None else method.columns
    return Subject(studio, step, column, columns, plain, method, data, whole, at)


def _place(plan: Plan, column: str) -> int:
    """Where a new step goes: values are made coarser before others are blurred, and can be no numbers afterwards."""
    if any(step.masks and column in step.changes for step in plan.steps):
        return len(plan.steps)
    looks = (i for i, step in enumerate(plan.steps) if step.masks or (step.coarsens and column in _looked_at(step)))
    return next(looks, len(plan.steps))


def _looked_at(step: Method) -> set[str]:
    """The columns that a step looks at and leaves as they are, such as those whose rare combinations it leaves out."""
    return {*step.strata, *step.reads, *(getattr(step, "keys", ()) or ())} - set(step.changes)


def own_step(of: Subject) -> Callable[[str], str]:
    """The edit that takes a column out of a step, and gives it a step of its own after that."""
    step = of.step
    if step is None or len(of.columns) < 2:
        raise DataError("The column has a step of its own.")
    rest = [n for n in of.columns if n != of.column]
    own = {**of.plain, "columns": [of.column]}

    def edit(text: str) -> str:
        text = changed(text, ["steps", step], {**of.plain, "columns": rest})
        return add(text, ["steps"], step + 1, own)

    return edit


# categories


@dataclass(frozen=True)
class Tree:
    """The categories of a column.

    Parameters
    ----------
    of
        What is edited.
    values
        The values that there are.
    broader
        The categories above each.
    flat
        Whether there is one level, as `map` has it.
    level
        Which level values are recoded to.
    rest
        What becomes of values that it does not list: of one level `keep`, `missing` or `error`, of several `error`,
        `missing` or `other`.
    """

    of: Subject
    values: tuple[Valued, ...]
    broader: Broader
    flat: bool
    level: int
    rest: str = "keep"

    @property
    def height(self) -> int:
        """The broadest level that has categories of its own."""
        return max((len(above) for above in self.broader.values()), default=0)

    @property
    def records(self) -> dict[str, int]:
        """By text of a value, how many have it."""
        return {one.text: one.records for one in self.values}

    @property
    def unlisted(self) -> tuple[Valued, ...]:
        """Values that there are and the tree does not list."""
        return tuple(one for one in self.values if one.text not in self.broader)

    # what is done to it

    def grouped(self, nodes: Sequence[tuple[int, str]], name: str) -> Tree:
        """Put chosen categories and values together."""
        if self.flat:
            return self._with(together(self.broader, self._values_of(nodes), 1, name))
        level = max((level for level, _ in nodes), default=0)
        for own, label in nodes:
            if own < level and any(len(self.broader.get(v, ())) > own for v in self._values_of([(own, label)])):
                raise DataError("Choose categories of one level, or such as lie in no other.")
        return self._with(together(self.broader, self._values_of(nodes), level + 1, name))

    def named(self, nodes: Sequence[tuple[int, str]], name: str) -> Tree:
        """Give one category another name."""
        if len(nodes) != 1:
            raise DataError("Choose the one category that is to be renamed.")
        ((level, label),) = nodes
        if not level:
            return self.grouped(nodes, name)
        return self._with(renamed(self.broader, level, label, name))

    def split(self, nodes: Sequence[tuple[int, str]]) -> Tree:
        """Dissolve chosen categories, and take chosen values out of theirs."""
        if not nodes:
            raise DataError("Choose the categories first.")
        return self._with(apart(self.broader, nodes))

    def rare(self, least: int, name: str) -> Tree:
        """Put categories of few records together."""
        return self._with(rare_together(self.broader, self.records, 1 if self.flat else self.level, least, name))

    def several(self) -> Tree:
        """Take groups for the first of several levels; values that stay as they are are listed then."""
        every = {one.text: () for one in self.values} if self.rest == "keep" else {}
        rest = "error" if self.rest == "keep" else self.rest
        return replace(self, broader=every | dict(self.broader), flat=False, level=1, rest=rest)

    def single(self) -> Tree:
        """Take the level that values are recoded to for the only one."""
        found = {value: category(value, above, self.level) for value, above in self.broader.items()}
        if self.rest == "other":
            found |= {one.text: OTHER for one in self.unlisted}
        kept = {value: (name,) if name != value else () for value, name in found.items()}
        rest = "missing" if self.rest == "missing" else "keep"
        return replace(self, broader=kept, flat=True, level=1, rest=rest)

    def kept(self, nodes: Sequence[tuple[int, str]]) -> Tree:
        """List chosen values, each as itself."""
        values = [value for value in self._values_of(nodes) if value not in self.broader]
        if not values:
            raise DataError("Choose values that would not stay.")
        return self._with({**self.broader, **dict.fromkeys(values, ())})

    def unlist(self, nodes: Sequence[tuple[int, str]]) -> Tree:
        """List chosen values no more."""
        gone = set(self._values_of(nodes)) & set(self.broader)
        if not gone:
            raise DataError("Choose values that would stay.")
        return self._with({value: above for value, above in self.broader.items() if value not in gone})

    def listing(self) -> Tree:
        """List all values, those that are new each as itself."""
        return self._with({**self.broader, **{one.text: () for one in self.unlisted}})

    def by_prefixes(self, lengths: Sequence[int]) -> Tree:
        """Group codes by their first characters."""
        made = Hierarchy.prefixes([one.text for one in self.values], lengths)
        paths = {path[0]: tuple(n for i, n in enumerate(path) if i and n != path[i - 1]) for path in made.paths}
        return replace(self, broader=paths, flat=False, level=1, rest="error")

    def to_level(self, level: int) -> Tree:
        """Recode to another level."""
        if self.flat or not 1 <= level <= self.height:
            raise DataError(f"The tree has levels 1 to {self.height}.")
        return replace(self, level=level)

    def read(self, text: str, name: str) -> Tree:
        """Take the tree of a file in place of this one."""
        made = hierarchy_of(text, name)
        flat = made.height <= 2
        broader = {path[0]: path[1:] for path in made.paths}
        if not any(broader.values()):
            raise DataError(f"{name}: it names no group: a line has a value, then its group.")
        rest = self.rest if self.flat == flat else "keep" if flat else "error"
        return replace(self, broader=broader, flat=flat, level=1, rest=rest)

    def _with(self, broader: Broader) -> Tree:
        return replace(self, broader=broader)

    def _values_of(self, nodes: Sequence[tuple[int, str]]) -> list[str]:
        """The values in categories."""
        chosen = set(nodes)
        every = dict.fromkeys([*(one.text for one in self.values), *self.broader])
        return [v for v in every if any((i, n) in chosen for i, n in enumerate((v, *self.broader.get(v, ()))))]

    # as text

    def edit(self) -> Callable[[str], str]:
        """The edit that writes it: a map, a hierarchy in the plan, or one in a file beside it."""
        if not any(self.broader.values()) and (not self.flat or self.rest == "keep" or not self.broader):
            raise DataError(_NOTHING_LEFT)
        size = sum(len(text) for value, above in self.broader.items() for text in (value, *above))
        large = len(self.broader) > MOST_INLINE or size > _MOST_TEXT
        filed = self.of.plain.get("hierarchies") is not None and len(self.of.columns) > 1
        if self.flat and not (large or filed):
            return self.of.written(self._map())
        tree = self.several() if self.flat else self
        tree = replace(tree, level=min(tree.level, tree.height))
        if self._by_column and not (large or filed):
            raise DataError("Each column of the step has a tree of its own. Give this one a step of its own first.")
        return self.of.written(tree._filed() if large or filed else tree._inline())

    @property
    def _by_column(self) -> bool:
        plain = self.of.plain
        own = "level" in plain and plain.get("hierarchy") is None
        return own and len(self.of.columns) > 1

    def _map(self) -> dict[str, Any]:
        old: Mapping[Scalar, Scalar] = self.of.plain.get("map") or {}
        raw, names = {text_of(key): key for key in old}, {text_of(name): name for name in old.values()}
        same = {text_of(key) for key, name in old.items() if text_of(key) == text_of(name)}
        there = {one.text: one.value for one in self.values}
        found: dict[Scalar, Scalar] = {}
        for value, above in self.broader.items():
            key = raw.get(value, there.get(value, self._typed(value)))
            if above:
                found[key] = names.get(above[-1], above[-1])
            elif self.rest != "keep" or value in same:  # it stays, and is not taken for one that is not listed
                found[key] = key
        return {"map": found} | ({"other": self.rest} if self.rest != "keep" else {})

    def _typed(self, value: str) -> Scalar:
        dtype = self.of.data.frame.schema[self.of.column]
        if not dtype.is_numeric():
            return value
        try:
            return rounded((float(value),))[0]
        except ValueError:
            said = "The column holds numbers, and the tree lists values that are none."
            raise DataError(said) from None

    @property
    def _unknown(self) -> dict[str, Any]:
        return {"unknown": self.rest} if self.rest != "error" else {}

    def _inline(self) -> dict[str, Any]:
        tree = {value: list(above) for value, above in self.broader.items()}
        raw = {text_of(key): key for key in self.of.plain.get("hierarchy") or {}}
        return {"level": self.level, "hierarchy": {raw.get(v, v): a for v, a in tree.items()}, **self._unknown}

    def _filed(self) -> dict[str, Any]:
        hierarchy = _hierarchy(self.broader)
        text = hierarchy_text(hierarchy)
        name = file_of(self.of.column)
        if not _comes_back(text, name):
            raise DataError(
                "The tree is too long for the plan, and no file can hold it: values begin or end with blanks. Prepare "
                "the column first."
            )
        studio, mine = self.of.studio, {name: text.encode()}
        folder = self.of.method.hierarchies if self.of.method is not None else None
        for other in self.of.columns:
            if other != self.of.column and folder is not None:
                mine |= _there(studio, folder.folder, other)
            elif other != self.of.column and not self._by_column:
                mine[file_of(other)] = text.encode()
        made = studio.planned.beside.made(studio.opened.source.path.stem, mine)
        return {"level": self.level, "hierarchies": made, **self._unknown}

    def to_csv(self, form: str) -> str:
        """It as the text of a file: `arx`, or `mapping` of each value to its category on the level."""
        if form == "arx":
            return hierarchy_text(_hierarchy(self.several().broader))
        every = dict.fromkeys([*(one.text for one in self.values), *self.broader])
        return mapping_text({v: category(v, self.broader.get(v, ()), self.level) for v in every})


def _comes_back(text: str, name: str) -> bool:
    """Whether the file of a hierarchy is read as it was written."""
    try:
        return hierarchy_text(hierarchy_of(text, name)) == text
    except DataError:
        return False


def _there(studio: Studio, folder: str, column: str) -> dict[str, bytes]:
    """The file of another column, as it lies in the folder of hierarchies."""
    for end in (".csv", ".hrc"):
        path = studio.planned.base / folder / f"{column}{end}"
        if path.is_file():
            return {path.name: path.read_bytes()}
    return {}


def tree(of: Subject) -> Tree:
    """The categories of a column, as the step has them.

    Raises
    ------
    DataError
        The column holds none.
    FileError
        The folder of hierarchies is not there.
    """
    values, method = valued(of.data, of.column), of.method
    if method is None or method.band is not None:
        return Tree(of, values, {}, True, 1)
    if method.map is not None:
        named = ((text_of(value), text_of(group)) for value, group in method.map.items())
        groups = {value: (group,) if group != value else () for value, group in named}
        return Tree(of, values, groups, True, 1, method.other)
    own = Hierarchy.mapping(method.hierarchy) if method.hierarchy is not None else _of_file(of, method)
    own = own or Hierarchy.of(of.data.codebook[of.column])
    if own is None:
        return Tree(of, values, {}, True, 1)
    shown = {path[0]: path[1:] for path in own.paths}
    return Tree(of, values, shown, False, method.level or 1, method.unknown)


def _of_file(of: Subject, method: Recode) -> Hierarchy | None:
    """The hierarchy of a file beside the plan, where there is one of the column."""
    files = method.hierarchies
    if files is None or not _there(of.studio, files.folder, of.column):
        return None
    return files.read(of.studio.planned.base, [of.column])[of.column]


def _hierarchy(broader: Broader) -> Hierarchy:
    return Hierarchy(tuple((value, *above) for value, above in broader.items()))


# bands


@dataclass(frozen=True)
class Banding:
    """The bands of a column of numbers.

    Parameters
    ----------
    of
        What is edited.
    points
        Cut points.
    names
        Those of the bands that are not made of the cut points, by the band's position.
    rule
        How they are learned at each run; None where they are given.
    """

    of: Subject
    points: tuple[float, ...]
    names: Mapping[int, str]
    rule: Bands | None

    @property
    def labels(self) -> tuple[str, ...]:
        """Of every band."""
        made = labels_of(self.points) if self.points else ("all values",)
        return tuple(self.names.get(i, label) for i, label in enumerate(made))

    def edit(self) -> Callable[[str], str]:
        """The edit that writes it."""
        if self.rule is not None:
            return self.of.written({"band": self.rule.model_dump(exclude_defaults=True) | {"n": self.rule.n}})
        if not self.points:
            raise DataError("Give at least one number at which a band begins.")
        way: dict[str, Any] = {"band": list(rounded(self.points))}
        return self.of.written(way | ({"labels": list(self.labels)} if self.names else {}))


def banding(of: Subject) -> Banding:
    """The bands of a column, as the step has them.

    Raises
    ------
    DataError
        The column holds no numbers, or none can be learned.
    """
    from sfumato.api.recoding import cuts

    method = of.method
    if method is None or method.band is None:
        return Banding(of, (), {}, None)
    if isinstance(method.band, Bands):
        points = cuts(of.data, of.column, method.band)
        return Banding(of, points, dict(enumerate(method.labels or ())), method.band)
    made = labels_of(method.band)
    names = {i: said for i, said in enumerate(method.labels or ()) if said != made[i]}
    return Banding(of, method.band, names, None)
