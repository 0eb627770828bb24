"""From a plan and data to a release: run, measure, judge, write."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from os import PathLike
from pathlib import Path

import numpy as np
import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.data.disclosure import Disclosure
from sfumato.data.files import Table, write_table, written_names
from sfumato.data.files.atomic import replacing
from sfumato.data.finding import Findings
from sfumato.data.pair import Pair, numbers
from sfumato.data.roles import Role
from sfumato.draws import MAKE_SECRET, Watched
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import DataError, FileError, FormulaError, LimitExceeded, PlanError, Problem
from sfumato.kernels.glm import Family
from sfumato.measures.measuring import Measuring
from sfumato.measures.subject import Subject
from sfumato.measures.utility.model import comparison_of
from sfumato.methods.base import ROW
from sfumato.plan.limits import apply_limits, attacking_for, unmeasured
from sfumato.plan.plan import Plan
from sfumato.progress import Progress, quiet, split
from sfumato.release.classes import exposed, refusals
from sfumato.release.default_model import default_model
from sfumato.release.measure import EFFORT, measure, sensitive_categories
from sfumato.release.order import in_release_order
from sfumato.release.package.datapackage import datapackage
from sfumato.release.package.folder import refuse_existing, whole_folder
from sfumato.release.package.renaming import renamed_disclosure, renamed_table
from sfumato.release.pairing import unique_record
from sfumato.release.remaining import remaining, remaining_lists
from sfumato.release.run import Ran, run_steps
from sfumato.release.secret import Secret
from sfumato.report.external import external
from sfumato.report.pictures import draw_pictures
from sfumato.report.report import Renderer, Report

__all__ = ["Measured", "Release", "measure_run", "numbered", "protect"]

_DRAWING = 4.0
"""How long pictures take, as efforts of steps and measures are counted."""


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


def protect(
    plan: Plan,
    data: PolarsDataset,
    secret: Secret,
    *,
    how: Measuring | None = None,
    renderer: Renderer | None = None,
    progress: Progress = quiet,
) -> Release:
    """Run a plan over a table and measure what came of it.

    Parameters
    ----------
    plan
        The plan.
    data
        The table; it is left as it was.
    secret
        What draws are keyed with.
    how
        How things are measured; with no model named, the first outcome is explained by all other variables.
    renderer
        Draws the reports.
    progress
        Called with what is being done, and the share of the work that is done.

    Raises
    ------
    PlanError
        Where the plan cannot run on these columns; every problem at once.
    DataError
        Where the data are not fit for a step.
    """
    draws = Watched(secret.value)
    entering = numbered(plan, data)
    first = sum(step.effort for step in plan.steps)
    running, measuring, drawing = split(progress, [first, EFFORT, _DRAWING if renderer is not None else 0])
    ran = run_steps(plan.steps, entering, draws, running)
    after = _released(plan, data, entering, ran.after)
    measured = measure_run(plan, ran, how or Measuring(), measuring)
    findings = apply_limits(measured.findings, plan.limits)
    drawing("drawing pictures", 0)
    report = Report(
        title=plan.title,
        created=datetime.date.today(),
        version=version("sfumato"),
        steps=ran.steps,
        disclosure=ran.disclosure,
        findings=findings,
        plan_yaml=plan.to_yaml(),
        fingerprint=secret.fingerprint,
        repeatable=secret.repeatable,
        refusals=refusals(plan, after.codebook, measured.keys, findings),
        warnings=(*_lost_secret(secret, draws.drawn), *_warnings(after)),
        pictures=draw_pictures(measured.pair, measured.how, measured.findings) if renderer is not None else (),
    )
    return Release(in_release_order(after, plan, draws), report, plan, renderer)


def _released(plan: Plan, data: PolarsDataset, entering: PolarsDataset, result: PolarsDataset) -> PolarsDataset:
    """The result of a run as it leaves: without the run's own numbers, and without traces of categories that are gone.

    Records that are left out may take a category of any column with them.
    """
    frame, book = result.frame.drop(ROW), result.codebook.without(ROW)
    changed = {n for step in plan.steps for n in step.changes}
    left_out = frame.height < entering.frame.height
    book = remaining(frame, book, entering.codebook, frame.columns if left_out else changed & set(frame.columns))
    return replace(data, frame=remaining_lists(frame), codebook=book)


def numbered(plan: Plan, data: PolarsDataset) -> PolarsDataset:
    """The data with the plan's codebook and the run's own record numbers, where the plan can run on them.

    Raises
    ------
    PlanError, DataError
        As in `protect`.
    """
    frame = plan.dated(data.frame)
    book = plan.codebook(frame, data.codebook)
    _refuse_together(
        lambda: plan.check(book),
        lambda: plan.check_kinds(frame),
        lambda: plan.check_roles(frame, data.codebook),
    )
    if (record := book.the(Role.RECORD)) is not None:
        unique_record(frame, record, "the data")
    return PolarsDataset(frame.with_row_index(ROW), book, data.suffix)


def _refuse_together(*checks: Callable[[], None]) -> None:
    """Raise what several checks find as one error."""
    problems: list[Problem] = []
    for check in checks:
        try:
            check()
        except PlanError as error:
            problems += error.problems
    if problems:
        raise PlanError(problems)


@dataclass(frozen=True)
class Measured:
    """What was measured of a run.

    Parameters
    ----------
    findings
        Every figure.
    pair
        The tables that they are of.
    how
        How they were measured, with the model that was taken.
    keys
        The released keys that no step masks.
    """

    findings: Findings
    pair: Pair
    how: Measuring
    keys: tuple[str, ...] = ()


def measure_run(
    plan: Plan, ran: Ran[PolarsDataset], how: Measuring, progress: Progress, only: Set[str] | None = None
) -> Measured:
    """Measure what a run left behind; with `only`, no more than what these measures need."""
    pair = _pair(plan, ran)
    if how.attacking is None:
        how = replace(how, attacking=attacking_for(plan.limits))
    if only is None or not only.isdisjoint({"standardised_difference", "ci_overlap"}):
        how = _with_model(how, pair)
    book = ran.after.codebook.without(ROW)
    seen = exposed(plan, book, pair)
    subject = Subject(
        _unnumbered(ran.after),
        given=_unnumbered(ran.given),
        before=_unnumbered(ran.before),
        pair=pair,
        classes=seen.classes,
        sensitive=sensitive_categories(book),
        disclosure=ran.disclosure,
        how=how,
        unscaled=_unscaled(pair, ran),
        asked=frozenset(only or ()),
    )
    return Measured(Findings(notes=seen.notes) + measure(subject, progress, only=only), pair, how, seen.keys)


def _unnumbered(data: PolarsDataset) -> PolarsDataset:
    """The data without the run's own numbers of records."""
    return replace(data, frame=data.frame.drop(ROW), codebook=data.codebook.without(ROW))


