"""Files of hierarchies: the form of ARX, pairs of code and parent, and `.hrc`."""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field

from sfumato.data.described import Described
from sfumato.data.files.atomic import replacing
from sfumato.data.hierarchy import EVERYTHING, Hierarchy
from sfumato.errors import DataError, FileError

__all__ = [
    "Form",
    "HierarchyFiles",
    "HierarchyFolder",
    "digest",
    "hierarchy_of",
    "hierarchy_text",
    "mapping_text",
    "read_folder",
    "read_hierarchy",
    "write_hierarchy",
]

Form = Literal["arx", "parents", "hrc"]
_LARGEST = 64 << 20
_SIGNS = ";,\t|"
_PARENTS = ("code", "parent")
_MAPPING = ("value", "group")
_DEEPEST = 100
_LEAD = "@"


class HierarchyFiles(Described):
    """A folder with a file for each key; in a plan as it was run with the digests of what stood there.

    Parameters
    ----------
    folder
        The folder, as seen from the plan.
    sha256
        By key, the digest of the hierarchy that was used.

    Examples
    --------
    >>> HierarchyFiles(folder="hierarchies").sha256
    {}
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    folder: str = Field(min_length=1)
    sha256: dict[str, str] = Field(default_factory=dict)

    def read(self, base: Path, keys: Sequence[str]) -> dict[str, Hierarchy]:
        """Read the hierarchies of keys; those of a plan as it was run must be the ones that it names.

        Raises
        ------
        FileError, DataError
            As in `read_folder`; where a file holds another hierarchy than the plan was run with.
        """
        found = read_folder(base / self.folder, keys)
        if other := [key for key, known in self.sha256.items() if key not in found or digest(found[key]) != known]:
            raise DataError(
                f"The hierarchies of {', '.join(other)} in {self.folder!r} are not those that the plan was run with "
                "(sha256). Give these, or take `sha256` out of the plan."
            )
        return found


def _named(given: Any) -> Any:
    return {"folder": given} if isinstance(given, str) else given


HierarchyFolder = Annotated[HierarchyFiles, BeforeValidator(_named, json_schema_input_type=str | HierarchyFiles)]
"""A folder of hierarchies, as a plan may name it: by its path alone."""


def read_hierarchy(path: Path, lead: str = _LEAD) -> Hierarchy:
    """Read a hierarchy.

    Three forms are known. ARX: a line for each value with its broader categories, no names of columns; a last column of
    `*` is dropped. Pairs: two columns under the names `code` and `parent`, the parent empty or `*` on top. `.hrc`: a
    category on each line, one `@` before it for each level below the first.

    Parameters
    ----------
    path
        The file.
    lead
        What stands before a category of `.hrc` for each level, where it is not `@` (HIERLEADSTRING in tau-Argus).
        Categories may then begin with `@`.

    Raises
    ------
    FileError
        A file that is missing, too large or not in UTF-8.
    DataError
        Gaps, cycles, two parents, a value that stands twice. The message names the file and lines, never values.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "town.csv").write_text("Leeds;North;*\\nBath;South;*\\n")
    ...     read_hierarchy(Path(folder) / "town.csv").paths
    (('Leeds', 'North'), ('Bath', 'South'))
    """
    return hierarchy_of(_text(path), path.name, lead)


def hierarchy_of(text: str, name: str, lead: str = _LEAD) -> Hierarchy:
    """A hierarchy from the text of a file, in one of the forms of `read_hierarchy`.

    Parameters
    ----------
    text
        What stands in the file. Names of columns such as `level 0;level 1`, or `value,group`, are no value.
    name
        Of the file: one that ends in `.hrc` is of that form, and errors begin with it.
    lead
        What stands before a category of `.hrc` for each level.

    Raises
    ------
    DataError
        As `read_hierarchy`.

    Examples
    --------
    >>> hierarchy_of("level 0;level 1\\nLeeds;North\\nBath;South\\n", "town.csv").paths
    (('Leeds', 'North'), ('Bath', 'South'))
    >>> hierarchy_of("@home\\n#@sofa\\n# @ bed\\n", "place.hrc", lead="#").paths
    (('@sofa', '@home'), ('@ bed', '@home'))
    """
    _refuse_lead(lead)
    try:
        if name.lower().endswith(".hrc"):
            return Hierarchy(tuple(_of_indented(text, lead)))
        lines = [line for line in csv.reader(io.StringIO(text), delimiter=_sign(text), strict=True) if any(line)]
        head = tuple(cell.strip().lower() for cell in lines[0]) if lines else ()
        if head == _PARENTS:
            return Hierarchy.parents(_of_parents(lines[1:]))
        return Hierarchy(tuple(_of_columns(lines, 2 if _are_names(head) else 1)))
    except csv.Error:
        raise DataError(f"{name}: a line is badly quoted.") from None
    except DataError as error:
        raise DataError(f"{name}: {error}") from None


def _are_names(head: tuple[str, ...]) -> bool:
    """Whether a first line names the columns."""
    levels = tuple("".join(cell.split()).removeprefix("level") for cell in head)
    numbered = all(cell.startswith("level") for cell in head) and levels == tuple(map(str, range(len(head))))
    return head == _MAPPING or (len(head) > 1 and numbered)


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST + 1)
    except FileNotFoundError:
        raise FileError(f"{str(path)!r} does not exist.") from None
    except OSError as error:
        raise FileError(f"{str(path)!r} cannot be read: {error.strerror}.") from None
    if len(content) > _LARGEST:
        raise FileError(f"{str(path)!r} is larger than {_LARGEST >> 20} MB, which no hierarchy is.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise FileError(f"{str(path)!r} is not a text file in UTF-8.") from None


def _sign(text: str) -> str:
    """The delimiter: the sign that the first line has most of; a semicolon where it has none."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    return max(_SIGNS, key=lambda sign: (first.count(sign), sign == ";"))


