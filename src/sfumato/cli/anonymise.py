"""`sfumato anonymise`: bring a file to k-anonymity and its kin with the least loss."""

from __future__ import annotations

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
    names,
)

if TYPE_CHECKING:
    from sfumato.engines.polars import PolarsDataset
    from sfumato.release.anonymising import Anonymisation

__all__ = ["EXAMPLE", "anonymise"]

EXAMPLE = "Example: sfumato anonymise cohort.csv --keys age,sex,region --hierarchies hierarchies --k 5 --out release"
_ANSWER = 'On this command line: --unknown NAMES --because "the reason, which is published".'


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
    from sfumato.api.anonymise import anonymise as search
    from sfumato.cli.talk import open_table, print_json, refuse_same, say, telling_unlisted
    from sfumato.cli.working import working
    from sfumato.data.files.atomic import replacing
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
    table = open_table(data, Reading(delimiter, encoding, decimal, header, skip_rows, sheet, name_blank))
    known = names(keys)
    if known is None:
        known = list(guessed_keys(table))
        say([f"What an intruder may know was guessed from names and values: {', '.join(known)}. Name it with --keys."])
    with telling_unlisted(internal_report), working() as progress:
        found = search(table, known, hierarchies=hierarchies, plan=plan, progress=progress, **asked)
    if recoding is not None:
        with replacing(recoding) as temporary:
            temporary.write_bytes(found.recoding().encode())
        say([f"Written: {recoding}"])
    told = _release(found, table, out, secret_file, overwrite, internal_report)
    if json:
        print_json(found.to_plain() | told)
    else:
        _explain(found)
    if not told["ok"]:
        raise typer.Exit(1)


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


def _release(
    found: Anonymisation,
    table: PolarsDataset,
    out: Path | None,
    secret_file: Path | None,
    overwrite: bool,
    internal_report: Path | None,
) -> dict[str, Any]:
    """Make the release as `protect` does, and say where it is, or why there is none."""
    from sfumato.api.protect import protect
    from sfumato.cli.talk import say
    from sfumato.cli.working import working
    from sfumato.errors import LimitExceeded
    from sfumato.release.release import not_met
    from sfumato.release.secret import Secret
    from sfumato.release.verdict import to_decide

    say(_new_ids(found))
    with working() as progress:
        release = protect(found.plan, table, secret=Secret.find(secret_file), progress=progress)
    report = release.report
    plain = {name: report.to_plain()[name] for name in ("verdict", "released", "undecided", "unknown")}
    told: dict[str, Any] = {"release": None, "ok": release.ok, **plain}
    here = [_ANSWER] if report.undecided else []
    if out is None:
        say(
            [
                *report.assumed.sentences(),
                *([] if release.ok else [to_decide(report, release.plan) or not_met(report, release.plan)]),
                *here,
            ]
        )
        return told
    try:
        notes = release.write(out, overwrite=overwrite, internal_report=internal_report)
    except LimitExceeded as error:
        say([*report.assumed.sentences(), *report.warnings, str(error), *here])
        return told
    say([*report.assumed.sentences(), *report.warnings, *notes, f"Release written: {out} (open report.html there)"])
    return told | {"release": str(out)}


def _new_ids(found: Anonymisation) -> list[str]:
    """Say that ids are replaced, where nobody asked for that."""
    new = [n for step in found.plan.steps[found.plan.steps.index(found.step) + 1 :] for n in step.changes]
    if not new:
        return []
    kept = "--unknown NAMES --because TEXT keeps ids that nobody outside knows"
    return [f"Ids in {', '.join(new)} are replaced by numbers in an order that tells nothing; {kept}."]


def _explain(found: Anonymisation) -> None:
    """What was found, what went and why, and what else could be had."""
    from rich.console import Console

    from sfumato.cli.working import working
    from sfumato.render.anonymisation import show

    with working() as progress:
        others = found.others(progress)
    show(found, others, Console())