def _pair(plan: Plan, ran: Ran[PolarsDataset]) -> Pair:
    """The table as it enters the first masking step beside the result, joined on the run's own record numbers.

    Columns that were coarsened in between are left out of the first: they cannot be compared.
    """
    before, after = ran.before.frame.drop(plan.coarsened_late, strict=False), ran.after.frame
    whole, notes = None, []
    if before.height != after.height:
        whole = (before.drop(ROW), after.drop(ROW))
        before = before.join(after.select(ROW), on=ROW, how="semi", maintain_order="left")
        notes.append("Steps left records out: measures that compare records are of those that are left.")
    book = ran.after.codebook
    both = [n for n in plan.masked if n in ran.before.frame.columns and n in after.columns]
    masked = [n for n in both if ran.before.codebook[n].numeric or book[n].numeric]  # codes too, once they are noisy
    there = [n for n in masked if n in before.columns]
    columns = tuple(n for n in there if after.schema[n].is_numeric() and _counts(before.schema[n]))
    if changed := [n for n in masked if n not in columns]:
        notes.append(
            f"No attack on {', '.join(changed)} was measured: a later step made it something else than numbers."
        )
    by = tuple(n for n in plan.strata if n in after.columns)
    known = Codebook({**ran.before.codebook, **book}).without(ROW)
    tables = (before.drop(ROW), after.drop(ROW))
    return Pair(*tables, known, columns, by, True, book.the(Role.RECORD), tuple(notes), whole)


def _counts(dtype: pl.DataType) -> bool:
    return dtype.is_numeric() or dtype == pl.Boolean


def _unscaled(pair: Pair, ran: Ran[PolarsDataset]) -> np.ndarray | None:
    """What an attacker could rebuild of the masked columns, row by row of the pair."""
    view = ran.reconstructions.get("unscaled")
    if view is None:
        return None
    better = [n for n in view.columns if n in pair.columns]
    joined = ran.after.frame.drop(better).join(view, on=ROW, how="left", maintain_order="left")
    return numbers(joined, pair.columns, pair.codebook)


def _with_model(how: Measuring, pair: Pair) -> Measuring:
    if how.model is None and (usual := _usual_model(pair.tables)) is not None:
        try:
            comparison_of(pair.tables, *usual)
        except (DataError, FormulaError):  # nobody asked for this model, so that it cannot be fitted is no error
            return how
        return replace(how, model=usual[0], family=usual[1])
    return how


def _usual_model(tables: Pair) -> tuple[str, Family] | None:
    return default_model(tables.before, tables.after, tables.codebook)


def _lost_secret(secret: Secret, drawn: Set[str]) -> Iterator[str]:
    """Say what comes of random protection whose secret is not kept."""
    if drawn and not secret.repeatable:
        yield (
            f"No secret was given, so one was drawn for this run alone, and {' and '.join(sorted(drawn))} cannot be "
            "repeated: another run would draw anew, and whoever gets both releases can average them and come closer to "
            f"the true values. Make a secret once ({MAKE_SECRET}), keep it like the data, and give it every time: "
            "--secret-file key, or secret= in Python."
        )


def _warnings(after: PolarsDataset) -> tuple[str, ...]:
    record = after.codebook.the(Role.RECORD)
    if record is None or record not in after.columns or not _looks_real(after.frame[record]):
        return ()
    return (
        f"The record column {record!r} is released and does not look like a mere running number. If it is a number "
        "from the real world (a hospital, pupil or insurance number), drop it before anybody receives the release.",
    )


def _looks_real(ids: pl.Series) -> bool:
    """Whether ids are text, or numbers far above how many there are."""
    if not ids.dtype.is_numeric():
        return True
    return ids.len() > 0 and float(ids.max() or 0) > 100 * ids.len() + 10_000  # type: ignore[arg-type]


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
