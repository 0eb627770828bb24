"""What the page Tables is asked for, field by field, and the lines of the command that do the same."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from sfumato.data.roles import Role
from sfumato.errors import FileError, PlanError, SfumatoError
from sfumato.web.studio.lines import command, reading
from sfumato.web.studio.stepped import book_before
from sfumato.web.studio.studio import Studio

if TYPE_CHECKING:
    from sfumato.api.protect_table import TableAsked
    from sfumato.data.codebook import Codebook

__all__ = [
    "COLUMNS",
    "FIELDS",
    "LARGEST",
    "MOST_BY",
    "Choices",
    "Chosen",
    "Read",
    "choices",
    "kept",
    "lines",
    "read",
    "sent",
    "tree",
]

MOST_BY = 4
"""So many variables a table has here."""
LARGEST = 1 << 20
"""Bytes of a hierarchy that is sent, or taken from the folder."""
COLUMNS = ("value", "weight", "count", "contributors", "holdings", "record")
"""Fields that name a column which is no variable."""
_RULES = ("n", "p", "nk_n", "nk_k", "rule")
_WAYS = {"suppress": "search", "round": "rounding", "adjust": "adjusting", "recode": "cutting"}
FIELDS = (
    *(f"{name}{i}" for i in range(1, MOST_BY + 1) for name in ("by", "tree")),
    *COLUMNS,
    *_RULES,
    "method",
    *_WAYS.values(),
    *("protect", "cost", "lower", "outsider", "tell_unsafe", "base", "seconds", "own"),
)
"""Names of the form's fields, as they stand in the address."""
_LONGEST, _MOST_FILES, _MOST_SENT = 1_000, 300, 20
_NUMBER = re.compile(r"\d{1,9}(\.\d{1,9})?")
_SENT = re.compile(r"sent:([0-9a-f]{16})/([^/\\]{1,150})")
_NAMED = "The command line cannot name this column: its name has a comma, > or blanks around it. Rename it."


@dataclass(frozen=True)
class Chosen:
    """What a form or an address says, by field.

    Parameters
    ----------
    fields
        Those that are not empty.

    Examples
    --------
    >>> Chosen.of({"by1": "sex", "n": "3", "odd": "x"}.items()).query
    'by1=sex&n=3'
    """

    fields: Mapping[str, str]

    @classmethod
    def of(cls, pairs: Iterable[tuple[str, str]]) -> Chosen:
        """From pairs of name and text; of names that are none of the form's nothing is kept."""
        given = {name: text.strip()[:_LONGEST] for name, text in pairs if name in FIELDS}
        return cls({name: given[name] for name in FIELDS if given.get(name)})

    @property
    def stated(self) -> bool:
        """Whether a table is asked for."""
        return any(name.startswith("by") for name in self.fields)

    @property
    def query(self) -> str:
        """The address of the same, behind the question mark."""
        return urlencode(self.fields)

    def __getitem__(self, name: str) -> str:
        return self.fields.get(name, "")


@dataclass(frozen=True)
class Choices:
    """What can be chosen.

    Parameters
    ----------
    variables, numbers, columns
        Columns that a table may be by, those of numbers, and all.
    identifiers
        Columns that tell who somebody is, by the plan: no table is by them.
    files
        Files of the start folder, and of its folders, that may be hierarchies.
    """

    variables: list[str]
    numbers: list[str]
    columns: list[str]
    identifiers: frozenset[str]
    files: list[str]


@dataclass
class Read:
    """What is asked for; where something is wrong, by field what.

    Parameters
    ----------
    asked
        None where something is wrong.
    errors
        By the name of the field.
    """

    asked: TableAsked | None = None
    errors: dict[str, str] = field(default_factory=dict)


def choices(studio: Studio) -> Choices:
    """What can be chosen of the file that is open."""
    table = studio.opened.table
    identifiers = frozenset(_book(studio).with_role(Role.RECORD, Role.IDENTIFIER))
    numbers = [n for n, dtype in table.frame.schema.items() if dtype.is_numeric()]
    variables = [n for n in table.columns if n not in identifiers]
    return Choices(variables, numbers, list(table.columns), identifiers, _files(studio))


