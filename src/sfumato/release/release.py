"""A release: a protected table with its papers, and how it is written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from pathlib import Path

from sfumato.data.disclosure import Disclosure
from sfumato.data.files import Table, write_table, written_names
from sfumato.data.files.atomic import replacing
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import FileError, LimitExceeded
from sfumato.plan.limits import unmeasured
from sfumato.plan.plan import Plan
from sfumato.release.package.datapackage import ForeignKey, Resource, datapackage
from sfumato.release.package.folder import refuse_existing, whole_folder
from sfumato.release.package.renaming import renamed_disclosure, renamed_table
from sfumato.report.external import external
from sfumato.report.report import Renderer, Report, TablesReport

__all__ = ["Release", "not_met", "write_internal"]


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
        write_internal(internal_report, [Path(folder)], self.report, self.renderer)
        if not self.ok and not force:
            raise LimitExceeded(not_met(self.report))
        package = datapackage(  # refuses what is too large before anything is written
            [self.resource()],
            title=self.plan.title,
            description=self.plan.description,
            created=self.report.created.isoformat(),
            version=self.report.version,
            fingerprint=self.report.fingerprint,
            plan_digest=self.plan.digest,
            access=self.plan.access,
            consent=self.plan.consent,
        )
        with whole_folder(Path(folder), overwrite=overwrite) as work:
            notes = self.write_data(work)
            documents = {"datapackage.json": package, "plan.yaml": self.report.plan_yaml.encode()}
            if self.renderer is not None:
                documents |= self.renderer(external(self.as_written()))
            for file, content in documents.items():
                (work / file).write_bytes(content)
        return notes

    @cached_property
    def written_names(self) -> dict[str, str]:
        """Columns that have another name in the data file, by their own."""
        return {old: new for old, new in written_names(self.data.columns, self.data.suffix).items() if old != new}

    def as_written(self) -> Report:
        """The report, by the names that columns have in the data file."""
        return replace(self.report, disclosure=renamed_disclosure(self.disclosure, self.written_names))

    def resource(self, name: str = "data", foreign_keys: Sequence[ForeignKey] = ()) -> Resource:
        """Describe the data file, by the names that columns have in it."""
        names = self.written_names
        data = renamed_table(self.data, names)
        return Resource(
            name=name,
            file=f"{name}{self.data.suffix}",
            frame=data.frame,
            codebook=data.codebook,
            disclosure=renamed_disclosure(self.disclosure, names),
            names={new: old for old, new in names.items()},
            foreign_keys=foreign_keys,
        )

    def write_data(self, folder: Path, name: str = "data") -> tuple[str, ...]:
        """Write the data file, and tell what its format could not hold."""
        data = self.data
        table = Table(data.frame, data.codebook, data.suffix, label=data.label)
        return write_table(table, folder / f"{name}{data.suffix}")

    def _repr_html_(self) -> str:
        return self.report.findings._repr_html_()


def write_internal(
    path: str | PathLike[str] | None,
    folders: Sequence[Path],
    report: Report | TablesReport,
    renderer: Renderer | None,
) -> None:
    """Write the custodian's report where it is wanted, and in no folder of a release.

    Raises
    ------
    FileError
        Where that is in such a folder, or cannot be written.
    """
    if path is None:
        return
    if any(Path(path).resolve().is_relative_to(folder.resolve()) for folder in folders):
        raise FileError("The internal report shows confidential values: it must not be in the release folder.")
    if (Path(path).parent / "datapackage.json").exists():
        raise FileError("The internal report shows confidential values: it must not be in a release folder.")
    if renderer is not None:
        with replacing(Path(path)) as temporary:
            temporary.write_bytes(renderer(report)["report.html"])


def not_met(report: Report, table: str = "") -> str:
    """Say which limits do not hold, or could not be told to, what else speaks against it, and what to try."""
    from sfumato.report.advice import advice_on

    broken = [f for f in report.findings if f.ok is False]
    exceeded = sorted({f"{f.measure} (limit {f.limit:g})" for f in broken if not unmeasured(f)})
    unknown = sorted({f"{f.measure} (limit {f.limit:g})" for f in broken if unmeasured(f)})
    said = [f"it exceeds the limit on {', '.join(exceeded)}"] if exceeded else []
    said += [f"the limit on {', '.join(unknown)} could not be measured"] if unknown else []
    said += report.refusals
    try_this = "".join(f"\n  - {sentence}" for sentence in advice_on(report).to_try)
    what = f"Table {table}" if table else "The release was not written"
    return f"{what}: {'; '.join(said)}." + (f" What to try:{try_this}" if try_this else "")
