"""A release in parts: a protected table that is not in memory with its papers, and how it is written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from os import PathLike

import polars as pl

from sfumato.data.dataset import Part, Parted
from sfumato.data.disclosure import Disclosure
from sfumato.data.files.address import local_folder
from sfumato.data.hidden import leaving
from sfumato.draws import Draws
from sfumato.errors import LimitExceeded
from sfumato.plan.plan import Plan
from sfumato.release.package.datapackage import Resource, datapackage
from sfumato.release.parted.order import in_order
from sfumato.release.parted.write import refuse_target, write_release
from sfumato.release.release import not_met, write_internal
from sfumato.report.external import external
from sfumato.report.report import Renderer, Report

__all__ = ["PartedRelease"]


@dataclass(frozen=True)
class PartedRelease:
    """A protected table that is not in memory, with its papers.

    Parameters
    ----------
    data
        The protected table. Its rows are not in memory: `write` makes them.
    report
        What was done and measured; the custodian's, so it may be confidential.
    plan
        The plan as run.
    draws
        The keyed draws, for the order of records.
    renderer
        Draws the reports; without one the release has none.
    engine
        Where it was made: `duckdb`, `spark`.
    guesses
        A sentence for every variable whose role or kind the plan does not say, and for what the engine has to say.
    """

    data: Parted
    report: Report
    plan: Plan
    draws: Draws = field(repr=False)
    renderer: Renderer | None = field(default=None, repr=False)
    engine: str = ""
    guesses: tuple[str, ...] = ()

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
    ) -> tuple[Part, ...]:
        """Write the release: `data/part-00000.parquet` and so on, `datapackage.json`, `report.html` and `plan.yaml`.

        It is there whole or not at all. Records are sorted over all parts, see `sfumato.release.order`.

        Parameters
        ----------
        folder
            A folder; or an address (`file:///path`, `hdfs://host/path`, `s3a://bucket/path`) that this machine and all
            workers reach, where parts lie in a folder `data-` and a name of this run.
        overwrite
            Whether an existing release there may be replaced.
        force
            Write it although a limit is exceeded; the report says so.
        internal_report
            Path for the custodian's report, which shows confidential values. It is written even where a limit does
            not hold, since it shows why.

        Returns
        -------
        tuple of Part
            The parts, with their rows.

        Raises
        ------
        LimitExceeded
            Where a limit of the plan does not hold and `force` is not given.
        ReleaseExists, FileError
            As the release can or cannot be written.
        """
        refuse_target(folder, overwrite)
        here = local_folder(folder)
        write_internal(internal_report, [] if here is None else [here], self.report, self.renderer)
        if not self.ok and not force:
            raise LimitExceeded(not_met(self.report))
        data, order = in_order(self.data, self.plan, self.draws)
        return write_release(folder, data, order, self._documents, overwrite=overwrite)

    def _documents(self, parts: Sequence[str]) -> dict[str, bytes]:
        """What lies beside the parts."""
        documents = {"plan.yaml": self.report.plan_yaml.encode()}
        if self.renderer is not None:
            documents |= self.renderer(external(self.report))
        documents["datapackage.json"] = datapackage(
            [self._resource(parts)],
            title=self.plan.title,
            description=self.plan.description,
            created=self.report.created.isoformat(),
            version=self.report.version,
            fingerprint=self.report.fingerprint,
            plan_digest=self.plan.digest,
            access=self.plan.access,
            consent=self.plan.consent,
        )
        return documents

    def _resource(self, parts: Sequence[str]) -> Resource:
        columns = leaving(self.data.codebook)
        types = pl.Schema({n: self.data.schema[n] for n in columns})
        return Resource("data", tuple(parts), types.to_frame(), self.data.codebook.only(columns), self.disclosure)

    def _repr_html_(self) -> str:
        return self.report.findings._repr_html_()
