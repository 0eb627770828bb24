"""`sfumato protect`: from a plan and a file to a release folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from sfumato.cli.options import (
    W1,
    W2,
    Decimal,
    Delimiter,
    Encoding,
    Engine,
    Family,
    Header,
    Json,
    MaxStratum,
    Memory,
    Model,
    NameBlank,
    Reading,
    SecretFile,
    Sheet,
    SkipRows,
    Temp,
    Verbose,
    path_of,
)

__all__ = ["EXAMPLE", "protect"]

EXAMPLE = "Example: sfumato protect plan.yaml cohort.csv --out release --secret-file key"


def protect(
    plan: Annotated[Path, typer.Argument(help="The plan.")],
    out: Annotated[str, typer.Option(help="The release folder to write; or an address, file:///path.")],
    data: Annotated[
        str | None,
        typer.Argument(
            help="The data file; a folder of Parquet parts; postgresql://[user@][host]/database/schema.table; of a "
            "plan of several tables the folder of its files, else the plan's own."
        ),
    ] = None,
    secret_file: SecretFile = None,
    earlier: Annotated[
        list[Path] | None,
        typer.Option(
            help="An earlier release of the same people, newest first: what its steps disclosed is taken over, so that "
            "values that did not change keep their draws. Repeat it for more."
        ),
    ] = None,
    leaver: Annotated[
        bool | None,
        typer.Option(
            "--leaver/--no-leaver",
            help="Run the steps twice more, without one person: how many others would be drawn anew in the next "
            "release, and how nearly it would tell who left. Done unasked where that is little work.",
        ),
    ] = None,
    internal_report: Annotated[
        Path | None, typer.Option(help="Where to write the custodian's report, which shows confidential values.")
    ] = None,
    crosswalk: Annotated[
        Path | None,
        typer.Option(help="Where to write ids before and after they were replaced, for the custodian alone."),
    ] = None,
    advise: Annotated[
        bool,
        typer.Option(
            "--advise",
            help="Where the plan stops, look for the first edit of it that holds, at most 12 tries; limits stay.",
        ),
    ] = False,
    out_plan: Annotated[
        Path | None, typer.Option(metavar="FILE", help="With --advise: where to write the plan that holds.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing release.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Write it although a limit is exceeded.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Tell how each step would run, from counts alone; write nothing.")
    ] = False,
    engine: Engine = None,
    memory: Memory = "1GB",
    temp: Temp = None,
    max_stratum: MaxStratum = None,
    model: Model = None,
    family: Family = None,
    w1: W1 = 0.01,
    w2: W2 = 0.05,
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
    """Protect a file as the plan says, measure risk and utility, and write the release folder.

    The first line is the verdict: HOLDS, EXCEEDED or UNDECIDED. Where it does not hold nothing is written, and the exit
    status is 1. Of a plan of several tables
    every two released ones are searched for links: one that the plan does not declare stops the release as well.

    A folder of Parquet parts and a table of PostgreSQL stay where they are, whatever their size: the release is then
    written in parts.
    """
    from sfumato.api.protect import protect as run
    from sfumato.cli.advising import advised_on, refuse_advice
    from sfumato.cli.protecting import Typed, closing_all, open_tables, rehearsed, tell, written
    from sfumato.cli.talk import refuse_same, telling_unlisted
    from sfumato.cli.working import working
    from sfumato.data.dataset import Dataset
    from sfumato.plan.binding import loaded
    from sfumato.progress import split
    from sfumato.release.crosswalk import refuse_crosswalk
    from sfumato.release.package.parts import refuse_target
    from sfumato.release.secret import Secret

    steps, secret = loaded(plan, data), None if dry_run else Secret.find(secret_file)
    refuse_target(out, overwrite)
    for path in (internal_report, crosswalk, out_plan):
        refuse_same(path, path_of(data), plan, secret_file)
    refuse_advice(steps, out_plan, advise=advise, overwrite=overwrite)
    refuse_crosswalk(crosswalk, Path(out), overwrite=overwrite)
    reading = Reading(
        delimiter, encoding, decimal, header, skip_rows, sheet, name_blank, engine, memory, temp, max_stratum
    )
    with closing_all(open_tables(steps, plan, data, reading)) as tables:
        name = tables.engine if isinstance(tables, Dataset) else "memory"
        if dry_run:
            rehearsed(steps, tables, name, max_stratum, json)
            return
        with telling_unlisted(internal_report), working() as progress:
            running, writing, advising = split(progress, (9, 1, 9 if advise else 0))
            how: dict[str, Any] = {
                "secret": secret, "earlier": earlier, "model": model, "family": family, "w1": w1, "w2": w2,
            }  # fmt: skip
            release = run(steps, tables, leaver=leaver, progress=running, **how)
            writing("writing the release", 0)
            notes, parts = written(release, out, overwrite, force, internal_report, crosswalk)
            advice = None
            if advise and not parts:
                advice = advised_on(plan, tables, release, out_plan, progress=advising, **how)
    again = {
        "secret_file": secret_file, "earlier": earlier, "leaver": leaver or None, "no_leaver": leaver is False,
        "internal_report": internal_report, "crosswalk": crosswalk,
        "overwrite": overwrite, "model": model, "family": family, "w1": None if w1 == 0.01 else w1,
        "w2": None if w2 == 0.05 else w2,
    }  # fmt: skip
    typed = Typed(plan, data, out, again | reading.typed())
    tell(release, typed, notes, json, name, parts, advice, verbose=verbose)
    if not parts:
        raise typer.Exit(1)