def _of_columns(lines: Sequence[Sequence[str]], first: int) -> Iterator[tuple[str, ...]]:
    rows = [tuple(cell.strip() for cell in line) for line in lines[first - 1 :]]
    if rows and all(row[-1] == EVERYTHING for row in rows):
        rows = [row[:-1] for row in rows]
    for number, row in enumerate(rows, first):
        held = len(row) - next((i for i, cell in enumerate(reversed(row)) if cell), len(row))
        if not all(row[:held]) or not held:
            raise DataError(f"line {number} has a gap: a broader category stands after an empty one.")
        yield row[:held]


def _of_parents(lines: Sequence[Sequence[str]]) -> dict[str, str | None]:
    parents: dict[str, str] = {}
    for number, line in enumerate(lines, 2):
        cells = [cell.strip() for cell in line]
        if len(cells) != len(_PARENTS) or not cells[0]:
            raise DataError(f"line {number} is no pair of a code and its parent.")
        if cells[0] in parents:
            raise DataError(f"line {number} gives a code a second parent.")
        parents[cells[0]] = "" if cells[1] == EVERYTHING else cells[1]
    above = {parent for parent in parents.values() if parent}
    if unlisted := above - set(parents):
        if "" in parents.values():
            number = next(n for n, parent in enumerate(parents.values(), 2) if parent in unlisted)
            raise DataError(f"line {number} has a parent that no line lists.")
        parents |= dict.fromkeys(unlisted, "")  # nothing is listed as a top, so what is not listed is one
    return {code: parent or None for code, parent in parents.items()}


def _refuse_lead(lead: str) -> None:
    if not lead or lead != "".join(lead.split()):
        raise DataError("What stands before a category for each level (`lead`) is a sign or several, without blanks.")


def _of_indented(text: str, lead: str) -> Iterator[tuple[str, ...]]:
    stack: list[str] = []
    lines = [(n, *_depth(line, lead)) for n, line in enumerate(text.splitlines(), 1) if line.strip()]
    for (number, depth, code), below in zip(lines, [*(depth for _, depth, _ in lines[1:]), 0], strict=True):
        if depth > len(stack) or depth > _DEEPEST:
            raise DataError(f"line {number} has a gap: it lies more than one level below the line before.")
        if not code:
            raise DataError(f"line {number} has no category.")
        stack = [*stack[:depth], code]
        if below <= depth:
            yield tuple(reversed(stack))


def _depth(line: str, lead: str) -> tuple[int, str]:
    """How far below the first level a line lies, and its category; blanks around either say nothing."""
    depth, code = 0, line.strip()
    while code.startswith(lead):
        depth, code = depth + 1, code.removeprefix(lead).lstrip()
    return depth, code


