"""A release: a protected table with its papers, wherever its rows are, and how it is written."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any, Self

import polars as pl

from sfumato.data.dataset import Part, Parted
from sfumato.data.disclosure import Disclosure
from sfumato.data.files import Table, write_table, written_names
from sfumato.data.files.address import has_scheme, local_folder
from sfumato.data.files.atomic import replacing
from sfumato.data.files.dialect import USUAL, Dialect
from sfumato.data.hidden import leaving
from sfumato.data.publishable import published
from sfumato.draws import Draws
from sfumato.engines.polars import PolarsDataset, held
from sfumato.errors import FileError, LimitExceeded, NotInMemory
from sfumato.plan.limits import unmeasured
from sfumato.plan.plan import Plan
from sfumato.release.crosswalk import refuse_crosswalk, writing_crosswalk
from sfumato.release.order import by_hidden_columns
from sfumato.release.package.datapackage import ForeignKey, Resource, datapackage
from sfumato.release.package.folder import whole_folder
from sfumato.release.package.parts import refuse_target, write_release
from sfumato.release.package.renaming import renamed_disclosure, renamed_table
from sfumato.release.verdict import to_decide
from sfumato.report.external import external
from sfumato.report.report import Renderer, Report, TablesReport

__all__ = ["Notes", "Release", "not_met", "write_internal"]

NO_ADDRESS = "Releases from memory are written to a folder. Give its path, or take --engine duckdb."


def __getattr__(name: str) -> Any:
    """What a release in parts was called in version 0.1, for one version more."""
    if name != "PartedRelease":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    warnings.warn("PartedRelease is Release now, wherever rows are", DeprecationWarning, stacklevel=2)
    return Release


class Notes(tuple[str, ...]):
    """What is to be said of a release that was written, and where its rows lie.

    Parameters
    ----------
    notes
        What the data's file format could not hold.
    parts
        The data files.

    Examples
    --------
    >>> Notes(["no labels"], [Part("data.csv", 3)]).parts[0].rows
    3
    """

    parts: tuple[Part, ...]

    def __new__(cls, notes: Iterable[str] = (), parts: Iterable[Part] = ()) -> Self:
        """As a tuple is made."""
        made = super().__new__(cls, notes)
        made.parts = tuple(parts)
        return made


@dataclass(frozen=True)
class Release:
    """A protected table with its papers.

    Parameters
    ----------
    data
        The protected table; where its rows are not in memory, `write` makes them.
    report
        What was done and measured; the custodian's, so it may be confidential.
    plan
        The plan as run.
    renderer
        Draws the reports; without one the release has none.
    guesses
        Where rows are not in memory: a sentence for every variable whose role or kind the plan does not say, and for
        what the engine has to say.
    draws
        Where rows are not in memory: the keyed draws, for the order in which they are written. It holds the secret; a
        release in memory, which may be pickled, is in order already and has none.
    crosswalk
        Old and new ids, where a step replaced those of records and rows are in memory; the custodian's.
    """

    data: PolarsDataset | Parted
    report: Report
    plan: Plan
    renderer: Renderer | None = field(default=None, repr=False)
    guesses: tuple[str, ...] = ()
    draws: Draws | None = field(default=None, repr=False)
    crosswalk: pl.DataFrame | None = field(default=None, repr=False)

    @property
    def table(self) -> PolarsDataset:
        """The released rows with what is known of their columns.

        Raises
        ------
        NotInMemory
            Where they stay where they are; it says what to do instead.
        """
        if not held(self.data):
            raise NotInMemory
        return self.data

    @property
    def frame(self) -> pl.DataFrame:
        """The released rows.

        Raises
        ------
        NotInMemory
            Where they stay where they are; it says what to do instead.
        """
        return self.table.frame

    @property
    def disclosure(self) -> Disclosure:
        """What analysts are told."""
        return self.report.disclosure

    @property
    def ok(self) -> bool:
        """Whether the verdict is that it holds."""
        return self.report.ok

    @property
    def verdict(self) -> str:
        """Whether limits are met by whoever knows all that leaves: `holds`, `undecided` or `exceeded`."""
        return self.report.verdict

    @property
    def undecided(self) -> tuple[str, ...]:
        """The columns that nobody may know, where the release holds only then."""
        return self.report.undecided

    def write(
        self,
        folder: str | PathLike[str],
        *,
        overwrite: bool = False,
        force: bool = False,
        internal_report: str | PathLike[str] | None = None,
        crosswalk: str | PathLike[str] | None = None,
    ) -> Notes:
        """Write the release folder: the data, `datapackage.json`, `report.html` and `plan.yaml`.

        It is there whole or not at all. Rows that are not in memory are written in parts, `data/part-00000.parquet` and
        so on, sorted over all of them, see `sfumato.release.order`.

        Parameters
        ----------
        folder
            A folder. Of rows that are not in memory also an address (`file:///path`, `hdfs://host/path`,
            `s3a://bucket/path`) that this machine and all workers reach, where parts lie in a folder `data-` and a name
            of this run.
        overwrite
            Whether an existing release there may be replaced.
        force
            Write it whatever the verdict; the report states it.
        internal_report
            Path for the custodian's report, which shows confidential values. It is written even where a limit does
            not hold, since it shows why.
        crosswalk
            Path for old and new ids, two columns, which its owner alone may read.

        Returns
        -------
        Notes
            What the data's file format could not hold, a tuple of texts; its `parts` are the data files, with their
            rows.

        Raises
        ------
        LimitExceeded
            Where the verdict is not that it holds, and `force` is not given.
        ReleaseExists, FileError
            As the folder can or cannot be written.
        """
        if held(self.data) and has_scheme(folder):
            raise FileError(NO_ADDRESS)
        refuse_target(folder, overwrite)
        refuse_crosswalk(crosswalk, Path(folder), overwrite=overwrite)
        here = local_folder(folder)
        write_internal(internal_report, [] if here is None else [here], self.report, self.renderer)
        if not self.ok and not force:
            raise LimitExceeded(not_met(self.report, self.plan))
        with writing_crosswalk(crosswalk, self.crosswalk):
            return (
                self._write_file(Path(folder), overwrite) if held(self.data) else self._write_parts(folder, overwrite)
            )

    def _write_file(self, folder: Path, overwrite: bool) -> Notes:
        """Write a table in memory."""
        package = self._package(self.resource())  # refuses what is too large before anything is written
        with whole_folder(folder, overwrite=overwrite) as work:
            notes = self.write_data(work)
            for file, content in self._documents(package).items():
                (work / file).write_bytes(content)
        return Notes(notes, [Part(self._file(), self.frame.height)])

    def _write_parts(self, folder: str | PathLike[str], overwrite: bool) -> Notes:
        """Write rows that are not in memory."""
        released = self.data
        assert self.draws is not None, "what is off memory is put in order as it is written"
        assert not held(released), "what is in memory is written into one file"
        data, order = by_hidden_columns(released, self.plan, self.draws, self.disclosure.synthetic)
        columns = leaving(released.codebook)
        types = pl.Schema({n: released.schema[n] for n in columns}).to_frame()
        book = released.codebook.only(columns)

        def documents(parts: Sequence[str]) -> dict[str, bytes]:
            known = self.report.known()
            package = self._package(Resource("data", tuple(parts), types, book, self.disclosure, known=known))
            return self._documents(package)

        return Notes((), write_release(folder, data, order, documents, overwrite=overwrite))

    def _package(self, resource: Resource) -> bytes:
        return datapackage(
            [resource],
            title=self.plan.title,
            description=self.plan.description,
            created=self.report.created.isoformat(),
            version=self.report.version,
            fingerprint=self.report.fingerprint,
            plan_digest=self.plan.digest,
            access=self.plan.access,
            consent=self.plan.consent,
            warnings=published(self.report.warnings),
        )

    def _documents(self, package: bytes) -> dict[str, bytes]:
        """What lies beside the data."""
        documents = {"datapackage.json": package, "plan.yaml": self.report.plan_yaml.encode()}
        if self.renderer is not None:
            documents |= self.renderer(external(self.as_written()))
        return documents

    def _file(self, name: str = "data") -> str:
        return f"{name}{self.table.suffix}"

    @cached_property
    def written_names(self) -> dict[str, str]:
        """Columns that have another name in the data file, by their own."""
        if not held(self.data):
            return {}  # Parquet takes every name
        return {old: new for old, new in written_names(self.data.columns, self.data.suffix).items() if old != new}

    @cached_property
    def _dialect(self) -> Dialect:
        """What a delimited text file is written in."""
        return self.table.dialect.holding(self.frame) if self.table.suffix == ".csv" else USUAL

    def as_written(self) -> Report:
        """The report, by the names that columns have in the data file."""
        names = self.written_names
        disclosure = renamed_disclosure(self.disclosure, names)
        undecided = tuple(names.get(n, n) for n in self.undecided)
        return replace(
            self.report, disclosure=disclosure, assumed=self.report.assumed.renamed(names), undecided=undecided
        )

    def resource(self, name: str = "data", foreign_keys: Sequence[ForeignKey] = ()) -> Resource:
        """Describe the data file, by the names that columns have in it."""
        names = self.written_names
        data = renamed_table(self.table, names)
        return Resource(
            name=name,
            file=self._file(name),
            frame=data.frame,
            codebook=data.codebook,
            disclosure=renamed_disclosure(self.disclosure, names),
            names={new: old for old, new in names.items()},
            foreign_keys=foreign_keys,
            known=self.as_written().known(),
            dialect=self._dialect,
        )

    def write_data(self, folder: Path, name: str = "data") -> tuple[str, ...]:
        """Write the data file, and tell what its format could not hold."""
        data = self.table
        table = Table(data.frame, data.codebook, data.suffix, label=self.plan.title, dialect=data.dialect)
        return write_table(table, folder / self._file(name))

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


def not_met(report: Report, plan: Plan, table: str = "", linked: Collection[str] = ()) -> str:
    """Say which limits do not hold, or could not be told to, what else speaks against it, and what to try.

    Of a release that is undecided it says on which columns a decision is wanting; `linked` are those that join a table
    to another.
    """
    from sfumato.report.advice import advice_on

    if asked := to_decide(report, plan, linked):
        return f"{f'Table {table}:' if table else 'The release was not written.'} {asked}"

    broken = [f for f in report.findings if f.ok is False]
    exceeded = sorted({f"{f.measure} (limit {f.limit:g})" for f in broken if not unmeasured(f)})
    unknown = sorted({f"{f.measure} (limit {f.limit:g})" for f in broken if unmeasured(f)})
    said = [f"it exceeds the limit on {', '.join(exceeded)}"] if exceeded else []
    said += [f"the limit on {', '.join(unknown)} could not be measured"] if unknown else []
    said += report.refusals
    try_this = "".join(f"\n  - {sentence}" for sentence in advice_on(report).to_try)
    what = f"Table {table}" if table else "The release was not written"
    return f"{what}: {'; '.join(said)}." + (f" What to try:{try_this}" if try_this else "")