def _book(studio: Studio) -> Codebook:
    """What the plan says of the file's columns; of a plan of several tables, the one whose file is open."""
    plan, table = studio.planned.plan, studio.opened.table
    name = studio.table_of(plan) if plan.tables else None
    if name is not None:
        with suppress(PlanError):
            return plan.table(name).codebook(table.frame, table.codebook)
    return book_before(studio, 0)


def _files(studio: Studio) -> list[str]:
    """Texts of the start folder and of the folders in it, but the file that is open."""
    found: list[str] = []
    open_ = studio.opened.source.path
    try:
        folders = sorted(p for p in studio.folder.iterdir() if p.is_dir() and not p.name.startswith("."))
        for folder in (studio.folder, *folders[:50]):
            for path in sorted(folder.iterdir()):
                if path.suffix.lower() in (".csv", ".hrc") and path != open_ and path.is_file():
                    found.append(path.relative_to(studio.folder).as_posix())
                if len(found) >= _MOST_FILES:
                    return found
    except OSError:
        pass
    return found


def tree(studio: Studio, named: str) -> Path:
    """The file of a hierarchy: one of the folder, or one that was sent.

    Raises
    ------
    FileError
        It is neither, or too large.
    """
    given = _SENT.fullmatch(named)
    if given is not None:
        path = _folder(studio) / given[1] / given[2]
        if given[2] in (".", "..") or not path.is_file():
            raise FileError("This hierarchy is not here any more: send it again.")
        return path
    if named not in _files(studio):
        raise FileError("Choose a file of the list, or send one.")
    path = studio.folder / named
    if path.stat().st_size > LARGEST:
        raise FileError(
            f"This file is larger than {LARGEST >> 20} MB: take `sfumato table` on the command line for it."
        )
    return path


def sent(studio: Studio, name: str, content: bytes) -> str:
    """Keep a hierarchy that was sent or pasted, and give the text by which the form names it.

    Raises
    ------
    FileError, DataError
        It is none.
    """
    import shutil

    from sfumato.data.files.hierarchies import read_hierarchy

    if len(content) > LARGEST:
        raise FileError(f"A hierarchy has at most {LARGEST >> 20} MB here.")
    plain = re.sub(r"[^A-Za-z0-9_. -]", "_", name.replace("\\", "/").rpartition("/")[2]).strip(" .")[-100:]
    plain = plain or "hierarchy"
    plain = plain if plain.lower().endswith((".csv", ".hrc")) else f"{plain}.csv"
    id_ = secrets.token_hex(8)
    folder = _folder(studio) / id_
    folder.mkdir(mode=0o700, parents=True)
    (folder / plain).write_bytes(content)
    try:
        read_hierarchy(folder / plain)
    except SfumatoError:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    held = sorted(_folder(studio).iterdir(), key=lambda path: path.stat().st_mtime_ns)
    for old in held[:-_MOST_SENT]:
        shutil.rmtree(old, ignore_errors=True)
    return f"sent:{id_}/{plain}"


def _folder(studio: Studio) -> Path:
    return studio.temporary / "hierarchies"


def kept(named: str) -> str:
    """What a hierarchy is called for people: the name of its file.

    Examples
    --------
    >>> kept("sent:0123456789abcdef/towns.csv"), kept("trees/towns.csv")
    ('towns.csv, as sent', 'trees/towns.csv')
    """
    given = _SENT.fullmatch(named)
    return named if given is None else f"{given[2]}, as sent"


def read(studio: Studio, chosen: Chosen) -> Read:
    """Read a form; what is wrong is told by field."""
    from sfumato.api.protect_table import METHODS, TableAsked

    found, known = Read(), choices(studio)
    method = chosen["method"] or "suppress"
    if method not in METHODS:
        found.errors["method"] = "Choose one of the list."
        return found
    by = _variables(chosen, known, found.errors)
    options: dict[str, Any] = {
        "by": tuple(by),
        "hierarchies": _trees(studio, chosen, found.errors),
        "rules": _rules(chosen, method, found.errors),
        "method": method,
        "way": chosen[_WAYS[method]] if method in _WAYS else "",
        "seconds": _seconds(chosen, found.errors),
        **_columns(chosen, known, by, method, found.errors),
        **_more(chosen, method, found.errors),
    }
    if not found.errors:
        try:
            found.asked = TableAsked(**options)
        except SfumatoError as error:
            found.errors[_WAYS.get(method, "method")] = str(error)
    return found


