"""What other packages bring through entry points: each name once, and what cannot be loaded is left out and told."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from types import MappingProxyType
from typing import Any

from sfumato.errors import PlugInError, SfumatoWarning

__all__ = ["Failed", "Loaded", "and_left_out", "failed_told", "load", "package_of", "refuse_twice"]

OURS = "sfumato"


@dataclass(frozen=True)
class Failed:
    """An entry that could not be loaded.

    Parameters
    ----------
    package, entry
        Which package's, and what it calls it.
    reason
        The type of the error, or what the entry is not. No text of the package is in it.
    """

    package: str
    entry: str
    reason: str

    def __str__(self) -> str:
        return f"{self.entry!r} of the package {self.package!r} was left out: {self.reason}"


@dataclass(frozen=True)
class Loaded:
    """The entries of a group.

    Parameters
    ----------
    found
        By name, sorted.
    packages
        Whose each is.
    failed
        What was left out, by name.
    """

    found: Mapping[str, Any]
    packages: Mapping[str, str]
    failed: Mapping[str, Failed]


@cache
def load(group: str, fault: Callable[[Any], str | None]) -> Loaded:
    """Load the entries of a group.

    A plug-in runs as whoever uses it and may read all data: install none that you do not trust. What is looked after
    here is that none takes the place of another unseen, and that a broken one stops nothing but what needs it.

    Parameters
    ----------
    group
        `sfumato.methods`, for instance.
    fault
        What is wrong with what an entry leads to; None where it is what belongs there.

    Raises
    ------
    PlugInError
        Two packages use one name.
    """
    entries = sorted(entry_points(group=group), key=lambda entry: entry.name)
    packages = {entry.name: package_of(entry) for entry in entries}
    refuse_twice(((entry.name, package_of(entry)) for entry in entries), group.rpartition(".")[2].removesuffix("s"))
    found, failed = {}, {}
    for entry in entries:
        try:
            one = entry.load()
            reason = fault(one)
        except Exception as error:
            reason = type(error).__name__
        if reason is None:
            found[entry.name] = one
        else:
            left = failed[entry.name] = Failed(packages[entry.name], entry.name, reason)
            warnings.warn(str(left), SfumatoWarning, stacklevel=2)
    return Loaded(*(MappingProxyType(part) for part in (found, packages, failed)))


def package_of(entry: EntryPoint) -> str:
    """The name of the package that an entry is of."""
    return "an unnamed package" if entry.dist is None else str(entry.dist.name)


def refuse_twice(named: Iterable[tuple[str, str]], what: str) -> None:
    """Refuse a name that two packages use.

    Parameters
    ----------
    named
        Names, and whose they are.
    what
        They name.

    Raises
    ------
    PlugInError
        With both packages.

    Examples
    --------
    >>> refuse_twice([("noise", "sfumato"), ("noise", "loud")], "method")
    Traceback (most recent call last):
      ...
    sfumato.errors.PlugInError: Two packages bring a method 'noise': loud and sfumato. Uninstall one of them.
    """
    whose: dict[str, str] = {}
    for name, package in named:
        if name in whose:
            both = " and ".join(sorted((whose[name], package), key=lambda one: (one == OURS, one)))
            raise PlugInError(f"Two packages bring a {what} {name!r}: {both}. Uninstall one of them.")
        whose[name] = package


def and_left_out(failed: Mapping[str, Failed]) -> str:
    """The end of a message that lists what there is: what was left out, and why.

    Examples
    --------
    >>> and_left_out({"loud": Failed("louder", "loud", "ImportError")})
    "; 'loud' of the package 'louder' was left out: ImportError"
    """
    return "".join(f"; {one}" for one in failed.values())


def failed_told(failed: Iterable[Failed]) -> list[dict[str, str]]:
    """Entries that were left out, in plain values."""
    return [{"package": one.package, "entry": one.entry, "reason": one.reason} for one in failed]
