"""What a run did and measured: the value that every face and every report shows."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from sfumato.data.disclosure import Disclosure
from sfumato.data.finding import Findings

if TYPE_CHECKING:
    from sfumato.report.picture import Picture

__all__ = ["Assumed", "Renderer", "Report", "StepDone", "TablesReport"]


@dataclass(frozen=True)
class StepDone:
    """One step of the plan as it was run.

    Parameters
    ----------
    do
        The method's name.
    masks
        Whether it perturbs values.
    sentence
        What was done, in words that may be published.
    notes
        What the custodian should know of how it went. May hold counts; never published.
    parameters
        The step as it stands in the plan. May hold categories; never published.
    warnings
        What the custodian should be told before anything else.
    coarsens
        Whether it tells less, by broader categories or by leaving out.
    """

    do: str
    masks: bool
    sentence: str
    notes: tuple[str, ...] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict, repr=False)
    warnings: tuple[str, ...] = ()
    coarsens: bool = False

    @property
    def protects(self) -> bool:
        """Whether it does more than prepare."""
        return self.masks or self.coarsens


@dataclass(frozen=True)
class Assumed:
    """Who was taken to know what: on this the figures stand, so it is published with them.

    Parameters
    ----------
    keys
        Released columns that an intruder may know, none of them masked.
    released
        All columns that leave as they were and are not said to be unknown.
    unknown
        What the custodian says that nobody outside knows: columns, and the reason.
    masked
        Columns that masking changed, whose true values whoever knows all that leaves was taken to know.

    Examples
    --------
    >>> told = Assumed(("sex",), ("sex", "town"), ((("q1",), "asked by us alone, and never told"),))
    >>> told.renamed({"q1": "Q_1"}).to_plain()["unknown"][0]["columns"]
    ['Q_1']
    """

    keys: tuple[str, ...] = ()
    released: tuple[str, ...] = ()
    unknown: tuple[tuple[tuple[str, ...], str], ...] = ()
    masked: tuple[str, ...] = ()

    def renamed(self, names: Mapping[str, str]) -> Assumed:
        """The same by the names that columns have in the data file."""

        def of(columns: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(names.get(n, n) for n in columns)

        unknown = tuple((of(n), because) for n, because in self.unknown)
        return Assumed(of(self.keys), of(self.released), unknown, of(self.masked))

    def sentences(self) -> tuple[str, ...]:
        """What nobody outside is said to know, and why, a sentence each."""
        said = "Nobody outside is taken to know {columns}: {because}"
        return tuple(said.format(columns=", ".join(columns), because=why) for columns, why in self.unknown)

    def to_plain(self) -> dict[str, Any]:
        """Plain values for JSON."""
        told = [{"columns": list(columns), "because": because} for columns, because in self.unknown]
        known = {"keys": self.keys, "released": self.released, "masked": self.masked}
        return {**{name: list(columns) for name, columns in known.items()}, "unknown": told}


@dataclass(frozen=True)
class Report:
    """A run of a plan: what was done, what was measured, and whether the limits hold.

    It is the custodian's. `sfumato.report.external` narrows it to what may be published.

    Parameters
    ----------
    title
        The plan's title.
    created
        The day of the run.
    version
        sfumato's version.
    steps
        The plan's steps, in order.
    disclosure
        What analysts are told.
    findings
        Every figure measured.
    plan_yaml
        The plan as run.
    fingerprint
        Hash of the secret, from which it cannot be recovered.
    repeatable
        False where the secret was drawn for this run alone, so that the release cannot be made again.
    refusals
        Why the release is refused although no limit is exceeded; each a clause that says what to do.
    warnings
        Sentences for the custodian, before anything else.
    pictures
        What the report draws.
    internal
        Whether confidential values may be in it.
    access, consent
        How the release is accessed, and what people agreed to, as the plan says.
    assumed
        Who was taken to know what.
    verdict
        `holds`, `undecided` or `exceeded`: whether the release keeps to its limits also for whoever knows all that
        leaves, only if nobody knows some columns, or not at all.
    undecided
        These columns.
    open_ids
        Ids that leave as they were and on which the plan says nothing; `order` among them is that of the input.
    """

    title: str
    created: datetime.date
    version: str
    steps: tuple[StepDone, ...]
    disclosure: Disclosure
    findings: Findings
    plan_yaml: str
    fingerprint: str
    repeatable: bool
    refusals: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    pictures: tuple[Picture, ...] = field(default=(), repr=False)
    internal: bool = True
    access: str | None = None
    consent: str | None = None
    assumed: Assumed = field(default_factory=Assumed)
    verdict: str = "holds"
    undecided: tuple[str, ...] = ()
    open_ids: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the verdict is that it holds: every limit is met, and nothing else speaks against the release."""
        return self.verdict == "holds" and self.findings.ok and not self.refusals

    def known(self) -> dict[str, Any]:
        """Who was taken to know what, and what came of it, as the release's description has it."""
        return {**self.assumed.to_plain(), "verdict": self.verdict, "undecided": list(self.undecided)}

    def to_plain(self) -> dict[str, Any]:
        """The JSON form of what was measured: every finding, why it is refused, and notes."""
        figures = self.findings.to_plain()
        assumed = {name: told for name, told in self.assumed.to_plain().items() if name in ("released", "unknown")}
        judged = {"verdict": self.verdict, "undecided": list(self.undecided)}
        told = {"findings": figures["findings"], "refusals": list(self.refusals), "notes": figures["notes"]}
        return told | judged | assumed


@dataclass(frozen=True)
class TablesReport:
    """A run of a plan of several tables: each table's report, and what is said of them together.

    Parameters
    ----------
    title, created, version, plan_yaml, fingerprint, repeatable, refusals, warnings, internal
        As in `Report`, of all tables together.
    tables
        The report of each table, by name.
    links
        How tables belong together, a sentence each, in words that may be published.
    """

    title: str
    created: datetime.date
    version: str
    tables: Mapping[str, Report]
    links: tuple[str, ...]
    plan_yaml: str
    fingerprint: str
    repeatable: bool
    refusals: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    internal: bool = True

    @property
    def access(self) -> str | None:
        """How all tables are accessed, where that is the same of all."""
        return _common({report.access for report in self.tables.values()})

    @property
    def consent(self) -> str | None:
        """What people agreed to."""
        return _common({report.consent for report in self.tables.values()})

    @property
    def ok(self) -> bool:
        """Whether every table may leave, and nothing speaks against their leaving together."""
        return all(report.ok for report in self.tables.values()) and not self.refusals

    @property
    def verdict(self) -> str:
        """The worst of the tables' verdicts; `exceeded` where something stands against their leaving together."""
        found = {report.verdict for report in self.tables.values()}
        if self.refusals or "exceeded" in found:
            return "exceeded"
        return "undecided" if "undecided" in found else "holds"

    @property
    def undecided(self) -> tuple[str, ...]:
        """The columns that nobody may know, where the release holds only then, as `table.column`."""
        if self.verdict != "undecided":
            return ()
        return tuple(f"{name}.{column}" for name, report in self.tables.items() for column in report.undecided)


def _common(said: Set[str | None]) -> str | None:
    return next(iter(said)) if len(said) == 1 else None


class Renderer(Protocol):
    """Turns a report into documents. Lives in a layer above; `release` only calls it."""

    def __call__(self, report: Report | TablesReport) -> Mapping[str, bytes]:
        """Give the documents' contents by file name, for instance `report.html`."""
        ...
