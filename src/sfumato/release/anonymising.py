"""Find the levels at which a table meets what is asked, before anything is released: and say what else could be had."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.hidden import HIDDEN
from sfumato.data.hierarchy import Hierarchy
from sfumato.data.profile import profile
from sfumato.data.query import Counts
from sfumato.data.roles import Role
from sfumato.data.yaml import dump_yaml
from sfumato.draws import PUBLIC
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import DataError, EmptyRelease
from sfumato.measures.registry import figures
from sfumato.measures.subject import KEYS
from sfumato.methods.anonymise.coding import Coded, Key, coded
from sfumato.methods.anonymise.method import Anonymise, Anonymised
from sfumato.methods.pseudonymise import Pseudonymise
from sfumato.plan.limits import Limit
from sfumato.plan.plan import Plan
from sfumato.progress import Progress, quiet
from sfumato.release.run import run_steps
from sfumato.release.verdict import open_ids

__all__ = ["Anonymisation", "KeyLevel", "asked_limits", "guessed_keys", "search", "with_new_ids", "with_step"]


class KeyLevel(NamedTuple):
    """A key, its level and the top level, and how many categories it has now and had before."""

    name: str
    level: int
    height: int
    now: int
    before: int


@dataclass(frozen=True)
class Anonymisation:
    """What `anonymise` found: the level of each key, and what it costs.

    Parameters
    ----------
    plan
        The plan that makes the release: `sf.protect(found.plan, data)`.
    step
        The step, `anonymise`.
    found
        What was found; confidential as far as it counts.
    """

    plan: Plan
    step: Anonymise
    found: Anonymised
    _seen: Coded = field(repr=False)
    _codebook: Codebook = field(repr=False)

    @property
    def levels(self) -> dict[str, int]:
        """Level of each key."""
        return dict(self.found.levels)

    @property
    def score(self) -> float:
        """The loss."""
        return self.found.score

    @property
    def suppressed(self) -> int:
        """Records that are left out."""
        return self.found.suppressed

    @property
    def optimal(self) -> bool:
        """Whether nothing loses less."""
        return self.found.optimal

    @property
    def bound(self) -> float:
        """What everything loses at least."""
        return self.found.bound

    @property
    def records(self) -> int:
        """Records of the table."""
        return self._seen.patterns.records

    def key_levels(self) -> list[KeyLevel]:
        """Each key with its level, and how many categories it has now and had before."""
        found = []
        for number, key in enumerate(self._seen.keys):
            level = self.levels[key.name]
            there = set(self._seen.patterns.codes[:, number].tolist())
            found.append(KeyLevel(key.name, level, key.hierarchy.height, self._now(key, level, there), len(there)))
        return found

    def _now(self, key: Key, level: int, there: set[int]) -> int:
        """How many categories a key has that is released on a level, or each cell on its own."""
        if self.found.cells is not None and level:
            return self.found.cells[f"{HIDDEN}{key.name}"].n_unique()
        return len({category for leaf, category in enumerate(key.categories(level)) if leaf in there})

    def to_plain(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "score": self.score,
            "levels": self.levels,
            "suppressed": self.suppressed,
            "optimal": self.optimal,
            "bound": self.bound,
        }

    def others(self, progress: Progress = quiet) -> list[tuple[str, Anonymised | None]]:
        """What one less and one more of k, and half and double the limit would give; None where nothing meets it."""
        limit = self.step.suppression_limit
        changes: list[tuple[str, dict[str, Any]]] = [
            (f"k = {k}", {"k": k}) for k in (self.step.k - 1, self.step.k + 1) if k >= 2
        ]
        limits = [share for share in (limit / 2, min(limit * 2, 1.0)) if share != limit]
        changes += [(f"suppression_limit = {share:g}", {"suppression_limit": share}) for share in limits]
        found = []
        for i, (said, change) in enumerate(changes):
            progress(f"trying {said}", i / len(changes))
            found.append((said, self._again(change)))
        return found

    def _again(self, change: dict[str, Any]) -> Anonymised | None:
        try:
            return self.step.model_copy(update=change).search(self._codebook, self._seen)
        except EmptyRelease:
            return None

    def recoding(self) -> str:
        """The recoding as steps of a plan, for next year's file: YAML with every category, and no count."""
        steps: list[dict[str, Any]] = []
        for key in self._seen.keys:
            if (level := self.found.levels[key.name]) > 0:
                hierarchy = {leaf: list(above) for leaf, above in key.hierarchy.to_variable().items()}
                steps.append({"do": "recode", "columns": [key.name], "level": level, "hierarchy": hierarchy})
        return dump_yaml({"steps": steps})


