"""Analyses: exact where the tables that give them are safe, else with noise, of people enough, within the budget."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from sfumato.data.roles import IDS, Role
from sfumato.errors import DataError
from sfumato.gate.analyses.fitting import exact_fit, protected_fit
from sfumato.gate.analyses.footprint import footprint
from sfumato.gate.analyses.full_sums import leave_open
from sfumato.gate.analyses.kind import Threshold
from sfumato.gate.analyses.problem import Problem, problem_of
from sfumato.gate.analyses.request import Request, read_analysis
from sfumato.gate.analyses.simpler import models_of_table, simpler
from sfumato.gate.analyses.tables import table_of
from sfumato.gate.analyses.thresholds import unmet
from sfumato.gate.analyses.told import content_of_fit
from sfumato.gate.analyses.values import node_of
from sfumato.gate.derived import State
from sfumato.gate.margin import Margin
from sfumato.gate.offers import MOST, Offer
from sfumato.gate.policy import Policy, protected_count
from sfumato.gate.records import Records
from sfumato.gate.serving.asking import Answer, Asking, _Asked, _Found
from sfumato.gate.serving.describing import Describing
from sfumato.gate.world import Outcome, World

__all__ = ["Analysing"]

_LEAST = "1"
"""The square of the least tau."""
_NO_PART = (*IDS, Role.IDENTIFIER, Role.WEIGHT)


class Analysing(Asking, Describing):
    """The part of a gate that fits models."""

    def analyse(
        self,
        who: str,
        dataset: str,
        kind: str,
        formula: str,
        *,
        where: Mapping[str, Sequence[str]] | None = None,
        version: str | None = None,
        event: str | None = None,
        cluster: str | None = None,
        key: str | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> Answer:
        """Decide a model or a statistic, write it down, and give what is granted.

        A table of counts is decided as the table that it is. A fit whose variables all have codes follows from tables:
        where these are safe together they are what is remembered, and the fit is exact. Any other is made of 95% of the
        people, none of whom can move it far, with noise that hides each of them; its strength enters the budget.

        Parameters
        ----------
        who
            An analyst, or `public`.
        dataset
            Name of the data set.
        kind
            Name of a kind of analysis.
        formula
            `y ~ a + C(b)`; levels in backticks: `` `age@band10` ``.
        where
            By variable or level, the groups whose records it is about.
        version
            The newest where it is None.
        event, cluster
            Variables beside the formula.
        key
            Of the request: the same key gets the same answer, and nothing is decided again.
        options
            As for `sfumato.gate.analyses.request.read_analysis`.

        Raises
        ------
        DataError, FormulaError
            Unknown names, a formula outside the grammar; a key that stood with another request.
        DataStopped
            The data set's file changed.
        LimitReached
            No more requests, or grants, on this day.

        Notes
        -----
        It does not protect against who knows all people but one and asks for more than the budget of noise allows; the
        budget says how well such a one can tell. Nothing is claimed to be differentially private: scales come from the
        data.
        """
        with self._lock:
            self._catch_up()
            records = self._records(self._state, dataset)
            groups = self.groups(dataset, where)
            request = read_analysis(records, kind, formula, groups, version, event, cluster, options)
            self._refuse_names(dataset, request)
            if request.kind.shape == "table":
                if options and "complete_cases" in options:
                    raise DataError(
                        f"{request.kind.title} shows missing values as categories: leave `complete_cases` out."
                    )
                return self.ask(who, dataset, table_of(request), request.where, key, analysis=request)
            if (request.protected or footprint(records, request) is None) and not self._has_keys(records):
                raise DataError(
                    "Answers with noise need each person's key: name the column of record ids (`record`) and the "
                    "secret's file."
                )
            told = _asked_plain(dataset, request)
            return self._once(who, dataset, key, told, lambda state: self._fitted(state, who, dataset, request))

    def _refuse_names(self, dataset: str, request: Request) -> None:
        """Refuse variables that say who somebody is, or how much a record weighs."""
        book = self.codebook(dataset)
        roles = {variable.name: variable.role for variable in book.variables}
        for name in request.names:
            if request.kind.shape == "table" and name not in book.nodes():
                raise DataError(f"No table is shown by {name!r}: it is no variable of categories. Take a level of it.")
            role = roles.get(node_of(name).variable, "")
            if role in _NO_PART and not (role == Role.HOUSEHOLD and name == request.cluster):
                raise DataError(f"{name!r} is no part of an analysis: its role is {role}.")

    def _fitted(self, state: State, who: str, dataset: str, request: Request) -> _Found:
        """What is decided about a fit, and about simpler ones where it is refused."""
        self._refuse_others(state, who)
        records = self._records(state, dataset)
        found = self._decided_fit(state, who, dataset, request, records)
        if found.outcome.granted or found.outcome.reasons in (("noise",), ("scope",)):
            return found
        tried: list[tuple[Margin, Outcome]] = []
        offers: list[Offer] = []
        for other in simpler(request, records):
            own = self._decided_fit(state, who, dataset, other, records)
            tried.append((own.asked.margin, own.outcome))
            if own.outcome.granted:
                offers.append(Offer("analysis", own.asked.margin))
            if len(offers) == MOST:
                break
        return replace(found, tried=tuple(tried), offers=tuple(offers))

    def _decided_fit(self, state: State, who: str, dataset: str, request: Request, records: Records) -> _Found:
        world = state.world({dataset: records})
        asked = _asked(who, dataset, request, records)
        margins = footprint(records, request)
        held = world.knows(who, dataset)
        earlier = next((m for m in held if (m.fit, m.version) == (request.text, request.version)), None)
        known = margins is not None and world.ask_all(who, dataset, margins).reasons == ("known",)
        policies = [world.policy(one) for one in sorted(world.reach(who))]
        count = max(map(protected_count, policies))
        try:
            problem = problem_of(records, request)
            if not known and earlier is None:
                attributions = {policy.attribution for policy in policies if policy.attribution is not None}
                if failed := unmet(problem, _limits(request, policies), count, attributions):
                    return _Found(asked, Outcome("refused", failed, "released"))
        except DataError:  # what these people have makes no such model: told as any other that there is not
            return _Found(asked, Outcome("refused", ("model",), "released"))
        tried: dict[str, Any] = {}
        if margins is not None and not request.protected:
            found, tried = self._exact(state, world, asked, problem, margins)
            if found is not None:
                return found
        if not self._has_keys(records):
            return _Found(asked, Outcome("refused", tuple(tried["exact"]["reasons"])), more=tried)
        made = self._protected(world, asked, problem, count, earlier)
        return replace(made, more={**tried, **made.more})

    def _has_keys(self, records: Records) -> bool:
        return records.words is not None and self.sources.draws() is not None

    def _exact(
        self, state: State, world: World, asked: _Asked, problem: Problem, margins: tuple[Margin, ...]
    ) -> tuple[_Found | None, dict[str, Any]]:
        """An exact answer, if the tables that give it may be told; what was decided about it goes into the entry."""
        outcome = world.ask_all(asked.who, asked.dataset, margins)
        new = outcome.reasons != ("known",)
        if outcome.granted and new and not all(self._may_be_public(state, asked, one) for one in margins):
            outcome = Outcome("refused", ("public",), outcome.stage, outcome.work)
        if outcome.granted and not leave_open(problem.records, margins):  # known may be to three digits
            outcome = Outcome("refused", ("sum",), "released", outcome.work)
        if not outcome.granted:
            return None, {"exact": self._outcome_body(outcome)}
        plain = [one.to_plain() for one in margins]
        try:
            fit = exact_fit(problem)
        except DataError:  # that there is none follows from the tables: they are known then
            refused = Outcome("refused", ("model",), outcome.stage, outcome.work)
            return _Found(asked, refused, more={"charged": plain}), {}
        content = content_of_fit(asked.dataset, problem, fit, None)
        return _Found(asked, outcome, content=content, more={"margins": plain}), {}

    def _protected(self, world: World, asked: _Asked, problem: Problem, count: int, earlier: Margin | None) -> _Found:
        """An answer with noise, if the budget of all who may come to know it allows; what was given is given again.

        That there is no estimate tells something too: it costs what the least noise does.
        """
        strength = earlier.noise if earlier else None
        try:
            fit = protected_fit(problem, self.sources.draws(), count, strength, asked.dataset)
        except DataError:
            margin = problem.request.protected_by(_LEAST)
            outcome = world.ask(asked.who, asked.dataset, margin)
            if not outcome.granted:
                return _Found(asked, Outcome("refused", outcome.reasons, "noise"))
            return _Found(asked, Outcome("refused", ("model",), "noise"), more={"charged": [margin.to_plain()]})
        margin = problem.request.protected_by(fit.noise)
        outcome = world.ask(asked.who, asked.dataset, margin)
        content = content_of_fit(asked.dataset, problem, fit.told, fit) if outcome.granted else None
        return _Found(replace(asked, request=margin, margin=margin), outcome, content=content)

    def _models_instead(self, state: State, asked: _Asked) -> Iterator[tuple[Margin, Outcome]]:
        """Models that may be had in place of a table that is refused."""
        for request in models_of_table(asked.request, asked.where, asked.records):
            with suppress(DataError):  # no model of these variables, or no keys to draw noise with
                found = self._decided_fit(state, asked.who, asked.dataset, request, asked.records)
                yield found.asked.margin, found.outcome


def _asked(who: str, dataset: str, request: Request, records: Records) -> _Asked:
    margin = request.protected_by("")
    return _Asked(who, dataset, margin, request.where, margin, records)


def _asked_plain(dataset: str, request: Request) -> dict[str, Any]:
    return {
        "dataset": dataset,
        "analysis": request.to_plain(),
        "version": request.version,
        "protected": request.protected,
    }


def _limits(request: Request, policies: Sequence[Policy]) -> list[Threshold]:
    """What must hold for all who may come to know an answer: of each threshold the strictest."""
    out: dict[str, Threshold] = {}
    for policy in policies:
        for one in request.kind.limits(policy.preset):
            out.setdefault(one.name, one)
    return list(out.values())
