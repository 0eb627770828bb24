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

__all__ = [
    "OURS",
    "Entries",
    "Failed",
    "Loaded",
    "and_left_out",
    "entries",
    "failed_told",
    "load",
    "package_of",
    "refuse_twice",
]

OURS = "sfumato"
"""The package whose own methods and measures these are."""


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


class Entries:
    """The entries of a group, told by their names alone: each is loaded when it is first asked for.

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

    Examples
    --------
    >>> from inspect import isclass
    >>> methods = Entries("sfumato.methods", lambda one: None if isclass(one) else "it is no class")
    >>> "noise" in methods.packages, methods.one("noise").__name__, methods.one("nosie")
    (True, 'Noise', None)
    """

    def __init__(self, group: str, fault: Callable[[Any], str | None]) -> None:
        entries = sorted(entry_points(group=group), key=lambda entry: entry.name)
        named = [(entry.name, package_of(entry)) for entry in entries]
        refuse_twice(named, group.rpartition(".")[2].removesuffix("s"))
        self.packages: Mapping[str, str] = MappingProxyType(dict(named))
        self._entries = {entry.name: entry for entry in entries}
        self._fault = fault
        self._found: dict[str, Any] = {}
        self._failed: dict[str, Failed] = {}

    def one(self, name: str) -> Any:
        """What an entry leads to; None where there is none of this name, and where it is left out."""
        if name in self._entries and name not in self._found and name not in self._failed:
            self._load(name)
        return self._found.get(name)

    def all(self) -> Loaded:
        """All of them, loaded."""
        for name in self.packages:
            self.one(name)
        found, failed = ({n: part[n] for n in self.packages if n in part} for part in (self._found, self._failed))
        return Loaded(MappingProxyType(found), self.packages, MappingProxyType(failed))

    def _load(self, name: str) -> None:
        try:
            one = self._entries[name].load()
            reason = self._fault(one)
        except Exception as error:
            reason = type(error).__name__
        if reason is None:
            self._found[name] = one
        else:
            left = self._failed[name] = Failed(self.packages[name], name, reason)
            warnings.warn(str(left), SfumatoWarning, stacklevel=2)


@cache
def entries(group: str, fault: Callable[[Any], str | None]) -> Entries:
    """The entries of a group, of which each process keeps what it has loaded; arguments and errors as of `Entries`."""
    return Entries(group, fault)


@cache
def load(group: str, fault: Callable[[Any], str | None]) -> Loaded:
    """Load the entries of a group; arguments and errors as of `Entries`."""
    return entries(group, fault).all()


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
