"""`sfumato anonymise`: bring a file to k-anonymity and its kin with the least loss."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from contextlib import suppress
from inspect import signature
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from sfumato.cli.options import (
    Decimal,
    Delimiter,
    Encoding,
    Header,
    Json,
    NameBlank,
    Reading,
    SecretFile,
    Sheet,
    SkipRows,
    Verbose,
    names,
)
from sfumato.render.layout import Following

if TYPE_CHECKING:
    from sfumato.engines.polars import PolarsDataset
    from sfumato.release.anonymising import Anonymisation
    from sfumato.release.release import Release

__all__ = ["EXAMPLE", "anonymise"]

EXAMPLE = "Example: sfumato anonymise cohort.csv --keys age,sex,region --hierarchies hierarchies --k 5 --out release"


def anonymise(
    data: Annotated[Path, typer.Argument(help="The data file.")],
    keys: Annotated[
        str | None,
        typer.Option(help="Columns that an intruder may know of a person, with commas between; else they are guessed."),
    ] = None,
    hierarchies: Annotated[
        Path | None, typer.Option(help="Folder with a file of broader categories for each key: age.csv.")
    ] = None,
    k: Annotated[int, typer.Option("--k", help="Smallest group of records with equal keys.")] = 5,
    suppression_limit: Annotated[float, typer.Option(help="Largest share of records that may be left out.")] = 0.05,
    loss: Annotated[
        Literal[
            "loss",
            "loss-arithmetic",
            "entropy",
            "monotone-entropy",
            "precision",
            "discernibility",
            "average-class-size",
        ],
        typer.Option(help="What is made least."),
    ] = "loss",
    sensitive: Annotated[
        str | None,
        typer.Option(help="Columns that an intruder must not learn: for --l, --t, --alpha, --beta, --delta."),
    ] = None,
    l: Annotated[float | None, typer.Option("--l", help="Different sensitive values in each group.")] = None,  # noqa: E741
    l_kind: Annotated[Literal["distinct", "entropy", "recursive"], typer.Option(help="What --l counts.")] = "distinct",
    l_c: Annotated[float, typer.Option(help="For --l-kind recursive: c.")] = 4.0,
    t: Annotated[
        float | None, typer.Option("--t", help="Largest distance of a group's sensitive values from all.")
    ] = None,
    t_kind: Annotated[
        Literal["equal", "ordered", "hierarchical"], typer.Option(help="How far apart --t takes values to be.")
    ] = "equal",
    alpha: Annotated[float | None, typer.Option(help="Largest share of one sensitive value in a group.")] = None,
    beta: Annotated[float | None, typer.Option(help="Largest relative gain of a sensitive value in a group.")] = None,
    beta_kind: Annotated[Literal["basic", "enhanced"], typer.Option(help="Which beta-likeness.")] = "basic",
    delta: Annotated[float | None, typer.Option(help="Largest |ln| of a sensitive value's share in a group.")] = None,
    risk_average: Annotated[float | None, typer.Option(help="Largest average risk, groups over records.")] = None,
    uniques_sample: Annotated[float | None, typer.Option(help="Largest share of records alone in their group.")] = None,
    attribute_weights: Annotated[
        str | None, typer.Option(help="How much the loss of a key counts: age=2,sex=1.")
    ] = None,
    local: Annotated[bool, typer.Option("--local", help="Recode locally, which loses less.")] = False,
    time_limit: Annotated[float | None, typer.Option(help="Seconds after which the best found is taken.")] = None,
    unknown: Annotated[
        str | None,
        typer.Option(
            help="Released columns that nobody outside knows of anybody, with commas between; others: all but keys, "
            "strata and ids. Needs --because."
        ),
    ] = None,
    because: Annotated[
        str | None, typer.Option(help="Why nobody knows them, one line of 20 to 300 characters, which is published.")
    ] = None,
    plan: Annotated[Path | None, typer.Option(help="Plan whose variables, steps and limits come first.")] = None,
    out: Annotated[Path | None, typer.Option(help="Release folder; without it nothing is written.")] = None,
    recoding: Annotated[
        Path | None, typer.Option(help="Where to write the recoding as steps of a plan, for next year's file.")
    ] = None,
    internal_report: Annotated[
        Path | None, typer.Option(help="Report with exact figures, and values that no hierarchy lists.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a release folder that is there.")] = False,
    secret_file: SecretFile = None,
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
    """Recode keys to broader categories, and leave out few records, so that at least k records are alike.

    Of all levels of the keys' hierarchies those with the least loss are taken that meet everything asked for; that
    nothing better exists is proven. Ids that would leave as they were are replaced by numbers, unless a plan says what
    becomes of them. Without --out nothing is written, and the verdict is told all the same.
    """
    typed = _typed(locals())
    from sfumato.api.anonymise import anonymise as search
    from sfumato.cli.talk import open_table, refuse_same, say, telling_unlisted, write_out
    from sfumato.cli.working import working
    from sfumato.release.anonymising import guessed_keys
    from sfumato.release.package.folder import refuse_existing

    if out is not None:
        refuse_existing(out, overwrite)
    for path in (recoding, internal_report):
        refuse_same(path, data, plan, secret_file)
    asked: dict[str, Any] = {
        "k": k, "suppression_limit": suppression_limit, "loss": loss, "sensitive": names(sensitive) or (),
        "l": l, "l_kind": l_kind, "l_c": l_c, "t": t, "t_kind": t_kind, "alpha": alpha, "beta": beta,
        "beta_kind": beta_kind, "delta": delta, "risk_average": risk_average, "uniques_sample": uniques_sample,
        "attribute_weights": _weights(attribute_weights), "local": local, "time_limit": time_limit,
        "unknown": _said_unknown(unknown, because),
    }  # fmt: skip
    reading = Reading(delimiter, encoding, decimal, header, skip_rows, sheet, name_blank)
    table = open_table(data, reading)
    known = names(keys)
    if known is None:
        known = list(guessed_keys(table))
        say([f"What an intruder may know was guessed from names and values: {', '.join(known)}. Name it with --keys."])
    with telling_unlisted(internal_report), working() as progress:
        found = search(table, known, hierarchies=hierarchies, plan=plan, progress=progress, **asked)
    if recoding is not None:
        write_out(found.recoding(), recoding)
    release, written = _released(found, table, out, secret_file, overwrite, internal_report, verbose)
    _tell(found, release, out if written else None, typed | reading.typed(), json, verbose)
    if not release.ok:
        raise typer.Exit(1)


def _typed(given: Mapping[str, Any]) -> dict[str, Any]:
    """What was said otherwise than usual, as options of a command line; how files are read is `Reading`'s to say."""
    usual = signature(anonymise).parameters
    apart = {"out", "verbose", "json", *Reading().of_files()}
    return {n: v for n, v in given.items() if n not in apart and v != usual[n].default}


