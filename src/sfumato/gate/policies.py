"""Reading policies: what stands under `policies` of a gate's configuration, or a file of its own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from sfumato.data.problems import problems_of
from sfumato.data.yaml import Lines
from sfumato.errors import DataError
from sfumato.gate.plain_files import read_plain
from sfumato.gate.policy import Policy

__all__ = ["policies_of", "read_policies"]

_POLICIES = TypeAdapter(dict[str, Policy])


def read_policies(path: Path) -> dict[str, Policy]:
    """Read a file of policies: by name, their criteria.

    Raises
    ------
    FileError, DataError
        What cannot be read; with every problem and its line.
    """
    given, lines = read_plain(path, "policies")
    if isinstance(given, Mapping) and set(given) == {"policies"}:
        given = given["policies"]
        lines = {key[1:]: line for key, line in lines.items() if key[:1] == ("policies",)}
    return policies_of(given, lines, path.name)


def policies_of(given: Any, lines: Lines, where: str) -> dict[str, Policy]:
    """Policies from plain values; what is wrong is said with the name of the file."""
    if not isinstance(given, Mapping) or not given:
        raise DataError(f"{where}: policies are a mapping: name, then criteria.")
    try:
        return _POLICIES.validate_python(given)
    except ValidationError as error:
        told = "; ".join(map(str, problems_of(error, given, lines)))
        raise DataError(f"{where}: {told}") from None
