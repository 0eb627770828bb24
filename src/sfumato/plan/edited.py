"""A plan that somebody has edited, as the ground for a new draft: what it says of variables stays."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from sfumato.data.profile import Guess
from sfumato.data.roles import IDS, NOT_LEARNT, Role
from sfumato.data.yaml import plain
from sfumato.errors import DataError, PlanError
from sfumato.plan.editing.written import flow
from sfumato.plan.plan import Plan
from sfumato.plan.unknown import OTHERS, Unknown
from sfumato.plan.wishes import because_problems

__all__ = ["Edited"]

_ONCE = frozenset({*IDS, Role.WEIGHT})
_AS_SAID = "as the plan says"


@dataclass(frozen=True)
class Edited:
    """What stays of an edited plan: title, variables, what nobody knows; steps and limits are drafted again.

    Parameters
    ----------
    plan
        The plan, of one table.
    because
        Why nobody knows what it leaves open.

    Raises
    ------
    PlanError
        For a plan of several tables, or a reason where nothing is open.
    DataError
        For a reason that is none.

    Examples
    --------
    >>> edited = Edited(Plan(title="people", variables={"sex": {"role": "key"}}))
    >>> edited.of_keys, list(edited.head())[1:]
    (False, ['sfumato: 1', 'title: people'])
    """

    plan: Plan
    because: str | None = None

    def __post_init__(self) -> None:
        if self.plan.tables:
            raise PlanError(["the plan has several tables: a draft takes the roles of a plan of one table"])
        if self.because is not None and all(each.decided for each in self.plan.unknown):
            raise PlanError(['the plan leaves nothing open (because: "?") that the reason could be for'])
        if problems := list(because_problems(self.because)):
            raise DataError(" ".join(problems))

    @property
    def of_keys(self) -> bool:
        """Whether it says who knows what."""
        return bool(self.plan.unknown)

    def check(self, columns: Collection[str]) -> None:
        """Refuse variables that are not in the data, but for those that a step of the plan makes.

        Raises
        ------
        PlanError
            With every problem at once.
        """
        made = {n for step in self.plan.steps for n in step.changes if step.name == "derive"}
        named = dict.fromkeys([*self.plan.variables, *(n for each in self.plan.unknown for n in each.of(()))])
        if strange := [n for n in named if n not in columns and n not in made]:
            raise PlanError([f"variable {n!r} is not in the data" for n in strange])

    def over(self, guesses: Sequence[Guess]) -> tuple[Guess, ...]:
        """The guesses, where the plan's word comes first.

        Parameters
        ----------
        guesses
            What `profile` proposes.
        """
        variables = self.plan.variables
        taken = {v.role for v in variables.values()} & _ONCE
        found = []
        for guess in guesses:
            if guess.name in variables:
                found.append(self._over(guess))
            elif guess.variable.role in taken:
                found.append(_free(guess))
            elif guess.variable.role == Role.KEY and self.says_unknown(guess.name):
                variable = guess.variable.model_copy(update={"role": Role.OTHER})
                found.append(replace(guess, variable=variable, reason="nobody knows it, the plan says"))
            else:
                found.append(guess)
        return tuple(found)

    def _over(self, guess: Guess) -> Guess:
        said = self.plan.variables[guess.name]
        kind = said.kind or guess.variable.kind
        variable = guess.variable.model_copy(update={n: getattr(said, n) for n in said.model_fields_set})
        variable = variable.model_copy(update={"role": said.role, "sensitive": said.sensitive, "kind": kind})
        leaves = guess.leaves and bool(guess.found_in_labels)
        return replace(guess, variable=variable, reason=_AS_SAID, certain=True, leaves=leaves)

    def lines(self, guesses: Sequence[Guess]) -> dict[str, str]:
        """What the plan says of each variable, in one line of YAML.

        Parameters
        ----------
        guesses
            What each is: roles that wishes changed since.
        """
        found = {}
        for guess in guesses:
            if (said := self.plan.variables.get(guess.name)) is not None:
                now = {"role": guess.variable.role, "kind": guess.variable.kind, "sensitive": guess.variable.sensitive}
                told = {"role": said.role} | said.model_dump(exclude_unset=True)
                told |= {"sensitive": True} if guess.variable.sensitive else {}
                if said.range is not None:
                    told["range"] = [int(b) if b is not None and b == int(b) else b for b in said.range]
                found[guess.name] = flow(plain({n: now.get(n, value) for n, value in told.items()}))
        return found

    def head(self) -> Iterator[str]:
        """The lines before the variables."""
        yield "# Drafted again from a plan: title, variables and what nobody knows are those of it."
        yield "sfumato: 1"
        said = self.plan.model_dump(mode="json", exclude_unset=True)
        yield f"title: {flow(self.plan.title)}"
        for key in ("description", "earlier", "access", "consent", "order"):
            if said.get(key):
                yield f"{key}: {flow(plain(said[key]))}"

    def says_unknown(self, column: str) -> bool:
        """Whether it is said of a column that is no key that nobody knows it."""
        return any(each.columns == OTHERS or column in each.columns for each in self.plan.unknown)

    def stated(self, released: Sequence[str], known: Collection[str]) -> tuple[Unknown, ...]:
        """What nobody knows, with the reason in the place of open questions.

        Parameters
        ----------
        released
            Columns that leave, but for ids; of others nothing need be said.
        known
            Those that somebody may know.
        """
        found = []
        for each in self.plan.unknown:
            rest = [n for n in released if n not in known]
            columns = each.columns if each.columns == OTHERS else tuple(n for n in each.columns if n in rest)
            if rest and columns:
                because = each.because if each.decided or self.because is None else self.because
                found.append(Unknown(columns=columns, because=because))
        return tuple(found)

    def known(self, guesses: Sequence[Guess]) -> tuple[str, ...]:
        """The columns that somebody may know: all but those that nobody does.

        Parameters
        ----------
        guesses
            As `over` gives them.
        """
        others = any(each.columns == OTHERS for each in self.plan.unknown)
        unknown = {n for each in self.plan.unknown for n in each.of(())}
        return tuple(
            g.name
            for g in guesses
            if g.name not in unknown
            and g.variable.role not in NOT_LEARNT
            and (not others or g.variable.role == Role.KEY)
        )


def _free(guess: Guess) -> Guess:
    """A column that the plan does not name, in the place of one that it does: as another id or weight."""
    role = Role.OTHER if guess.variable.role == Role.WEIGHT else Role.IDENTIFIER
    variable = guess.variable.model_copy(update={"role": role})
    return replace(guess, variable=variable, reason=f"another one than the plan's; {guess.reason}", leaves=True)
