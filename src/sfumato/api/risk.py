"""Measure the risk of a table, or of a protected table against its original."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

from sfumato.api.earlier import opened_before
from sfumato.api.opening import in_memory
from sfumato.api.read import read_or_open, read_whole
from sfumato.api.searching import asked_for, writing
from sfumato.data.disclosure import Disclosure
from sfumato.data.finding import Findings
from sfumato.data.roles import Role
from sfumato.engines.polars import held
from sfumato.engines.scanned import ScannedDataset
from sfumato.errors import DataError
from sfumato.kernels.classes.log_linear import Model
from sfumato.kernels.classes.special_uniques import Score
from sfumato.measures.attacking import DEFAULT, Attacking, Metric
from sfumato.measures.intruding import SCENARIOS, Intruding
from sfumato.measures.measuring import CATEGORY, Measuring
from sfumato.plan.plan import Plan
from sfumato.progress import Progress, quiet
from sfumato.release import assess
from sfumato.release.classes import missing_rule
from sfumato.release.crosswalk import by_crosswalk
from sfumato.release.earlier import refuse_without
from sfumato.release.large_risk import risk_parted
from sfumato.release.named import Named
from sfumato.release.package.papers import papers_in, papers_of
from sfumato.release.package.renaming import as_planned, as_released, record_of_both
from sfumato.release.pairing import Align
from sfumato.release.secret import Secret
from sfumato.release.several.choose import plan_for

__all__ = ["risk"]

_OF_TWO = "A crosswalk joins an original with its release: give both (--protected, protected=)."
_BOTH = (
    "Comparing a table with another, or with earlier releases",
    "`protect` measures a release as it makes it; else compare a part of both, read with --engine memory "
    "(engine='memory')",
)


def risk(
    data: Any,
    protected: Any = None,
    *,
    columns: Sequence[str] | None = None,
    by: Sequence[str] | None = None,
    record: str | None = None,
    align: Align | None = None,
    plan: Plan | str | PathLike[str] | None = None,
    table: str | None = None,
    disclosure: Disclosure | None = None,
    attack: Sequence[str] | str | None = None,
    cap: int = 100,
    metric: Metric = "scaled",
    sample: int | None = None,
    fraction: float | None = None,
    file_order: bool = False,
    scenario: Sequence[str] | str | None = None,
    control: Any = None,
    present: float | None = None,
    earlier: Any = None,
    truth: Any = None,
    keys: Sequence[str] | str | None = None,
    sensitive: Sequence[str] | str | None = None,
    weight: str | None = None,
    household: str | None = None,
    person: str | None = None,
    missing: str | None = None,
    special_uniques: bool = False,
    max_size: int | None = None,
    score: Score = "factorial",
    log_linear: Model | None = None,
    records: str | PathLike[str] | None = None,
    w1: float = 0.01,
    w2: float = 0.05,
    secret: bytes | Secret | None = None,
    crosswalk: Any = None,
    progress: Progress = quiet,
) -> Findings:
    """Measure the risk of a table, or of a protected table against its original.

    Given two tables and no `record`, row i of one goes with row i of the other only if `align="row-order"` says so;
    unequal heights are then refused.

    Parameters
    ----------
    data, protected
        What `read` gives or takes.
    columns
        Numeric columns that an intruder knows.
    by
        Categorical columns that an intruder knows.
    record
        Column with the record's id; of a path into a release folder the one that its papers name.
    align
        `"row-order"`; `"none"`, where rows of `protected` are nobody's; or None.
    plan
        A plan with roles, kinds, preparing steps and limits.
    table
        Of a plan of several tables, which one; by default the one that the file is of, where that can be told.
    disclosure
        What the release tells of `protected`: attackers know it. Of a path into a release folder it is read there.
    attack
        Attackers whose h-rank is measured: `nearest`, `predicted`, `averaging:M`, `predicted:M`, `imprecise:S`,
        `household`. By default the first two, where the disclosure tells of noise, and the last where households share
        draws; `attack="worst"` in limits is their maximum.
    cap
        Count h up to this, at least 10.
    metric
        How attackers measure nearness: `scaled` by the original's standard deviations, `euclidean`, `mahalanobis`.
    sample
        Attack a fixed random sample of so many records.
    fraction
        Share of the population that the file holds: the chance that a target is in it at all (by default as the
        disclosure says), and what people alone in the population are estimated from (by default they are not).
    file_order
        Add the first 10, 50 and 90% of the file in its own order, to compare with published tables.
    scenario
        Intruders who know keys and what they find in `protected`: `neighbour` (one person's keys; the person is
        there), `cross_match` (a file of people, of whom a share is there), `trawl` (nothing; looks for odd records),
        `claim` (everybody's keys; needs one claim that is believed). The plan's `knows` says what each knows.
    control
        People of the same kind who are not in `protected`, as `read` takes them: with it `inference` of sensitive
        variables and `membership` are measured.
    present
        Share of the people in an intruder's file of whom he takes it that they are there, above 0 and at most 1; by
        default their true share.
    earlier
        Earlier releases of the same people, newest first: a folder, a data file or a table, or a list of these. What
        they tell beside the new one, `data` (or `protected`), is measured as `differencing`.
    truth
        True values of the people of all releases, those who left too; or, where values differ between releases, a list:
        of the new release (unless that is `protected`, and `data` the truth), then of each earlier one.
    keys
        Columns that an intruder may know: their combinations are the classes of group `keys`. By default those with the
        role key in the plan or the file, else those that `init` would guess.
    sensitive
        Columns that an intruder must not learn, whatever their kind. Of several each is measured within classes of the
        keys and the others as well (group `keys and others`).
    weight
        Column with sampling weights, above 0.
    household
        Column with the id of the household.
    person
        Column with the id of whom several records are about: people are counted then, not records.
    missing
        What a missing key is in sizes of classes: `category`, a value of its own; `wildcard`, it agrees with every
        other; `wildcard:ALPHA`, it does in part. By default what the plan's last step with keys takes it for, else
        `category`.
    special_uniques
        Search the records that are alone by few of their keys: see `sfumato.measures.risk.special_uniques`.
    max_size
        Of special uniques, the most keys of a set that is searched; needed for more than 12 keys.
    score
        Of special uniques, how a set of s of m keys counts: `factorial` (m − s)!, `shares` (2^(m − s) − 1) / C(m, s).
    log_linear
        Estimate from `fraction` how many uniques are alone in the population, and how many matches are right, by a
        log-linear model: of main effects (`main`), with all two-way terms (`two-way`), or with those that a test of
        fit asks for (`auto`).
    records
        CSV file to write, of one table: the records with a score, with `record` (the id in the column `record`, else
        the row's number from 1 on), `score`, `dis` and `keys`, the smallest sets of keys by which it is alone. It is
        confidential: it points at people.
    w1, w2
        Widths of the robust Mahalanobis risk.
    secret
        The secret that `protected` was made with, where the plan pseudonymised the ids on which the two are joined; by
        default that of `SFUMATO_SECRET`.
    crosswalk
        In its place: ids before and after they were replaced, a table of two columns, as `read` takes it. `record` is
        then by default the name of the first.

    Examples
    --------
    >>> import polars as pl
    >>> risk(pl.DataFrame({"sex": ["f", "f", "m", "m"]}), by=["sex"]).of("k_anonymity").value
    2.0

    A Parquet file is not read as a whole where `keys` say which columns are needed.
    """
    if keys is not None and not _names(keys):
        raise DataError("keys name no column. Name those that an intruder may know.")
    searching = asked_for(special_uniques, max_size, score, log_linear, fraction)
    write = writing(records, record, searching, protected)
    named = Named(_names(keys), _names(sensitive), weight, household, person)
    plain = (protected, columns, by, record, align, plan, disclosure, earlier, truth)
    if named.keys and all(each is None for each in (*plain, records)) and _scannable(data):
        how = Measuring(missing=missing or CATEGORY, fraction=fraction, special=searching, log_linear=log_linear)
        return assess.risk_of_scan(ScannedDataset.open(Path(data)), named, how, progress)
    intruding = _intruding(scenario, present, control, protected)
    first = read_or_open(data)
    second = None if protected is None else read_whole(protected, *_BOTH)
    if not held(first):
        if any(each is not None for each in (protected, earlier, truth, control, records, disclosure)):
            in_memory(first, *_BOTH)
        how = Measuring(missing=missing or missing_rule(_plan(plan, table)), fraction=fraction)
        how = replace(how, special=searching, log_linear=log_linear)
        return risk_parted(first, by=by, plan=_plan(plan, table), named=named, how=how, progress=progress)
    plan, released = plan_for(plan, table, second, first), False
    keys_told: tuple[str, ...] = ()
    told_by_papers = Disclosure()
    if second is None:
        if (papers := papers_of(first)) is not None:
            told_by_papers = as_planned(first, papers)[1]
            record = record_of_both(papers, first) if record is None else record
        first, plan, released = as_released(first, plan)
    elif (papers := papers_of(second)) is not None:
        second, told = as_planned(second, papers)
        keys_told = tuple(papers.names.get(n, n) for n in papers.codebook.with_role(Role.KEY))
        if record is None and align in (None, "none") and plan is None and disclosure is None:
            record = record_of_both(papers, first, second)
        disclosure = told if disclosure is None else disclosure
    if crosswalk is not None:
        if second is None:
            raise DataError(_OF_TWO)
        first, plan, record = by_crosswalk(first, plan or Plan(), record, read_whole(crosswalk, "A crosswalk").frame)
    past = opened_before(earlier, truth, plan, None if second is None else first)
    if past is not None and record is not None:
        refuse_without(record, (first if second is None else second).frame, past)
    attacks = (attack,) if isinstance(attack, str) else tuple(attack or ())
    asked = attacks or fraction is not None or sample is not None or file_order
    rule = missing if missing is not None else missing_rule(plan or Plan())
    how = Measuring(
        w1=w1, w2=w2, missing=rule, fraction=fraction, intruding=intruding, special=searching, log_linear=log_linear
    )
    attacking = Attacking(attacks or DEFAULT, cap, sample, metric, fraction, file_order) if asked else None
    return assess.risk(
        first,
        second,
        columns=columns,
        by=by,
        record=record,
        align=align,
        plan=plan,
        released=released,
        disclosure=disclosure if second is not None or disclosure is not None else told_by_papers,
        earlier=past,
        control=None if control is None else read_whole(control, *_BOTH),
        named=named,
        told=keys_told,
        how=replace(how, attacking=attacking),
        secret=Secret.known(secret),
        also=write,
        progress=progress,
    )


def _intruding(
    scenario: Sequence[str] | str | None, present: float | None, control: Any, protected: Any
) -> Intruding | None:
    """Which intruders are asked for.

    Raises
    ------
    DataError
        Where something is said of them that says nothing here.
    """
    names = _names(scenario)
    if protected is None and (names or control is not None or present is not None):
        raise DataError(
            "Scenarios and controls are of a protected table beside its original: name both (--protected, protected=)."
        )
    if scenario is not None and not names:
        raise DataError(f"--scenario (scenario=) names none. Scenarios: {', '.join(SCENARIOS)}.")
    asked = Intruding(tuple(dict.fromkeys(names)), present) if names else None
    if asked is None and present is not None:
        Intruding((), present)
        raise DataError("--present (present=) is for --scenario cross_match and trawl: name the scenario.")
    return asked


def _plan(plan: Plan | str | PathLike[str] | None, table: str | None) -> Plan:
    """The plan of the one table."""
    if plan is None:
        return Plan()
    return (plan if isinstance(plan, Plan) else Plan.load(plan)).the_table(table)


def _names(given: Sequence[str] | str | None) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given or ())


def _scannable(source: Any) -> bool:
    """Whether a source is the path of a Parquet file that has no papers beside it."""
    if not isinstance(source, str | PathLike):
        return False
    path = Path(source)
    return path.suffix.lower() == ".parquet" and papers_in(path) is None
