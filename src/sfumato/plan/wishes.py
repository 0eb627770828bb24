"""What a custodian says before a plan is drafted: who may know what, which columns matter, what for."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Any, Final, Literal

from pydantic import ValidationError

from sfumato.data.profile import Guess
from sfumato.data.roles import IDS, NOT_LEARNT, Kind, Role
from sfumato.data.unseen import seen
from sfumato.errors import DataError
from sfumato.plan.unknown import OPEN, OTHERS, Unknown

__all__ = ["PURPOSES", "Purpose", "Wishes", "because_problems"]

Purpose = Literal["scientific-use", "public-use"]
PURPOSES: Final[tuple[Purpose, ...]] = ("scientific-use", "public-use")
_ONE_OF = ("keys", "unknown", "record", "person", "household", "outcome", "leave_out")
"""What a column can be said to be once: it may be sensitive, and kept, beside it."""
_ALONE = ("record", "person", "household")


@dataclass(frozen=True)
class Wishes:
    """What the custodian says; what is left out is guessed.

    Parameters
    ----------
    purpose
        `scientific-use`: for researchers under a contract; `public-use`: for everybody, so that stricter limits hold.
    keys
        Columns that others may know; all others then count as unknown.
    unknown
        Columns that nobody outside knows, by name or by a pattern such as `Q*`; without `keys` all others then count
        as known.
    because
        Why nobody knows what is unknown. It is published.
    sensitive
        Columns that nobody must learn.
    record, person, household
        Id of the record, of whom several records are about, and of the household.
    outcome
        Columns that the release is meant to explain.
    keep
        Columns that leave the release last.
    leave_out
        Columns that are left out of the release.

    Examples
    --------
    >>> Wishes(keys=("sex", "age")).of_keys, Wishes(keep=("sex",)).of_keys
    (True, False)
    """

    purpose: Purpose = "scientific-use"
    keys: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    because: str | None = None
    sensitive: tuple[str, ...] = ()
    record: str | None = None
    person: str | None = None
    household: str | None = None
    outcome: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    leave_out: tuple[str, ...] = ()

    @property
    def of_keys(self) -> bool:
        """Whether it is said who knows what, so that the draft protects what is known alone."""
        return bool(self.keys or self.unknown)

    @property
    def reason(self) -> str:
        """Why nobody knows what is unknown; `?` where nobody has said it."""
        return OPEN if self.because is None else self.because.strip()

    def named(self, columns: Collection[str]) -> Wishes:
        """The wishes with each pattern replaced by the columns that it stands for.

        Parameters
        ----------
        columns
            Of the table.

        Raises
        ------
        DataError
            With everything that is wrong: columns that are not there, each with the nearest one, what contradicts
            itself, and a reason that cannot be published.

        Examples
        --------
        >>> Wishes(unknown=("q*",)).named(["sex", "q1", "q2"]).unknown
        ('q1', 'q2')
        >>> Wishes(keys=("Sexx",)).named(["Sex", "Age"])
        Traceback (most recent call last):
        sfumato.errors.DataError: There is no column 'Sexx'. Did you mean 'Sex'?
        """
        problems = [*self._strangers(columns), *because_problems(self.because)]
        if problems:
            raise DataError(" ".join(problems))
        told = {n: None for part in self.unknown for n in _matching(part, columns)}
        free = [
            n for n in told if n in self.unknown or n not in {*self.keys, *self.outcome, *self.leave_out, *self._ids()}
        ]
        found = replace(self, unknown=tuple(free))
        if contradictions := list(found._contradictions()):
            raise DataError(" ".join(contradictions))
        return found

    def over(self, guesses: Sequence[Guess]) -> tuple[Guess, ...]:
        """The guesses, where the custodian's word comes first.

        Parameters
        ----------
        guesses
            What `profile` proposes.

        Raises
        ------
        DataError
            Where a column is to be kept that must not leave.

        Examples
        --------
        >>> from sfumato.data.codebook import Variable
        >>> race = Guess("race", Variable(role="sensitive", kind="categorical"), "its name", certain=False)
        >>> (told,) = Wishes(keys=("race",)).over([race])
        >>> str(told.variable.role), told.variable.sensitive
        ('key', True)
        """
        made = tuple(self._over(guess) for guess in guesses)
        if gone := [g.name for g in made if g.name in self.keep and g.variable.role == Role.IDENTIFIER]:
            raise DataError(
                f"{_listed(gone)}: to be kept, and it looks like an identifier, which must not leave. If it is none, "
                "say its role in a plan (--roles), or say what it is: --keys, --unknown, --sensitive, --outcome."
            )
        return made

    def known(self, guesses: Sequence[Guess]) -> tuple[str, ...]:
        """The columns that somebody may know, where it is said who knows what.

        Parameters
        ----------
        guesses
            As `over` gives them.
        """
        if self.keys:
            return tuple(g.name for g in guesses if g.name in self.keys)
        unknown = set(self.unknown)
        return tuple(g.name for g in guesses if g.name not in unknown and g.variable.role not in NOT_LEARNT)

    def says_unknown(self, column: str) -> bool:
        """Whether it is said of a column that is no key that nobody knows it."""
        return bool(self.keys) or column in self.unknown

    def stated(self, released: Sequence[str], known: Collection[str]) -> tuple[Unknown, ...]:
        """What the plan says that nobody knows.

        Parameters
        ----------
        released
            Columns that leave, but for ids.
        known
            Those that somebody may know.
        """
        if self.keys:
            rest = any(n not in known for n in released)
            return (Unknown(columns=OTHERS, because=self.reason),) if rest else ()
        names = tuple(n for n in self.unknown if n in released)
        return (Unknown(columns=names, because=self.reason),) if names else ()

    def _ids(self) -> tuple[str, ...]:
        return tuple(n for n in (self.record, self.person, self.household) if n is not None)

    def _each(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Each wish with its columns."""
        for wish in (*_ONE_OF, "sensitive", "keep"):
            value = getattr(self, wish)
            yield wish, value if isinstance(value, tuple) else () if value is None else (value,)

    def _strangers(self, columns: Collection[str]) -> Iterator[str]:
        for part in dict.fromkeys(n for wish, names in self._each() for n in names):
            pattern = part in self.unknown and any(sign in part for sign in "*?[")
            if pattern and not _matching(part, columns):
                yield f"No column is called like {part!r}. Columns: {seen(', '.join(columns))}."
            elif not pattern and part not in columns:
                yield f"There is no column {part!r}. {_nearest(part, columns)}"

    def _contradictions(self) -> Iterator[str]:
        said: dict[str, str] = {}
        for wish, names in self._each():
            for n in dict.fromkeys(names):
                if wish in _ONE_OF and n in said:
                    yield f"{n!r}: named as {said[n]} and as {wish}. Name it once."
                if wish == "sensitive" and said.get(n) in _ALONE:
                    yield f"{n!r}: the id of the {said[n]}, and sensitive. An id is nothing that is learnt of a person."
                if wish in _ONE_OF:
                    said.setdefault(n, wish)
        if self.because is not None and not self.of_keys:
            yield (
                "The reason (--because) is why nobody knows some columns: name those that are known (--keys), or those "
                "that are not (--unknown)."
            )

    def _over(self, guess: Guess) -> Guess:
        """One guess, with what is said of its column."""
        if guess.name in self.leave_out:
            return replace(guess, leaves=True, reason="left out, as you say", certain=True)
        name, variable = guess.name, guess.variable
        role, why = self._role(guess)
        private = variable.private or name in self.sensitive
        if name in self.sensitive and role in (*NOT_LEARNT, Role.OTHER):
            role = Role.SENSITIVE
        said = any(name in names for wish, names in self._each() if wish != "keep")
        update: dict[str, Any] = {"role": role, "sensitive": private and role in (Role.KEY, Role.OUTCOME, Role.OTHER)}
        if said and variable.kind == Kind.TEXT and role not in NOT_LEARNT:
            update["kind"] = Kind.CATEGORICAL  # of free text there is no role to say
        if role in NOT_LEARNT:
            update["range"] = None
        if name in self._ids() and variable.kind == Kind.CONTINUOUS:
            update["kind"] = Kind.CATEGORICAL  # numbers that are ids
        changed = variable.model_copy(update=update)
        if changed == variable and not said:
            return guess
        reasons = [why] if why else []
        reasons += ["named as sensitive"] if name in self.sensitive else []
        reasons += [] if said else [guess.reason]
        leaves = guess.leaves and not (said and not guess.found_in_labels)
        reason = "; ".join(reasons)
        return replace(guess, variable=changed, reason=reason, certain=said or guess.certain, leaves=leaves)

    def _role(self, guess: Guess) -> tuple[Role, str]:
        """What the role becomes, and why where it is another."""
        name, role = guess.name, guess.variable.role
        for of, column in zip(IDS, (self.record, self.person, self.household), strict=True):
            if name == column:
                return of, f"named as the id of the {of}"
            if column is not None and role == of:
                return Role.IDENTIFIER, f"another id than that of the {of}, which is named"
        if name in self.outcome:
            return Role.OUTCOME, "named as an outcome"
        if name in self.keys:
            return Role.KEY, "named as a key"
        if name in self.unknown:
            other = role in (Role.KEY, Role.IDENTIFIER)
            return Role.OTHER if other else role, "named as unknown to others"
        if self.keys and role == Role.KEY:
            return Role.OTHER, "not named as a key"
        if self.unknown and not self.keys and role in (Role.OTHER, Role.SENSITIVE):
            return Role.KEY, "not named as unknown to others"
        return role, ""


def _matching(part: str, columns: Collection[str]) -> list[str]:
    """The columns that a name or a pattern stands for; a name that is there is none."""
    return [part] if part in columns else [n for n in columns if fnmatchcase(n, part)]


def _nearest(name: str, columns: Collection[str]) -> str:
    cased = {n.lower(): n for n in columns}
    near = get_close_matches(name.lower(), cased, n=1, cutoff=0.5)
    return f"Did you mean {cased[near[0]]!r}?" if near else f"Columns: {seen(', '.join(columns))}."


def because_problems(because: str | None) -> Iterator[str]:
    """Say what the rules of `unknown` in a plan have against a reason.

    Parameters
    ----------
    because
        The reason; None where there is none.
    """
    if because is None:
        return
    try:
        Unknown(columns=OTHERS, because=because)
    except ValidationError as error:
        yield from (f"--because: {e['msg'].removeprefix('Value error, ')}." for e in error.errors())


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names))
