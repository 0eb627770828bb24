"""Releases of several tables, and how they are written: in one folder, or one for each way of access."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path

from sfumato.data.links import Links
from sfumato.data.publishable import published
from sfumato.errors import LimitExceeded
from sfumato.plan.plan import Plan
from sfumato.plan.tables import ACCESS
from sfumato.release.package.datapackage import datapackage
from sfumato.release.package.folder import refuse_existing, whole_folders
from sfumato.release.release import Release, not_met, write_internal
from sfumato.release.several.links import foreign_keys, link_sentences
from sfumato.report.external import external_tables
from sfumato.report.report import Renderer, TablesReport

__all__ = ["TablesRelease"]


@dataclass(frozen=True)
class TablesRelease:
    """Several protected tables with their papers.

    Each folder's `plan.yaml` is the plan of its own tables and of the links among them; the digest of the plan in
    `datapackage.json` is that of the whole.

    Parameters
    ----------
    tables
        The release of each table, by name.
    links
        Links between released tables that the plan does not declare; they stop the release.
    report
        What was done and measured, of all tables; the custodian's, so it may be confidential.
    plan
        The plan as run.
    renderer
        Draws the reports; without one the release has none.
    """

    tables: Mapping[str, Release]
    links: Links
    report: TablesReport
    plan: Plan
    renderer: Renderer | None = field(default=None, repr=False)

    @property
    def ok(self) -> bool:
        """Whether every table keeps its limits, and nothing links them but what the plan declares."""
        return self.report.ok

    @property
    def verdict(self) -> str:
        """The worst of the tables' verdicts, see `Release.verdict`."""
        return self.report.verdict

    @property
    def undecided(self) -> tuple[str, ...]:
        """The columns that nobody may know, as `table.column`, where the release holds only then."""
        return self.report.undecided

    def linked(self, name: str) -> tuple[str, ...]:
        """The columns by which the plan joins a table to another."""
        links = (link for link in self.plan.links if name in (link.from_, link.to))
        return tuple(dict.fromkeys(n for link in links for n in link.on))

    def folders(self, folder: str | PathLike[str]) -> dict[Path, tuple[str, ...]]:
        """The folders that are written, the most open first, with the tables in each.

        Tables whose access is not the plan's have a folder of their own, `<folder>-<access>`.
        """
        found: dict[Path, tuple[str, ...]] = {}
        for access in (None, *ACCESS):
            own = tuple(n for n in self.tables if self.plan.access_of(n) == access)
            suffix = "" if access == self.plan.access else f"-{access}"
            if own:
                found[Path(f"{Path(folder)}{suffix}")] = own
        return found

    def write(
        self,
        folder: str | PathLike[str],
        *,
        overwrite: bool = False,
        force: bool = False,
        internal_report: str | PathLike[str] | None = None,
    ) -> tuple[str, ...]:
        """Write the release folder: `<table>.<suffix>` for each table, and the papers of all of them.

        The folders are there whole or not at all, and all of them or none; the most open one takes its name last.
        Parameters and errors as in `Release.write`.

        Returns
        -------
        tuple of str
            What the data's file formats could not hold.
        """
        folders = self.folders(folder)
        for each in folders:
            refuse_existing(each, overwrite)
        write_internal(internal_report, list(folders), self.report, self.renderer)
        if not self.ok and not force:
            raise LimitExceeded(self._not_met())
        documents = {each: self._documents(names) for each, names in folders.items()}
        notes: list[str] = []
        with whole_folders(list(folders), overwrite=overwrite) as works:
            for work, (each, names) in zip(works, folders.items(), strict=True):
                for name in names:
                    notes += [f"{name}: {note}" for note in self.tables[name].write_data(work, name)]
                for file, content in documents[each].items():
                    (work / file).write_bytes(content)
        return tuple(notes)

    def _documents(self, names: tuple[str, ...]) -> dict[str, bytes]:
        """The papers of some of the tables, by file name."""
        renamed = {name: self.tables[name].written_names for name in names}
        report = self.report
        together = report.warnings if set(names) == set(self.tables) else ()  # they name tables of other folders
        own = [f"{name}: {said}" for name in names for said in published(self.tables[name].report.warnings)]
        package = datapackage(
            [self.tables[name].resource(name, foreign_keys(self.plan, name, renamed)) for name in names],
            title=self.plan.title,
            description=self.plan.description,
            created=report.created.isoformat(),
            version=report.version,
            fingerprint=report.fingerprint,
            plan_digest=self.plan.digest,
            several=True,
            access=self.plan.access_of(names[0]),  # one folder, one way of access
            consent=self.plan.consent,
            warnings=(*own, *published(together)),
        )
        documents = {"datapackage.json": package, "plan.yaml": self.plan.only(names).to_yaml().encode()}
        if self.renderer is not None:
            told = replace(
                report,
                tables={name: self.tables[name].as_written() for name in names},
                links=link_sentences(self.plan, names),
                warnings=together,
            )
            documents |= self.renderer(external_tables(told))
        return documents

    def _not_met(self) -> str:
        """Why nothing was written: what stands against each table, and against them together."""
        said = [
            not_met(release.report, release.plan, name, self.linked(name))
            for name, release in self.tables.items()
            if not release.ok
        ]
        said += [f"{refusal[0].upper()}{refusal[1:]}." for refusal in self.report.refusals]
        return "\n".join(["The release was not written.", *(f"- {each}" for each in said)])

    def _repr_html_(self) -> str:
        parts = (f"<h4>{name}</h4>{release._repr_html_()}" for name, release in self.tables.items())
        return "".join(parts)
