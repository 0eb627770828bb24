"""A release: a protected table with its papers, and how it is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path

from sfumato.data.disclosure import Disclosure
from sfumato.data.files import Table, write_table, written_names
from sfumato.data.files.atomic import replacing
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import FileError, LimitExceeded
from sfumato.plan.limits import unmeasured
from sfumato.plan.plan import Plan
from sfumato.release.package.datapackage import datapackage
from sfumato.release.package.folder import refuse_existing, whole_folder
from sfumato.release.package.renaming import renamed_disclosure, renamed_table
from sfumato.report.external import external
from sfumato.report.report import Renderer, Report

__all__ = ["Release"]


@dataclass(frozen=True)
class Release:
    """A protected table with its papers.

    Parameters
    ----------
    data
        The protected table.
    report
        What was done and measured; the custodian's, so it may be confidential.
    plan
        The plan as run.
    renderer
        Draws the reports; without one the release has none.
    """

    data: PolarsDataset
    report: Report
    plan: Plan
    renderer: Renderer | None = field(default=None, repr=False)

    @property
    def disclosure(self) -> Disclosure:
        """What analysts are told."""
        return self.report.disclosure

    @property
    def ok(self) -> bool:
        """Whether every limit of the plan holds."""
        return self.report.ok

    def write(
        self,
        folder: str | PathLike[str],
        *,
        overwrite: bool = False,
        force: bool = False,
        internal_report: str | PathLike[str] | None = None,
    ) -> tuple[str, ...]:
        """Write the release folder: the data, `datapackage.json`, `report.html` and `plan.yaml`.

        It is there whole or not at all.

        Parameters
        ----------
        folder
            Where to.
        overwrite
            Whether an existing release there may be replaced.
        force
            Write it although a limit is exceeded; the report says so.
        internal_report
            Path for the custodian's report, which shows confidential values. It is written even where a limit does
            not hold, since it shows why.

        Returns
        -------
        tuple of str
            What the data's file format could not hold.

        Raises
        ------
        LimitExceeded
            Where a limit of the plan does not hold and `force` is not given.
        ReleaseExists, FileError
            As the folder can or cannot be written.
        """
        refuse_existing(Path(folder), overwrite)
        if internal_report is not None:
            if Path(internal_report).resolve().is_relative_to(Path(folder).resolve()):
                raise FileError("The internal report shows confidential values: it must not be in the release folder.")
            if (Path(internal_report).parent / "datapackage.json").exists():
                raise FileError("The internal report shows confidential values: it must not be in a release folder.")
            self._write_internal(Path(internal_report))
        if not self.ok and not force:
            raise LimitExceeded(_not_met(self.report))
        name = f"data{self.data.suffix}"
        names = {old: new for old, new in written_names(self.data.columns, self.data.suffix).items() if old != new}
        package = self._package(name, names)  # refuses what is too large before anything is written
        with whole_folder(Path(folder), overwrite=overwrite) as work:
            data = self.data
            notes = write_table(Table(data.frame, data.codebook, data.suffix, label=data.label), work / name)
            documents = {"datapackage.json": package, "plan.yaml": self.report.plan_yaml.encode()}
            if self.renderer is not None:
                told = replace(self.report, disclosure=renamed_disclosure(self.disclosure, names))
                documents |= self.renderer(external(told))
            for file, content in documents.items():
                (work / file).write_bytes(content)
        return notes

    def _write_internal(self, path: Path) -> None:
        if self.renderer is not None:
            with replacing(path) as temporary:
                temporary.write_bytes(self.renderer(self.report)["report.html"])

    def _package(self, file: str, names: Mapping[str, str]) -> bytes:
        """Describe the data file, by the names that columns have in it."""
        data = renamed_table(self.data, names)
        return datapackage(
            title=self.plan.title,
            description=self.plan.description,
            created=self.report.created.isoformat(),
            version=self.report.version,
            file=file,
            frame=data.frame,
            codebook=data.codebook,
            disclosure=renamed_disclosure(self.disclosure, names),
            fingerprint=self.report.fingerprint,
            plan_digest=self.plan.digest,
            names={new: old for old, new in names.items()},
        )

    def _repr_html_(self) -> str:
        return self.report.findings._repr_html_()


def _not_met(report: Report) -> str:
    """Say which limits do not hold, or could not be told to, what else speaks against it, and what to try."""
    from sfumato.report.advice import advice_on

    broken = [f for f in report.findings if f.ok is False]
    exceeded = sorted({f"{f.measure} (limit {f.limit:g})" for f in broken if not unmeasured(f)})
    unknown = sorted({f"{f.measure} (limit {f.limit:g})" for f in broken if unmeasured(f)})
    said = [f"it exceeds the limit on {', '.join(exceeded)}"] if exceeded else []
    said += [f"the limit on {', '.join(unknown)} could not be measured"] if unknown else []
    said += report.refusals
    try_this = "".join(f"\n  - {sentence}" for sentence in advice_on(report).to_try)
    return f"The release was not written: {'; '.join(said)}." + (f" What to try:{try_this}" if try_this else "")
