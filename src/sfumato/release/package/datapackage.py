"""`datapackage.json`: the release described for programs (Frictionless Data Package), with what analysts must know."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import polars as pl

from sfumato.data.codebook import Codebook, Missing, Variable
from sfumato.data.disclosure import Disclosure
from sfumato.data.extended import shown
from sfumato.data.files.dialect import USUAL, Dialect
from sfumato.errors import FileError

__all__ = ["MOST_BYTES", "ForeignKey", "Packed", "Resource", "datapackage", "field_type"]

MOST_BYTES = 64 << 20
"""Largest description that is written, and read again."""

_MEDIA = {
    ".csv": "text/csv",
    ".parquet": "application/vnd.apache.parquet",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ".sav": "application/x-spss-sav",
    ".dta": "application/x-stata-dta",
    ".xpt": "application/x-sas-xport",
}


@dataclass(frozen=True)
class ForeignKey:
    """That values of some columns are found in another resource's.

    Parameters
    ----------
    columns
        Names in this resource.
    resource
        Name of the other.
    reference
        Names there, in the same order.
    """

    columns: tuple[str, ...]
    resource: str
    reference: tuple[str, ...]


@dataclass(frozen=True)
class Resource:
    """One table of a release.

    Parameters
    ----------
    name
        Its name: `data` where it is the only one.
    file
        Name of the data file in the release, or of each of its parts.
    frame, codebook
        The released table (of one in parts, one without rows) and what is known about its variables, by the names in
        the file.
    disclosure
        What analysts must know.
    names
        What the plan calls columns that have another name in the data file, by their name there.
    foreign_keys
        Declared links to other resources.
    known
        Who was taken to know what of its people, as plain values.
    dialect
        What a delimited text file is written in.
    """

    name: str
    file: str | Sequence[str]
    frame: pl.DataFrame
    codebook: Codebook
    disclosure: Disclosure
    names: Mapping[str, str] = field(default_factory=dict)
    foreign_keys: Sequence[ForeignKey] = ()
    known: Mapping[str, Any] = field(default_factory=dict)
    dialect: Dialect = USUAL

    def to_plain(self) -> dict[str, Any]:
        """The table for programs."""
        path = self.file if isinstance(self.file, str) else list(self.file)
        suffix = "." + (path if isinstance(path, str) else path[0]).rpartition(".")[2]
        frame = self.frame
        schema: dict[str, Any] = {
            "fields": [_field(n, frame.schema[n], self.codebook[n], self.dialect) for n in frame.columns],
            "missingValues": [""],
        }
        if self.foreign_keys:
            schema["foreignKeys"] = [
                {
                    "fields": list(key.columns),
                    "reference": {"resource": key.resource, "fields": list(key.reference)},
                }
                for key in self.foreign_keys
            ]
        return {
            "name": self.name,
            "path": path,
            "format": suffix[1:],
            "mediatype": _MEDIA.get(suffix, "application/octet-stream"),
            "encoding": self.dialect.encoding,
            **({"dialect": {"delimiter": self.dialect.delimiter}} if suffix == ".csv" else {}),
            "schema": schema,
        }

    def own(self) -> dict[str, Any]:
        """What only sfumato reads of it."""
        names = {"names": dict(self.names)} if self.names else {}
        known = {"known": dict(self.known)} if self.known else {}
        return {"disclosure": self.disclosure.to_plain(), "codebook": self.codebook.to_plain(), **names, **known}


class Packed(Protocol):
    """What a package may hold: a table of records, or one of totals."""

    def to_plain(self) -> dict[str, Any]:
        """The resource for programs."""
        ...

    def own(self) -> dict[str, Any]:
        """What only sfumato reads of it."""
        ...


def datapackage(
    resources: Sequence[Packed],
    *,
    title: str,
    description: str | None,
    created: str,
    version: str,
    fingerprint: str | None,
    plan_digest: str | None,
    several: bool = False,
    access: str | None = None,
    consent: str | None = None,
    warnings: Sequence[str] = (),
) -> bytes:
    """Describe a release.

    Parameters
    ----------
    resources
        Its tables.
    title, description, created, version
        Of the release, the day, and sfumato's version.
    access, consent
        How the release is accessed, and what people agreed to, as the plan says.
    fingerprint, plan_digest
        By which the same secret and the same plan are known again; None where there was none.
    warnings
        What was assumed, and what else must be known, in words that may be published.
    several
        Whether the plan is one of several tables: what only sfumato reads then stands with each resource.

    Raises
    ------
    FileError
        Where the description would be too large for those who read it.
    """
    run: dict[str, Any] = {"version": version}
    run |= {n: x for n, x in (("fingerprint", fingerprint), ("plan", plan_digest)) if x is not None}
    run |= {"warnings": list(warnings)} if warnings else {}
    if several:
        described = [{**resource.to_plain(), "sfumato": resource.own()} for resource in resources]
    else:
        described = [resource.to_plain() for resource in resources]
        run |= resources[0].own()
    package = {
        "$schema": "https://datapackage.org/profiles/2.0/datapackage.json",
        "title": title,
        **({"description": description} if description else {}),
        "created": created,
        **({"access": access} if access else {}),
        **({"consent": consent} if consent else {}),
        "resources": described,
        "sfumato": run,
    }
    content = "".join(_json(package, "\n")).encode()
    if len(content) > MOST_BYTES:
        raise FileError(
            f"datapackage.json would be larger than the {MOST_BYTES >> 20} MiB that are read again: the disclosure "
            "holds a matrix for each stratum, with a row and a column for each category. Take fewer strata (`by`), or "
            "recode to fewer categories first."
        )
    return content


def _json(value: Any, line: str) -> Iterator[str]:
    """JSON with a line for each entry, but what holds no further entries (a row of a matrix) on one line."""
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
    nested = any(isinstance(v, Mapping | list | tuple) for v in inner)
    if not inner or (not nested and not isinstance(value, Mapping)):
        yield json.dumps(value, ensure_ascii=False)
        return
    keys = [f"{_key(key)}: " for key in value] if isinstance(value, Mapping) else None
    yield "{" if keys is not None else "["
    for i, entry in enumerate(inner):
        yield f"{',' if i else ''}{line}  {'' if keys is None else keys[i]}"
        yield from _json(entry, line + "  ")
    yield line + ("}" if keys is not None else "]")


def _key(key: Any) -> str:
    """A key as JSON has it: text."""
    return json.dumps(key if isinstance(key, str) else json.dumps(key), ensure_ascii=False)


def _field(name: str, dtype: pl.DataType, variable: Variable, dialect: Dialect) -> dict[str, Any]:
    field: dict[str, Any] = {"name": name, "type": field_type(dtype)}
    if field["type"] == "number" and dialect.decimal != ".":
        field["decimalChar"] = dialect.decimal
    if variable.label:
        field["title"] = variable.label
    if variable.unit:
        field["unit"] = variable.unit
    if variable.multiple:
        field["multiple"] = variable.multiple
    codes = [m for m in variable.missing if m.code is not None]
    if codes:
        field["missingValues"] = [_missing_value(m) for m in codes]
    if variable.labels:
        field["categories"] = [{"value": v, "label": text} for v, text in variable.labels.items()]
    return field


def _missing_value(code: Missing) -> dict[str, str]:
    label = code.label or ("read as a gap" if code.gap else None)
    return {"value": str(shown(code.code))} | ({"label": label} if label else {})


def field_type(dtype: pl.DataType) -> str:
    """The Frictionless type of a column."""
    if dtype.is_integer():
        return "integer"
    if dtype.is_numeric():
        return "number"
    return {pl.Boolean: "boolean", pl.Date: "date", pl.Time: "time"}.get(
        type(dtype), "datetime" if dtype.is_temporal() else "string"
    )