def _variables(chosen: Chosen, known: Choices, errors: dict[str, str]) -> list[str]:
    by: list[str] = []
    for i in range(1, MOST_BY + 1):
        name = chosen[f"by{i}"]
        if not name:
            if chosen[f"tree{i}"]:
                errors[f"by{i}"] = "A hierarchy is chosen for it, but no variable."
            continue
        if name in known.identifiers:
            errors[f"by{i}"] = (
                "The plan says that this tells who somebody is: a table by it is a list of people. Choose another, or "
                "change its role on the page Data."
            )
        elif name not in known.columns:
            errors[f"by{i}"] = "The file has no such column."
        elif name in by:
            errors[f"by{i}"] = "It stands there already: choose another."
        elif "," in name or ">" in name or name != name.strip():
            errors[f"by{i}"] = _NAMED
        by.append(name)
    if not by:
        errors["by1"] = "Choose at least one variable."
    return by


def _trees(studio: Studio, chosen: Chosen, errors: dict[str, str]) -> tuple[tuple[str, str], ...]:
    from sfumato.data.files.hierarchies import read_hierarchy

    found = []
    for i in range(1, MOST_BY + 1):
        variable, named = chosen[f"by{i}"], chosen[f"tree{i}"]
        if not (variable and named):
            continue
        try:
            path = tree(studio, named)
            read_hierarchy(path)
            found.append((variable, str(path)))
        except SfumatoError as error:
            errors[f"tree{i}"] = str(error)
    return tuple(found)


def _columns(
    chosen: Chosen, known: Choices, by: list[str], method: str, errors: dict[str, str]
) -> dict[str, str | None]:
    out: dict[str, str | None] = {}
    for name in COLUMNS:
        column = chosen[name] or None
        out[name] = column
        if column is None:
            continue
        if column not in known.columns:
            errors[name] = "The file has no such column."
        elif name in ("value", "weight", "count") and column not in known.numbers:
            errors[name] = "It holds no numbers."
        elif name == "value" and column == "count":
            errors[name] = "A column of this name cannot be summed: tables call their counts so. Rename it."
        elif column in by and name != "contributors":
            errors[name] = "It is a variable of the table: a column has one part to play."
    if out["weight"] and out["count"]:
        errors["count"] = "A row has a sampling weight, or stands for several records: choose one of both."
    if method == "perturb" and out["record"] is None:
        errors["record"] = "Noise by cell keys needs the column of the records' ids: each record has one of its own."
    return out


def _rules(chosen: Chosen, method: str, errors: dict[str, str]) -> tuple[str, ...]:
    from sfumato.tables.rules import read_rules

    given: list[tuple[str, str]] = []
    for name, what in (("n", "The fewest that are safe"), ("p", "The percentage")):
        if chosen[name]:
            if _NUMBER.fullmatch(chosen[name]):
                given.append((name, f"{name}({chosen[name]})"))
            else:
                errors[name] = f"{what} is a number, such as {'3' if name == 'n' else '10'}."
    few, share = chosen["nk_n"], chosen["nk_k"]
    if few or share:
        if _NUMBER.fullmatch(few) and _NUMBER.fullmatch(share):
            given.append(("nk_n", f"nk({few},{share})"))
        else:
            errors["nk_n"] = "This rule takes two numbers: how many, such as 2, and a percentage, such as 85."
    if chosen["rule"]:
        given.append(("rule", chosen["rule"]))
    for name, text in given:
        try:
            read_rules(text)
        except SfumatoError as error:
            errors[name] = str(error)
    if not given and method in ("suppress", "adjust", "recode") and not any(n in errors for n in _RULES):
        errors["n"] = "Say which cells are unsafe: at least one rule, for instance fewer than 3."
    return tuple(dict.fromkeys(text for _, text in given))


