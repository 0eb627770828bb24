"""`sfumato risk` and `sfumato compare`: measure files as they are."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli.commands import command, next_plan
from sfumato.cli.options import (
    W1,
    W2,
    Align,
    Attack,
    By,
    Cap,
    Columns,
    Control,
    Crosswalk,
    Decimal,
    Delimiter,
    Encoding,
    Engine,
    Family,
    FileOrder,
    Fraction,
    Header,
    Household,
    Json,
    Keys,
    LogLinear,
    MaxSize,
    MaxStratum,
    Memory,
    Metric,
    MissingKeys,
    Model,
    NameBlank,
    Person,
    PlanFile,
    Present,
    Reading,
    Record,
    Records,
    Sample,
    Scenario,
    Score,
    SecretFile,
    Sensitive,
    Sheet,
    SkipRows,
    SpecialUniques,
    Table,
    Temp,
    Verbose,
    Weight,
    names,
    path_of,
)
from sfumato.render.layout import Command, Following

if TYPE_CHECKING:
    from sfumato.data.finding import Findings
    from sfumato.kernels.glm import Family as GlmFamily

__all__ = ["COMPARE_EXAMPLE", "RISK_EXAMPLE", "compare", "risk"]

RISK_EXAMPLE = "Example: sfumato risk cohort.csv --protected release/data.csv --columns age,income --by sex --record id"
COMPARE_EXAMPLE = "Example: sfumato compare before.csv after.csv --record id --model 'asthma ~ bmi' --family logistic"

_SPECIAL = ("special_uniques", "dis_suda")
_LOG_LINEAR = ("uniques_population_loglinear", "matches_population_loglinear")
"""What the screen shows where it is asked for."""


def risk(
    data: Annotated[
        str,
        typer.Argument(
            help="The data file, or the original of a protected one; a folder of Parquet parts; "
            "postgresql://[user@][host]/database/schema.table."
        ),
    ],
    keys: Keys = None,
    sensitive: Sensitive = None,
    weight: Weight = None,
    person: Person = None,
    household: Household = None,
    missing: MissingKeys = None,
    protected: Annotated[Path | None, typer.Option(help="The protected file.")] = None,
    columns: Columns = None,
    by: By = None,
    record: Record = None,
    align: Align = None,
    plan: PlanFile = None,
    table: Table = None,
    attack: Attack = None,
    cap: Cap = 100,
    metric: Metric = "scaled",
    sample: Sample = None,
    fraction: Fraction = None,
    file_order: FileOrder = False,
    scenario: Scenario = None,
    control: Control = None,
    present: Present = None,
    earlier: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FOLDER",
            help="An earlier release of the same people (or its data file): what it tells beside this one. Again for "
            "older ones.",
        ),
    ] = None,
    truth: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="True values of the people of all releases, those who left too. Again, newest first, where they "
            "differ.",
        ),
    ] = None,
    special_uniques: SpecialUniques = False,
    max_size: MaxSize = None,
    score: Score = "factorial",
    log_linear: LogLinear = None,
    records: Records = None,
    engine: Engine = None,
    memory: Memory = "1GB",
    temp: Temp = None,
    max_stratum: MaxStratum = None,
    w1: W1 = 0.01,
    w2: W2 = 0.05,
    secret_file: SecretFile = None,
    crosswalk: Crosswalk = None,
    verbose: Verbose = False,
    json: Json = False,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    header: Header = None,
    skip_rows: SkipRows = 0,
    sheet: Sheet = None,
    name_blank: NameBlank = False,
) -> None:
    """Measure the risk of one file, or of a protected file against its original.

    Of one file name what an intruder may know, and what nobody must learn: sfumato risk cohort.csv --keys sex,age
    --sensitive illness

    Where the protected file lies in a release folder, attackers know what the release discloses, and the tables are
    joined on the record id that its papers name. With --earlier the file (or the protected one) is a release, and what
    both tell together is measured: sfumato risk new/data.csv --earlier old --truth cohort.csv --record id
    """
    from sfumato.api.risk import risk as measure
    from sfumato.cli.talk import finish, open_source, open_table, refuse_same, say
    from sfumato.cli.working import working
    from sfumato.release.secret import Secret
    from sfumato.release.verdict import verdict_of_risk
    from sfumato.render.measured import screen_of_risk

    refuse_same(records, path_of(data), protected, plan, secret_file, *(earlier or ()), *(truth or ()))
    how = Reading(delimiter, encoding, decimal, header, skip_rows, sheet, name_blank, engine, memory, temp, max_stratum)
    path = path_of(data)
    scanned = (
        records is None
        and keys is not None
        and engine is None
        and path is not None
        and path.suffix.lower() == ".parquet"
    )  # read no more than the columns that are needed
    first = path if scanned and path is not None and not path.is_dir() else open_source(data, how)
    second = None if protected is None else open_table(protected, how)
    with working() as progress:
        found = measure(
            first,
            second,
            columns=names(columns),
            by=names(by),
            record=record,
            align=align,
            plan=plan,
            table=table,
            attack=names(attack),
            cap=cap,
            metric=metric,
            sample=sample,
            fraction=fraction,
            file_order=file_order,
            scenario=names(scenario),
            control=None if control is None else open_table(control, how),
            present=present,
            earlier=earlier,
            truth=[open_table(path, how) for path in truth or ()] or None,
            keys=names(keys),
            sensitive=names(sensitive),
            weight=weight,
            person=person,
            household=household,
            missing=missing,
            special_uniques=special_uniques,
            max_size=max_size,
            score=score,
            log_linear=log_linear,
            records=records,
            w1=w1,
            w2=w2,
            secret=Secret.known(secret_file),
            crosswalk=crosswalk,
            progress=progress,
        )
    if records is not None:
        say([f"Written: {records}. It points at people: keep it where the data are kept."])
    joined = {"columns": columns, "by": by, **_joined(record, align, plan, table, secret_file, crosswalk)}
    following = Following((_after_risk(data, protected, found.ok, joined, how),))
    title = data.rpartition("/")[2] if path is None else path.stem
    asked = (*(_SPECIAL if special_uniques else ()), *(_LOG_LINEAR if log_linear else ()))
    screen = screen_of_risk(found, title, following, alone=protected is None and not earlier, asked=asked)
    finish(found, screen, following, json, verbose=verbose, verdict=verdict_of_risk(found))


def compare(
    before: Annotated[Path, typer.Argument(help="The original file.")],
    after: Annotated[Path, typer.Argument(help="The protected file.")],
    columns: Columns = None,
    by: By = None,
    record: Record = None,
    align: Align = None,
    plan: PlanFile = None,
    table: Table = None,
    model: Model = None,
    family: Family = None,
    supports: Annotated[
        bool,
        typer.Option(
            "--supports",
            help="Of synthetic copies: grade each variable, pair and term of the model: supported, rough or lost.",
        ),
    ] = False,
    publish: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write these grades alone, as JSON for analysts. Each is a small answer about the true data: one file "
            "a release, with models chosen beforehand.",
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file of grades.")] = False,
    secret_file: SecretFile = None,
    crosswalk: Crosswalk = None,
    verbose: Verbose = False,
    json: Json = False,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    header: Header = None,
    skip_rows: SkipRows = 0,
    sheet: Sheet = None,
    name_blank: NameBlank = False,
) -> None:
    """Measure what a protected file still says: propensity, means, spreads, a model of yours.

    With --supports, of a synthetic release, what is found in its copies is graded beside the data.
    """
    from sfumato.api.compare import compare as measure
    from sfumato.cli.talk import finish, open_table
    from sfumato.cli.working import working
    from sfumato.release.secret import Secret
    from sfumato.render.measured import screen_of_loss
    from sfumato.render.supported import screen_of_supports

    _refuse_publishing(publish, before, after, supports=supports, force=force)
    how = Reading(delimiter, encoding, decimal, header, skip_rows, sheet, name_blank)
    first, second = open_table(before, how), open_table(after, how)
    with working() as progress:
        found = measure(
            first,
            second,
            columns=names(columns),
            by=names(by),
            record=record,
            align=align,
            plan=plan,
            table=table,
            model=model,
            family=family,
            supports=supports,
            secret=Secret.known(secret_file),
            crosswalk=crosswalk,
            progress=progress,
        )
    if publish is not None:
        _publish(found, publish, model, family)
    typed = {"columns": columns, "by": by, **_joined(record, align, plan, table, secret_file, crosswalk), **how.typed()}
    if supports and publish is None:
        more = {"supports": True, "model": model, "family": family, "publish": "grades.json"}
        following = Following((command("compare", before, after, **typed, **more),))
    else:
        following = Following((_after_compare(before, after, typed),))
    screen = screen_of_supports(found, following, published=publish is not None) if supports else None
    finish(found, screen or screen_of_loss(found, following), following, json, verbose=verbose)


def _refuse_publishing(publish: Path | None, *read: Path, supports: bool, force: bool) -> None:
    """Refuse a file of grades without grades, in the place of what is read, or where one is already."""
    from sfumato.cli.talk import refuse_same
    from sfumato.errors import FileError

    if publish is None:
        return
    if not supports:
        raise FileError("--publish writes the grades of --supports: say --supports, too.")
    refuse_same(publish, *read)
    if publish.exists() and not force:
        raise FileError(
            f"{str(publish)!r} is there already, and each further file of grades tells more of the true data. Keep it, "
            "choose another path, or --force."
        )


def _publish(found: Findings, path: Path, model: str | None, family: GlmFamily | None) -> None:
    from json import dumps

    from sfumato.cli.talk import say, write_out
    from sfumato.release.supports import to_publish

    out = to_publish(found, model, family)
    write_out(f"{dumps(out, indent=2, ensure_ascii=False)}\n", path)
    left = len(found.supports or ()) - len(out["supports"])
    say([f"{left} terms are not in it: their names have categories that the copies do not hold."] if left else [])


def _joined(
    record: str | None,
    align: str | None,
    plan: Path | None,
    table: str | None,
    secret_file: Path | None,
    crosswalk: Path | None,
) -> dict[str, Any]:
    """How records of two files are joined, as options of a command to paste."""
    said = {"record": record, "align": align, "plan": plan, "table": table}
    return said | {"secret_file": secret_file, "crosswalk": crosswalk}


def _after_risk(data: str, protected: Path | None, ok: bool, joined: dict[str, Any], how: Reading) -> Command:
    """What leads on: a plan, a release, advice on one that exceeds its limits, its report, or what it lost."""
    from sfumato.plan.plan import Plan
    from sfumato.release.package.papers import papers_in

    path, plan, key = path_of(data), joined["plan"], joined["secret_file"]
    if protected is not None and plan is not None and not ok:
        asked = {"advise": True, "out_plan": next_plan(Path(plan.name))}
        return command("protect", plan, data, out="release", secret_file=key, **asked, **how.typed())
    if protected is not None:
        return command("compare", data, protected, **joined, **Reading(**how.of_files()).typed())
    if path is not None and papers_in(path) is not None:
        return "open", shlex.quote(str(path.parent / "report.html"))
    if plan is not None:
        source = None if Plan.load(plan).tables else data
        return command("protect", plan, source, out="release", secret_file=key or "key", **how.typed())
    out = Path("plan.yaml")
    return command("init", data, out=next_plan(out) if out.exists() else out, **how.typed())


def _after_compare(before: Path, after: Path, typed: dict[str, Any]) -> Command:
    """What leads on: how well people are hidden, where records can be joined; else its report, or its own risk."""
    from sfumato.release.package.papers import papers_in

    if any(typed[name] is not None for name in ("record", "align", "plan", "crosswalk")):
        return command("risk", before, protected=after, **typed)
    if after.is_dir() and (after / "report.html").is_file():
        return "open", shlex.quote(str(after / "report.html"))
    if papers_in(after) is not None:
        return "open", shlex.quote(str(after.parent / "report.html"))
    return command("risk", after, **typed)