def write_hierarchy(hierarchy: Hierarchy, path: Path, form: Form = "arx", lead: str = _LEAD) -> None:
    """Write a hierarchy; `read_hierarchy` reads it as it was, but for the depth of branches in the form of ARX.

    Parameters
    ----------
    hierarchy
        What to write.
    path
        Where to.
    form
        `arx`, `parents` or `hrc`; that of a path that ends in `.hrc` is always the last.
    lead
        What stands before a category of `.hrc` for each level.

    Raises
    ------
    FileError
        Where nothing can be written there.
    DataError
        Where a category of one name stands in two places, which only the form of ARX can tell apart; in `.hrc`, where
        one begins with the lead.
    """
    text = hierarchy_text(hierarchy, "hrc" if path.suffix.lower() == ".hrc" else form, lead)
    with replacing(path) as temporary:
        temporary.write_bytes(text.encode())


def hierarchy_text(hierarchy: Hierarchy, form: Form = "arx", lead: str = _LEAD) -> str:
    """A hierarchy as the text of a file.

    Examples
    --------
    >>> print(hierarchy_text(Hierarchy((("Leeds", "North"), ("Bath", "South"))), "hrc"), end="")
    North
    @Leeds
    South
    @Bath
    """
    if form == "arx":
        levels = [hierarchy.level(number) for number in range(hierarchy.height + 1)]
        return _csv([[level[leaf] for level in levels] for leaf in hierarchy.leaves], ";")
    _refuse_one_name_twice(hierarchy)
    if form == "parents":
        pairs = {child: above for path in hierarchy.paths for child, above in zip(path, [*path[1:], ""], strict=True)}
        return _csv([_PARENTS, *pairs.items()], ",")
    _refuse_lead(lead)
    if any(label.lstrip().startswith(lead) for path in hierarchy.paths for label in path):
        raise DataError(
            f"A category begins with {lead}, which stands for a level in .hrc. Give another `lead`, or write .csv."
        )
    return "".join(f"{lead * depth}{label}\n" for depth, label in _indented(hierarchy))


def mapping_text(groups: Mapping[str, str]) -> str:
    """A mapping as the text of a file: a line for each value with its group, below the names of the two columns.

    Examples
    --------
    >>> print(mapping_text({"Leeds": "North"}), end="")
    value,group
    Leeds,North
    """
    return _csv([_MAPPING, *groups.items()], ",")


def _indented(hierarchy: Hierarchy) -> Iterator[tuple[int, str]]:
    before: tuple[str, ...] = ()
    for path in sorted(hierarchy.paths, key=lambda path: _first_seen(hierarchy, path)):
        down = tuple(reversed(path))
        same = next((i for i, (a, b) in enumerate(zip(before, down, strict=False)) if a != b), len(before))
        yield from ((depth, down[depth]) for depth in range(same, len(down)))
        before = down


def _first_seen(hierarchy: Hierarchy, path: Sequence[str]) -> list[int]:
    """Places of a path's categories in the order of the file, from the top: branches stand together."""
    place: dict[str, int] = {}
    for number, other in enumerate(hierarchy.paths):
        for label in other:
            place.setdefault(label, number)
    return [place[label] for label in reversed(path)]


def _refuse_one_name_twice(hierarchy: Hierarchy) -> None:
    above: dict[str, tuple[str, ...]] = {}
    for path in hierarchy.paths:
        for i, label in enumerate(path):
            if above.setdefault(label, path[i + 1 :]) != path[i + 1 :]:
                raise DataError("One name stands for two categories of the hierarchy. Only the form of ARX tells them.")


def _csv(lines: Iterable[Iterable[str]], sign: str) -> str:
    out = io.StringIO()
    csv.writer(out, delimiter=sign, lineterminator="\n").writerows(lines)
    return out.getvalue()


def read_folder(folder: Path, keys: Sequence[str]) -> dict[str, Hierarchy]:
    """Read the hierarchies of keys from a folder: `age.csv` or `age.hrc` for the key age; a key may have none.

    Raises
    ------
    FileError
        Where there is no such folder, or no file in it belongs to a key.
    DataError
        As in `read_hierarchy`.
    """
    if not folder.is_dir():
        raise FileError(f"{str(folder)!r} is no folder of hierarchies.")
    found = {key: path for key in keys for suffix in (".csv", ".hrc") if (path := folder / f"{key}{suffix}").is_file()}
    if not found:
        raise FileError(f"{str(folder)!r} holds no file of a key, such as {keys[0]}.csv.")
    return {key: read_hierarchy(path) for key, path in found.items()}


def digest(hierarchy: Hierarchy) -> str:
    """SHA-256 of a hierarchy, whatever file it stood in.

    Examples
    --------
    >>> digest(Hierarchy((("a", "b"),)))[:8]
    'accbc5e3'
    """
    return hashlib.sha256(hierarchy_text(hierarchy).encode()).hexdigest()
