"""What steps take over from an earlier release of the same people, so that values that did not change keep their draws.

A strength that is learned moves when one person leaves, and draws are keyed on strengths: everybody's would be drawn
anew, and the two releases would average. What an earlier release disclosed costs nothing to repeat.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from sfumato.data.disclosure import Disclosed, Disclosure
from sfumato.data.publishable import Publishable
from sfumato.errors import PlanError
from sfumato.methods.base import Method
from sfumato.plan.plan import Plan
from sfumato.release.package.papers import PLAN, Papers
from sfumato.release.package.renaming import renamed_disclosure

__all__ = ["Published", "Taking"]

_TAKEN = (
    "{step}: what the release discloses of {columns} was taken over from an earlier release of the same people, not "
    "learned from these data, so that values that did not change keep their draws."
)


@dataclass(frozen=True)
class Published:
    """What an earlier release says of itself.

    Parameters
    ----------
    name
        What the custodian calls it.
    fingerprint
        Hash by which releases with the same secret are known.
    steps
        The steps of its plan; none where there is no plan beside it.
    disclosure
        What it tells, under the plan's names.
    measured
        Whether the true values that it was made from are known, so that what it tells beside the new one is measured.
    """

    name: str
    fingerprint: str
    steps: tuple[Method, ...] = ()
    disclosure: Disclosure = field(default_factory=Disclosure)
    measured: bool = False

    @classmethod
    def of(cls, papers: Papers, name: str = "", measured: bool = False) -> Published:
        """From a release's papers, and the plan that lies beside them."""
        beside = papers.data.parent / PLAN
        steps: tuple[Method, ...] = ()
        if beside.is_file():
            with suppress(PlanError):  # one of another version, which this one would not run
                steps = Plan.load(beside).the_table(papers.table or None).steps
        return cls(name, papers.fingerprint, steps, renamed_disclosure(papers.disclosure, papers.names), measured)


@dataclass(frozen=True)
class Taking:
    """From which earlier releases steps take what they disclosed.

    Parameters
    ----------
    fingerprint
        That of the secret of this release: draws of another are others, whatever their strength.
    releases
        The earlier releases, newest first.

    Examples
    --------
    >>> from sfumato.methods.noise import Noise
    >>> step = Noise(columns=("age",), share=0.1)
    >>> then = Published("wave1", "ab", (step,))
    >>> Taking("ab", (then,)).told(step), Taking("cd", (then,)).told(step)
    ((), None)
    """

    fingerprint: str
    releases: tuple[Published, ...]

    def told(self, step: Method) -> Sequence[Disclosed] | None:
        """What the newest earlier release that has the same step disclosed; None where none has it."""
        for each in self.releases:
            if each.fingerprint == self.fingerprint and step in each.steps:
                return each.disclosure.parts
        return None

    def said(self, step: Method, told: Sequence[Disclosed] | None, taken: bool) -> str:
        """Whether something was taken, for the report; where it was, the documentation says so."""
        columns = ", ".join(step.changes)
        if taken:
            return Publishable(_TAKEN.format(step=step.name, columns=columns))
        why = "no earlier release with the same secret has the same step"
        if told is not None:
            why = "the newest one that has the same step does not tell it exactly, or too few records are left for it"
        return (
            f"{step.name}: nothing was taken over for {columns}, since {why}. Its strength was learned from these "
            "data, so that values may be drawn anew although they did not change: two releases then tell more than one."
        )

    def warnings(self) -> tuple[str, ...]:
        """Earlier releases from which nothing can be taken, whatever the steps, and those that are not measured."""
        other = [each.name for each in self.releases if each.steps and each.fingerprint != self.fingerprint]
        bare = [each.name for each in self.releases if not each.steps]
        unmeasured = [each.name for each in self.releases if not each.measured]
        said = []
        if other:
            said.append(
                f"Nothing is taken over from {', '.join(other)}: made with another secret, so that all draws are "
                "others. Whoever has both can average them."
            )
        if bare:
            said.append(f"Nothing is taken over from {', '.join(bare)}: there is no plan of its own beside the data.")
        if unmeasured:
            said.append(
                f"What {', '.join(unmeasured)} tells beside this release was not measured (differencing): that needs "
                "the true values that it was made from. Name both in the plan: earlier: [{release: ..., truth: ...}]."
            )
        return tuple(said)