def _weights(text: str | None) -> dict[str, float]:
    """`age=2,sex=1` as weights by key."""
    from sfumato.errors import DataError

    found = {}
    for part in names(text) or ():
        key, _, number = part.rpartition("=")
        try:
            found[key] = float(number)
        except ValueError:
            raise DataError(f"Weights are written KEY=NUMBER, for instance age=2,sex=1; {text!r} is not.") from None
    return found


def _said_unknown(columns: str | None, because: str | None) -> list[dict[str, Any]]:
    """What the options say that nobody outside knows, as a plan has it."""
    from sfumato.errors import DataError
    from sfumato.plan.unknown import OTHERS

    if columns is None and because is None:
        return []
    if columns is None or because is None:
        raise DataError("--unknown COLUMNS and --because TEXT go together: what nobody outside knows, and why.")
    named = names(columns) or []
    ids = [n for n in named if n != OTHERS]
    told = ([OTHERS] if OTHERS in named else []) + ([ids] if ids or OTHERS not in named else [])
    return [{"columns": each, "because": because} for each in told]


def _released(
    found: Anonymisation,
    table: PolarsDataset,
    out: Path | None,
    secret_file: Path | None,
    overwrite: bool,
    internal_report: Path | None,
    verbose: bool,
) -> tuple[Release, bool]:
    """Make the release as `protect` does, and say on stderr what is to be read besides; whether it was written."""
    from sfumato.api.protect import protect
    from sfumato.cli.talk import say
    from sfumato.cli.working import working
    from sfumato.errors import LimitExceeded
    from sfumato.release.secret import Secret
    from sfumato.render.screen import details, warned

    say(_new_ids(found))
    with working() as progress:
        release = protect(found.plan, table, secret=Secret.find(secret_file), progress=progress)
    notes: tuple[str, ...] = ()
    written = False
    if out is not None:
        with suppress(LimitExceeded):
            notes = release.write(out, overwrite=overwrite, internal_report=internal_report)
            written = True
    say([*warned(release.report, every=verbose), *notes, *(details(release.report) if verbose else ())])
    return release, written


