"""What is left to somebody, seen before they ask: of the budget of noise, and of the day."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sfumato.gate.ledger import now
from sfumato.gate.margin import Margin
from sfumato.gate.noise import allowed, budget_of, fitting, mu, spent, written
from sfumato.gate.policy import Policy
from sfumato.gate.serving.asking import Asking

__all__ = ["Budget", "Budgeting", "PerturbedLeft"]


@dataclass(frozen=True)
class PerturbedLeft:
    """What tables with noise cost.

    Parameters
    ----------
    variance
        Of the noise of each cell.
    cost
        How much larger the next one makes mu.
    left
        How many different ones fit into the budget.
    """

    variance: float
    cost: float
    left: int

    def to_plain(self) -> dict[str, Any]:
        """For JSON."""
        return {"variance": self.variance, "cost": self.cost, "left": self.left}


@dataclass(frozen=True)
class Budget:
    """What is left to somebody.

    Parameters
    ----------
    mu
        What the noisy answers that they may know tell together, those of others among them that may reach them.
    mu_at_most
        What these may tell by their policy.
    perturbed
        What tables with noise cost; None where none can be had.
    requests_left, grants_left
        On this day (UTC); None where there is no limit.

    Examples
    --------
    >>> Budget(0.0, 1.0, PerturbedLeft(9.0, 1 / 3, 9), None, 20).to_plain()["perturbed"]["left"]
    9
    """

    mu: float
    mu_at_most: float
    perturbed: PerturbedLeft | None
    requests_left: int | None
    grants_left: int | None

    def to_plain(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "mu": self.mu,
            "mu_at_most": self.mu_at_most,
            "perturbed": None if self.perturbed is None else self.perturbed.to_plain(),
            "requests_left": self.requests_left,
            "grants_left": self.grants_left,
        }


class Budgeting(Asking):
    """The part of a gate that says what is left. Nothing is written, and nothing is counted as a request."""

    def budget(self, who: str, dataset: str) -> Budget:
        """What is left to somebody of a data set.

        Parameters
        ----------
        who
            An analyst, or `public`.
        dataset
            Name of the data set.

        Raises
        ------
        DataError
            Unknown names, or somebody who does not ask.
        DataStopped
            The data set's file changed.

        Notes
        -----
        It tells nothing of the data, and of others no more than that they asked for something with noise. What a table
        costs follows from the policy alone. What a model costs hangs on how many people it is about, so it is told with
        the answer and never before: else every `where` could be counted, and nothing of it would be remembered.

        How many tables are left follows from what `who` knows and from the policies of all whom an answer would reach.
        One of these may know of more noise, from elsewhere; then fewer are given. Whose budget it was is not told.
        """
        with self._lock:
            self._catch_up()
            state = self._state
            self._refuse_others(state, who)
            records = self._records(state, dataset)
            held = frozenset(map(records.structure.canonical, state.knows(who, dataset)))
            policies = [state.policies[state.people[one].principal.policy][1] for one in sorted(state.reach(who))]
            own = state.policies[state.people[who].principal.policy][1]
            left = self._left_today(who, own)
        noisy = None if records.words is None else _perturbed(held, own, policies)
        return Budget(mu(held), budget_of(own), noisy, *left)

    def _left_today(self, who: str, policy: Policy) -> tuple[int | None, int | None]:
        with self.store.reading() as view:
            asked, given = view.today(who, now()[:10])
        limits = (policy.requests_per_day, asked), (policy.grants_per_day, given)
        requests, grants = (None if most is None else max(most - had, 0) for most, had in limits)
        return requests, grants


def _perturbed(held: Collection[Margin], own: Policy, policies: Iterable[Policy]) -> PerturbedLeft | None:
    """What tables with noise cost somebody who knows some margins; None where a policy allows none."""
    if own.perturbed is None:
        return None
    noise, policies = written(own.perturbed.variance), list(policies)
    if any(allowed([Margin(noise=noise)], policy).reasons == ("perturbed",) for policy in policies):
        return None
    before = spent(held)
    cost = math.sqrt(before + 1 / Fraction(noise)) - math.sqrt(before)
    return PerturbedLeft(own.perturbed.variance, cost, fitting(before, noise, min(map(budget_of, policies))))
