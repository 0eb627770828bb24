"""When a table may go to the public: where it limits little what others can still be given."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from sfumato.gate.margin import Margin
from sfumato.gate.maximal import Maximal, maximal_of
from sfumato.gate.policy import Policy, PublicRule
from sfumato.gate.records import Records

__all__ = ["Publishing"]


@dataclass
class Publishing:
    """The rule for the public over one data set; maximal releases are found once for each policy.

    Parameters
    ----------
    data
        The records.
    restarts
        How many maximal releases are searched for where there are too many to try all.
    """

    data: Records
    restarts: int = 30
    _found: dict[str, Maximal] = field(default_factory=dict, init=False, repr=False)

    def allows(self, request: Margin, rule: PublicRule, policies: Iterable[Policy], grants: int) -> bool:
        """Whether a table may be asked for by the public.

        Parameters
        ----------
        request
            The table.
        rule
            What the public's policy says.
        policies
            Those of others: the table must stand in the stated share of the maximal releases of each.
        grants
            How many tables were given to others so far; enough of them open the door.
        """
        if rule.grants is not None and grants >= rule.grants:
            return True
        return all(self.share(request, policy) >= rule.share for policy in policies)

    def share(self, request: Margin, policy: Policy) -> float:
        """In what share of the maximal releases a table is contained; of a level's table that of its variable."""
        if policy.digest not in self._found:
            self._found[policy.digest] = maximal_of(self.data, policy, restarts=self.restarts)
        found = self._found[policy.digest]
        wanted = {node.variable for node in request.nodes}
        holding = sum(any(wanted <= set(table) for table in release) for release in found.releases)
        return holding / len(found.releases) if found.releases else 0.0