def _tell(
    found: Anonymisation, release: Release, written: Path | None, typed: dict[str, Any], as_json: bool, verbose: bool
) -> None:
    """Print the screen, or one JSON object; with `--verbose` also what else could be had."""
    from sfumato.cli.talk import print_json, print_screen, say
    from sfumato.cli.working import working
    from sfumato.render.anonymisation import others_of_anonymised, screen_of_anonymised, searched

    report = release.report
    following = _following(release, written, typed)
    lines = screen_of_anonymised(found, report, following, written=written is not None)
    if as_json:
        judged = {name: report.to_plain()[name] for name in ("verdict", "released", "undecided", "unknown")}
        place = {"release": None if written is None else str(written), "ok": release.ok}
        said = " ".join(map(str.strip, takewhile(bool, lines)))
        say([] if release.ok else [f"sfumato: {said}", *following.lines])
        print_json(found.to_plain() | place | judged | {"next": following.plain})
        return
    print_screen(lines)
    if verbose:
        with working() as progress:
            others = found.others(progress)
        print_screen(["", searched(found), "", *others_of_anonymised(found, others)])


def _following(release: Release, written: Path | None, typed: dict[str, Any]) -> Following:
    """What leads on: to read the report, to write the release, to say why nobody knows the rest, or another draft."""
    from sfumato.cli.commands import command, next_plan, options
    from sfumato.release.verdict import to_copy

    report = release.report
    data, again = typed["data"], {name: value for name, value in typed.items() if name != "data"}
    if written is not None:
        return Following((("open", shlex.quote(str(written / "report.html"))),))
    if report.verdict == "holds":
        return Following((command("anonymise", data, **again, out="release"),))
    if report.verdict == "undecided":
        unknown = ",".join(dict.fromkeys(["others", *(names(again.pop("unknown", None)) or ())]))
        reason = options(because=again.pop("because", "..."))
        asked = (*command("anonymise", data, **again, unknown=unknown), *reason, *options(out="release"))
        return Following((asked,), to_copy(report, release.plan) if report.open_ids else ())
    plan = Path("plan.yaml")
    reading = {name: value for name, value in again.items() if name in (*Reading().of_files(), "no_header")}
    drafted = command("init", data, keys=again.get("keys"), **reading)
    out = next_plan(plan) if plan.exists() else plan
    return Following(((*drafted, *options(because="...", out=out)),))


def _new_ids(found: Anonymisation) -> list[str]:
    """Say that ids are replaced, where nobody asked for that."""
    new = [n for step in found.plan.steps[found.plan.steps.index(found.step) + 1 :] for n in step.changes]
    if not new:
        return []
    kept = "--unknown NAMES --because TEXT keeps ids that nobody outside knows"
    return [f"Ids in {', '.join(new)} are replaced by numbers in an order that tells nothing; {kept}."]