def _seconds(chosen: Chosen, errors: dict[str, str]) -> float | None:
    text = chosen["seconds"]
    if not text:
        return None
    if not _NUMBER.fullmatch(text) or not 0 < float(text) <= 86_400:
        errors["seconds"] = "Seconds are a number above 0, up to 86,400."
        return None
    return float(text)


def _more(chosen: Chosen, method: str, errors: dict[str, str]) -> dict[str, Any]:
    """What one method takes alone."""
    if method == "round" and chosen["rounding"] != "barnardise":
        text = chosen["base"] or "5"
        if not text.isdecimal() or not 2 <= int(text) < 10**9:
            errors["base"] = "The base is a whole number from 2 on, such as 5."
            return {}
        return {"base": int(text)}
    if method != "suppress":
        return {}
    out: dict[str, Any] = {"tell_unsafe": chosen["tell_unsafe"] == "on"}
    out["reader"] = "outsider" if chosen["outsider"] == "on" else "contributor"
    for name, allowed in (("protect", ("level", "exact")), ("cost", ("value", "unity", "count"))):
        out[name] = chosen[name] or allowed[0]
        if out[name] not in allowed:
            errors[name] = "Choose one of the list."
    if chosen["lower"]:
        if re.fullmatch(r"-?" + _NUMBER.pattern, chosen["lower"]):
            out["lower"] = float(chosen["lower"])
        else:
            errors["lower"] = "It is a number, such as 1."
    return out


def lines(studio: Studio, asked: TableAsked) -> str:
    """The lines of the command that make the same table, in the folder where the studio was started."""
    source = studio.opened.source
    file = source.path.name if studio.private else str(source.path)
    private = studio.temporary
    trees = [
        f"{variable}={Path(path).name if private in Path(path).parents else path}"
        for variable, path in asked.hierarchies
    ]
    columns = {name: getattr(asked, name) for name in ("value", "count", "contributors", "holdings", "weight")}
    records = {"by": ",".join(asked.by), **columns, "hierarchy": trees}
    key = "sfumato.key" if studio.secret.repeatable else None
    table = ["sfumato", "table"]
    if asked.method == "suppress":
        how: dict[str, Any] = {
            "rule": asked.rules,
            "method": None if asked.way == "auto" else asked.way,
            "protect": None if asked.protect == "level" else asked.protect,
            "cost": None if asked.cost == "value" else asked.cost,
            "reader": None if asked.reader == "contributor" else asked.reader,
            "tell-unsafe": asked.tell_unsafe,
            "secret-file": key,
            "time-limit": _short(asked.seconds),
            "lower": _short(asked.lower),
        }
        return command([*table, "protect", file], {**records, **how, "out": "table.csv", **reading(source)})
    if asked.method in ("adjust", "recode"):
        internal = {"rule": asked.rules, "internal": "judged"}
        first = command([*table, "protect", file], {**records, **internal, **reading(source)})
        way = {"cut" if asked.method == "recode" else "method": asked.way}
        then = {**way, "time-limit": _short(asked.seconds), "out": "table.csv"}
        return f"{first}\n{command([*table, asked.method, 'judged'], then)}"
    keys = {"cell-keys": True, "record": asked.record, "secret-file": key} if asked.method == "perturb" else {}
    first = command([*table, "build", file], {**records, **keys, "out": "built", **reading(source)})
    if asked.method == "perturb":
        return f"{first}\n{command([*table, 'perturb', 'built'], {'out': 'table.csv'})}"
    drawn = asked.way in ("random", "barnardise")
    rounding = {
        "base": None if asked.way == "barnardise" else asked.base,
        "method": asked.way,
        "time-limit": _short(asked.seconds),
        "secret-file": key if drawn else None,
        "out": "table.csv",
    }
    return f"{first}\n{command([*table, 'round', 'built'], rounding)}"


def _short(seconds: float | None) -> str | None:
    return None if seconds is None else f"{seconds:g}"
