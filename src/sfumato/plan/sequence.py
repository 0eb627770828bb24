"""What one step of a plan makes of what an earlier one did: combinations that would make a release untrue or unsafe."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sfumato.data.codebook import Codebook
from sfumato.data.roles import Role
from sfumato.methods.base import Method

__all__ = ["sequence_problems"]

_KEEPS_LAW = (
    *("drop", "noise", "pram", "swap", "swap_households", "shuffle"),
    *("sample", "suppress_strata", "complete_cases"),
)
"""Steps whose own disclosure tells what they add to an earlier error."""
_COPY_BY_COPY = ("drop", "recode", "derive")
"""Steps that look at single rows."""
_LEARN_NOTHING = ("drop", "derive")
"""Steps that disclose nothing of the data but what the plan says."""


def sequence_problems(done: Sequence[Method], step: Method, codebook: Codebook) -> list[str]:
    """Tell what a step must not do after those before it.

    Parameters
    ----------
    done
        The steps before it.
    step
        The step.
    codebook
        What is known of the table as it enters the step.

    Examples
    --------
    >>> from sfumato.methods.derive import Derive
    >>> from sfumato.methods.recode import Recode
    >>> done = [Recode(columns=("age",), band=(18,))]
    >>> sequence_problems(done, Derive(column="age", formula="height"), Codebook({}))[0][:52]
    'it overwrites age, which recode coarsened: what is r'
    """
    return [
        *_unmasked(done, step),
        *_untold(done, step),
        *_unkeyed(done, step, codebook),
        *_mixing(done, step),
        *_learning(done, step),
    ]


def _mixing(done: Sequence[Method], step: Method) -> Iterator[str]:
    """What would ask several copies of a table as one."""
    if any(earlier.name == "synthesise" for earlier in done) and step.name not in _COPY_BY_COPY:
        yield (
            f"it would take the copies of synthesise for one table: only {', '.join(_COPY_BY_COPY)} may follow. Put "
            "this step before it"
        )


def _learning(done: Sequence[Method], step: Method) -> Iterator[str]:
    """What would be disclosed of the data beside copies that hold nothing of them: a variance of noise, say."""
    others = dict.fromkeys(s.name for s in done if s.name not in _LEARN_NOTHING)
    if step.hides_categories and others:
        yield (
            f"`method: structure` takes nothing from the data, and {', '.join(others)} before it would disclose "
            f"something of them: leave it out (only {' and '.join(_LEARN_NOTHING)} may come before)"
        )


def _untold(done: Sequence[Method], step: Method) -> Iterator[str]:
    """What a step would do to columns whose error an earlier one discloses: the disclosure became untrue."""
    for earlier in (s for s in done if s.draws_error):
        untrue = f"after {earlier.name}, whose disclosure would then be untrue: put this step before it"
        if step.name not in _KEEPS_LAW and (again := sorted(set(step.changes) & set(earlier.changes))):
            yield f"it changes {', '.join(again)} {untrue}"
        if step.name != "drop" and (moved := sorted(set(step.changes) & set(earlier.strata))):
            yield f"it changes the strata {', '.join(moved)} {untrue}"
        if read := sorted(set(step.reads) & set(earlier.changes)):
            yield f"it computes from {', '.join(read)} {untrue}"


def _unmasked(done: Sequence[Method], step: Method) -> Iterator[str]:
    """What would be put in the place of a protected column; where its error is disclosed, `_untold` says so."""
    earlier = [s for s in done if s.coarsens or (s.masks and not s.draws_error)]
    how = {n: f"{s.name} {'masked' if s.masks else 'coarsened'}" for s in earlier for n in s.changes}
    for n in step.changes if step.name == "derive" else ():
        if n in how:
            yield (
                f"it overwrites {n}, which {how[n]}: what is released would not be what is disclosed "
                "and measured. Give the new column another name, or put this step before that one"
            )


def _unkeyed(done: Sequence[Method], step: Method, codebook: Codebook) -> Iterator[str]:
    """Ids that a step draws on and that an earlier one replaced: in each scope the same person would draw anew."""
    persons = (Role.PERSON,) if Role.RECORD in step.keyed_on else ()  # what is the same for a person is keyed on them
    for role in (*step.keyed_on, *persons):
        column = codebook.the(role)
        earlier = next((s for s in done if s.replaces and column in s.changes), None)
        if earlier is not None:
            yield (
                f"its draws are keyed on {column}, which {earlier.name} replaced: releases with another scope "
                f"would draw anew for the same people, and could be averaged. Put this step before it"
            )
