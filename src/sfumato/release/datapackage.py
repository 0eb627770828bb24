"""`datapackage.json`: the release described for programs (Frictionless Data Package), with what analysts must know."""

from __future__ import annotations

import json
from typing import Any

import polars as pl

from sfumato.data.codebook import Codebook, Missing, Variable
from sfumato.data.disclosure import Disclosure

__all__ = ["datapackage", "field_type"]

_MEDIA = {
    ".csv": "text/csv",
    ".parquet": "application/vnd.apache.parquet",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ".sav": "application/x-spss-sav",
    ".dta": "application/x-stata-dta",
    ".xpt": "application/x-sas-xport",
}


def datapackage(
    *,
    title: str,
    description: str | None,
    created: str,
    version: str,
    file: str,
    frame: pl.DataFrame,
    codebook: Codebook,
    disclosure: Disclosure,
    fingerprint: str,
    plan_digest: str,
) -> bytes:
    """Describe a release.

    Parameters
    ----------
    title, description, created, version
        Of the release, the day, and sfumato's version.
    file
        Name of the data file in the release.
    frame, codebook
        The released table and what is known about its variables.
    disclosure
        What analysts must know.
    fingerprint, plan_digest
        By which the same secret and the same plan are known again.
    """
    suffix = "." + file.rpartition(".")[2]
    resource = {
        "name": "data",
        "path": file,
        "format": suffix[1:],
        "mediatype": _MEDIA.get(suffix, "application/octet-stream"),
        "encoding": "utf-8",
        "schema": {"fields": [_field(n, frame.schema[n], codebook[n]) for n in frame.columns], "missingValues": [""]},
    }
    package = {
        "$schema": "https://datapackage.org/profiles/2.0/datapackage.json",
        "title": title,
        **({"description": description} if description else {}),
        "created": created,
        "resources": [resource],
        "sfumato": {
            "version": version,
            "fingerprint": fingerprint,
            "plan": plan_digest,
            "disclosure": disclosure.to_plain(),
            "codebook": codebook.to_plain(),
        },
    }
    return json.dumps(package, ensure_ascii=False, indent=2).encode()


def _field(name: str, dtype: pl.DataType, variable: Variable) -> dict[str, Any]:
    field: dict[str, Any] = {"name": name, "type": field_type(dtype)}
    if variable.label:
        field["title"] = variable.label
    if variable.unit:
        field["unit"] = variable.unit
    codes = [m for m in variable.missing if m.code is not None]
    if codes:
        field["missingValues"] = [_missing_value(m) for m in codes]
    if variable.labels:
        field["categories"] = [{"value": v, "label": text} for v, text in variable.labels.items()]
    return field


def _missing_value(code: Missing) -> dict[str, str]:
    return {"value": str(code.code)} | ({"label": code.label} if code.label else {})


def field_type(dtype: pl.DataType) -> str:
    """The Frictionless type of a column."""
    if dtype.is_integer():
        return "integer"
    if dtype.is_numeric():
        return "number"
    return {pl.Boolean: "boolean", pl.Date: "date", pl.Time: "time"}.get(
        type(dtype), "datetime" if dtype.is_temporal() else "string"
    )
