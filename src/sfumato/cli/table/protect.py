"""`sfumato table protect`: judge, hide, audit."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

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
)
from sfumato.cli.options import Table as PlanTable
from sfumato.cli.table.opening import (
    By,
    Contributors,
    Count,
    Hierarchies,
    Holdings,
    Lower,
    Margins,
    Overwrite,
    Records,
    Requested,
    Sliding,
    TableOut,
    TablePlan,
    Tolerance,
    Value,
    Waived,
    Weight,
    Work,
    open_tables,
    trees,
)

if TYPE_CHECKING:
    from sfumato.tables.protect import Protected

__all__ = ["EXAMPLE", "protect"]

EXAMPLE = "Example: sfumato table protect firms.csv --by industry,region --value turnover --rule 'n(3)' --out t.csv"


def protect(
    data: Annotated[Path, typer.Argument(help="The data file; without --by a file of a table.")],
    by: By = None,
    value: Value = None,
    rule: Annotated[
        list[str] | None,
        typer.Option(help="Which cells are unsafe: n(3), p(10), pq(10,50), nk(2,85). Again for more."),
    ] = None,
    method: Annotated[
        Literal["auto", "optimal", "flow", "elimination"],
        typer.Option(help="How cells are found that must be hidden as well; auto does what the work allows."),
    ] = "auto",
    protect: Annotated[
        Literal["exact", "level"],
        typer.Option(help="level: each unsafe cell has its interval. exact: none is determined."),
    ] = "level",
    cost: Annotated[Literal["value", "unity", "count"], typer.Option(help="What hiding a cell costs.")] = "value",
    sliding: Sliding = False,
    reader: Annotated[
        Literal["contributor", "outsider"],
        typer.Option(help="Who reads it: perhaps a contributor, who knows the cells he is alone in; or nobody inside."),
    ] = "contributor",
    tell_unsafe: Annotated[
        bool, typer.Option("--tell-unsafe", help="Publish two letters: u for unsafe cells, x for the others hidden.")
    ] = False,
    prior: Annotated[
        Path | None, typer.Option(help="A-priori file (.hst): statuses, costs and levels of single cells.")
    ] = None,
    last: Annotated[
        Path | None, typer.Option(help="Last period's table with its statuses: what was hidden there costs little.")
    ] = None,
    out: TableOut = None,
    internal: Annotated[
        Path | None, typer.Option(help="Where to write the judged table with values and levels, for the custodian.")
    ] = None,
    overwrite: Overwrite = False,
    force: Annotated[bool, typer.Option("--force", help="Write it although the audit fails.")] = False,
    work: Work = 1.0,
    time_limit: Annotated[float | None, typer.Option(min=0, help="Stop looking for something cheaper sooner.")] = None,
    tolerance: Tolerance = None,
    lower: Lower = None,
    count: Count = None,
    contributors: Contributors = None,
    holdings: Holdings = None,
    weight: Weight = None,
    waived: Waived = None,
    requested: Requested = None,
    margins: Margins = "all",
    plan: TablePlan = None,
    secret_file: SecretFile = None,
    table: PlanTable = None,
    hierarchy: Hierarchies = None,
    json: Json = False,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    header: Header = None,
    skip_rows: SkipRows = 0,
    sheet: Sheet = None,
    name_blank: NameBlank = False,
    public: Annotated[bool, typer.Option("--public", hidden=True)] = False,
    singletons: Annotated[bool, typer.Option("--singletons", hidden=True)] = False,
) -> None:
    """Hide the cells of a table that tell of few, and others beside them, until no attacker can work them out.

    The result is audited before it is written: where a hidden cell can still be worked out nothing is, and the exit
    status is 1.
    """
    from sfumato.api.hand_out import hand_out
    from sfumato.cli.talk import print_json, say
    from sfumato.cli.working import working
    from sfumato.data.files.jj import is_jj, write_jj
    from sfumato.data.files.priors import read_priors
    from sfumato.release.secret import Secret
    from sfumato.release.tabular.hand_out import refuse_out
    from sfumato.tables.build import RANKS
    from sfumato.tables.problems import problem_of
    from sfumato.tables.protect import protect as run
    from sfumato.tables.rules import ranks_needed, read_rules
    from sfumato.tables.table import COUNT

    _refuse_gone(public=public, singletons=singletons)
    secret = Secret.known(secret_file)
    read = (data, prior, last, plan, secret_file)
    refuse_out(out, *read, internal, overwrite=overwrite)
    refuse_out(internal, *read, out, overwrite=overwrite, internal=True, numbered=True)
    _refuse_numbered(data, out, internal)
    reading = Reading(delimiter, encoding, decimal, header, skip_rows, sheet, name_blank)
    known = trees(hierarchy)
    if by:
        records = Records(
            by=by,
            value=None if value == COUNT else value,
            count=count,
            contributors=contributors,
            holdings=holdings,
            weight=weight,
            waived=waived,
            requested=requested,
            margins=margins,
            ranks=max(RANKS, ranks_needed(read_rules(rule)) if rule else 0),
            plan=plan,
            secret_file=secret_file,
            plan_table=table,
        )
        given = records.table(data, reading, known)
    else:
        _refuse_of_records(
            plan=plan,
            table=table,
            count=count,
            holdings=holdings,
            weight=weight,
            waived=waived,
            requested=requested,
        )
        (given,) = open_tables([data], value, known, reading, contributors, numbered=True)
    with working() as progress:
        done = run(
            given,
            rule,
            method=method,
            protect=protect,
            cost=cost,
            sliding=sliding,
            reader=reader,
            tell_unsafe=tell_unsafe,
            secret=None if secret is None else secret.value,
            priors=() if prior is None else read_priors(prior, len(given.axes)),
            last=None if last is None else open_tables([last], value, {}, reading, numbered=True)[0],
            tolerance=tolerance,
            lower=lower,
            work=work,
            seconds=time_limit,
            progress=progress,
        )
    written = done.ok or force
    if internal is not None and is_jj(internal):
        write_jj(problem_of(done.judged), internal)
    elif internal is not None:
        hand_out(done, internal, internal=True, overwrite=overwrite)
    if written and out is not None:
        hand_out(done, out, overwrite=overwrite, force=force)
    told = done.to_plain()
    if json:
        print_json(told)
    else:
        _show(done)
    say([f"Written: {out}"] if written and out is not None else [])
    if not done.ok:
        say([*done.ways_out, "" if force else "Nothing was handed out."])
        raise typer.Exit(1)


def _refuse_gone(*, public: bool, singletons: bool) -> None:
    """Refuse options of earlier versions, and name what stands for them."""
    if public:
        raise typer.BadParameter("It is the default now: hidden cells have one letter. --tell-unsafe publishes both.")
    if singletons:
        raise typer.BadParameter("It is the default now: --reader contributor. --reader outsider leaves it out.")


def _refuse_numbered(data: Path, out: Path | None, internal: Path | None) -> None:
    """Refuse files of cells by number where codes are needed, and the other way round."""
    from sfumato.data.files.jj import is_jj
    from sfumato.errors import FileError
    from sfumato.release.tabular.hand_out import is_table_file

    if not is_jj(data):
        if internal is not None and is_jj(internal):
            raise FileError(
                "Only what was read from a .jj file is written as one: give --internal a .csv, or a folder."
            )
        return
    if out is not None and not is_table_file(out):
        raise FileError(f"{data.name} has its cells by number: give --out a name that ends in .csv.")
    if internal is not None and not is_jj(internal):
        raise FileError(f"{data.name} has its own equations, which a .jj file alone holds: end --internal in .jj.")


def _refuse_of_records(**options: object) -> None:
    """Refuse options that say how records are summed, where a table is given."""
    from sfumato.errors import FileError

    if given := [f"--{name.replace('_', '-')}" for name, x in options.items() if x is not None]:
        raise FileError(
            f"{', '.join(given)}: of records, but without --by a table is read. Name its variables in --by."
        )


def _show(done: Protected) -> None:
    """What came of it, for a person: the verdict, the figures that decide, what was found, what to know."""
    told = done.to_plain()
    levels, unions, inside = told["levels"], told["unions"], told["insiders"]
    if not done.primary:
        print("The table holds: no cell is unsafe by these rules, so nothing had to be hidden.")
    else:
        print("The table holds: no unsafe value can be worked out." if done.ok else "The table does not hold.")
    if levels is not None:
        print(f"Proved: {levels['proved']} of {levels['asked']} goals (an unsafe cell, upwards or downwards).")
    else:
        print(
            f"Worked out exactly: {told['audit']['exact']} unsafe cells. How closely others are bounded was not asked."
        )
        if done.audit.levels is not None and (rest := done.audit.levels.unproved):
            print(f"Of {rest} it was proved by the equations alone; that values are 0 or more may tell more.")
    if unions is not None:
        left = f"; of {unions['left']} equations not every one" if unions["left"] else ""
        print(f"Sums of hidden cells that totals tell: {unions['judged']} judged{left}, {unions['unsafe']} unsafe.")
    if inside["exact"] is not None:
        print(f"Contributors who are alone in hidden cells work out: {inside['exact']} unsafe cells.")
    print(f"{done.cells} cells: {done.primary} unsafe, {done.secondary} hidden beside them.")
    proved = "nothing cheaper exists" if done.suppression.optimal else "it was not proved that nothing is cheaper"
    print(f"Hidden value beside the unsafe cells: {done.secondary_value:,g} ({done.suppression.method}; {proved}).")
    if told["audit"].get("useless"):
        print(f"{told['audit']['useless']} hidden cells could be published without harm.")
    for note in told["notes"]:
        print(note)