def guessed_keys(data: PolarsDataset) -> tuple[str, ...]:
    """The columns that `init` takes for what an intruder may know.

    Raises
    ------
    DataError
        Where there is none.

    Examples
    --------
    >>> import polars as pl
    >>> guessed_keys(PolarsDataset(pl.DataFrame({"sex": ["f", "m"] * 9}), Codebook()))
    ('sex',)
    """
    found = tuple(g.name for g in profile(data.frame, data.codebook) if g.variable.role == Role.KEY)
    if not found:
        raise DataError("No column looks like one that an intruder may know. Name those that are: --keys age,sex")
    return found


def with_step(plan: Plan, step: Anonymise, hierarchies: dict[str, Hierarchy]) -> Plan:
    """A plan with the step at its end, its keys and sensitive variables in their roles, and what is asked as limits.

    Parameters
    ----------
    plan
        What is done before.
    step
        The step.
    hierarchies
        Of keys, where they are in no file.
    """
    variables = dict(plan.variables)
    for names, role in ((step.keys, Role.KEY), (step.sensitive, Role.SENSITIVE)):
        for name in names:
            variables[name] = variables.get(name, Variable()).model_copy(update={"role": role})
            variables[name].model_fields_set.add("role")
    for name, hierarchy in hierarchies.items():
        variables[name] = variables.get(name, Variable()).model_copy(update={"hierarchy": hierarchy.to_variable()})
        variables[name].model_fields_set.add("hierarchy")
    asked = [limit for limit in asked_limits(step) if limit not in plan.limits]
    made = plan.model_copy(
        update={"variables": variables, "steps": (*plan.steps, step), "limits": (*plan.limits, *asked)}
    )
    return made.beside(plan)


def with_new_ids(plan: Plan, data: PolarsDataset) -> Plan:
    """A plan that gives new ids by its last steps, a column each, where nobody has said what becomes of the old ones.

    Parameters
    ----------
    plan
        A plan whose steps keep every id.
    data
        The table.
    """
    frame = plan.read(data.frame)
    book = plan.codebook(frame, data.codebook)
    found = open_ids(plan, book, book, replace(data, frame=frame, codebook=book))
    new = [Pseudonymise(columns=(n,), scope="table", format=_form(book[n])) for n in found]
    return plan.model_copy(update={"steps": (*plan.steps, *new)}).beside(plan)


def _form(known: Variable) -> Literal["code", "number"]:
    return "code" if known.missing else "number"  # a number is no code for what is missing


def asked_limits(step: Anonymise) -> list[Limit]:
    """What a step asks of each class, as limits of a plan."""
    limits = [Limit(measure="k_anonymity", at_least=step.k, group=KEYS)]
    for name in step.sensitive:
        if step.l is not None and step.l_kind == "recursive":
            limits.append(Limit(measure="l_recursive_c", at_most=step.l_c, at=step.l, variable=name, group=KEYS))
        elif step.l is not None:
            limits.append(Limit(measure=f"l_{step.l_kind}", at_least=step.l, variable=name, group=KEYS))
        upper = {
            f"t_{step.t_kind}": step.t,
            "alpha": step.alpha,
            f"beta_{step.beta_kind}": step.beta,
            "delta_disclosure": step.delta,
        }
        limits += [Limit(measure=m, at_most=x, variable=name, group=KEYS) for m, x in upper.items() if x is not None]
    overall = {"risk_average": step.risk_average, "uniques_sample": step.uniques_sample}
    limits += [Limit(measure=m, at_most=x, group=KEYS) for m, x in overall.items() if x is not None]
    return [limit for limit in limits if limit.measure in figures()]


def search(data: PolarsDataset, plan: Plan, progress: Progress = quiet) -> Anonymisation:
    """Find the levels of a plan's last step, of the table as it enters that step.

    Parameters
    ----------
    data
        The table.
    plan
        Its last step is `anonymise`; those before are run.
    progress
        Called with what is being done.

    Raises
    ------
    EmptyRelease
        Where no levels meet what is asked.
    """
    step = plan.steps[-1]
    assert isinstance(step, Anonymise), "the last step is the one whose levels are searched"
    frame = plan.read(data.frame)
    book = plan.codebook(frame, data.codebook)
    plan.check(book)
    plan.check_kinds(frame)
    progress("preparing", 0)
    ran = run_steps(plan.steps[:-1], replace(data, frame=frame, codebook=book), PUBLIC)
    book = ran.after.codebook
    secret: Sequence[str] = step.secret(book)
    progress("searching", 0.1)
    seen = coded(ran.after.ask(Counts((*step.keys, *secret))), book, step.keys, secret)
    return Anonymisation(plan, step, step.search(book, seen), seen, book)
