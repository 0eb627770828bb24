"""`sfumato demo`: the whole way on invented data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["EXAMPLE", "demo"]

EXAMPLE = "Example: sfumato demo --out demo"
NEW_IDS = "do: pseudonymise, columns: [id]"
OPEN_QUESTION = 'because: "?"'
WITHOUT_NAMES = """\
sfumato: 1
steps:
  - {do: drop, columns: [name, nhs_number, email, postcode, comment, easting, northing, date_of_birth]}
  - {do: pseudonymise, columns: [id], scope: table, format: number}
  - {do: pseudonymise, columns: [household], scope: table, format: number}
"""
REASON = "asked by the invented study's own interviewers, and told to nobody else"


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the demonstration.")] = Path("demo"),
    records: Annotated[int, typer.Option(min=200, max=1_000_000, help="How many people to invent.")] = 2000,
) -> None:
    """Invent a birth cohort, draft a plan, protect it, compare, look for k-anonymity, and say what to look at."""
    from sfumato.cli.anonymise import anonymise
    from sfumato.cli.assess import compare
    from sfumato.cli.init import init
    from sfumato.cli.protect import protect
    from sfumato.cli.talk import say

    data, plan, release, internal = (
        out / name for name in ("cohort.csv", "plan.yaml", "release", "internal-report.html")
    )
    say([f"1. Inventing {records} people: {data}"])
    _invent(records, data)
    if plan.exists():  # it may hold what somebody changed there
        say(["", f"2. {plan} is there already, and is taken as it is."])
    else:
        say(["", f"2. sfumato init {data} --out {plan}"])
        init([str(data)], out=plan)
        _answer(plan)
    ids = out / "ids.csv" if NEW_IDS in plan.read_text("utf-8") else None
    joined = "" if ids is None else f" --crosswalk {ids}"
    say(["", f"3. sfumato protect {plan} {data} --out {release} --internal-report {internal}{joined} ..."])
    model = "asthma ~ bmi + C(sex) + C(smoker)"
    protect(
        plan,
        data=str(data),
        out=str(release),
        internal_report=internal,
        crosswalk=ids,
        overwrite=True,
        model=model,
        family="logistic",
    )
    say(["", f"4. sfumato compare {data} {release / 'data.csv'} --plan {plan}{joined}"])
    compare(data, release / "data.csv", plan=plan, crosswalk=ids)
    keys, names = "sex,region,education,smoker", out / "without-names.yaml"
    names.write_text(WITHOUT_NAMES, "utf-8")
    more = f'--k 10 --suppression-limit 0.02 --unknown others --because "{REASON}"'
    say(["", f"5. Another way, for categories: sfumato anonymise {data} --plan {names} --keys {keys} {more}"])
    anonymise(data, keys, k=10, suppression_limit=0.02, unknown="others", because=REASON, plan=names)
    say(
        [
            "",
            "Look at, in this order:",
            f"  {release / 'report.html'}",
            "      the report that goes out with the release: open it in a browser",
            f"  {internal}",
            "      the custodian's report, with the pictures that show confidential values",
            f"  {plan}",
            "      the drafted plan: each guess with its reason, for you to change",
        ]
    )


def _answer(plan: Path) -> None:
    """Give the reason that the drafted plan asks for: of people who were invented it is true."""
    from sfumato.cli.talk import say

    say(["   The plan asks of which columns nobody outside can know the values, and why. Here:", f"   {REASON}."])
    plan.write_text(plan.read_text("utf-8").replace(OPEN_QUESTION, f'because: "{REASON}"'), "utf-8")


def _invent(records: int, path: Path) -> None:
    from sfumato.cli.talk import refuse_same
    from sfumato.data.files import Table, write_table
    from sfumato.errors import FileError
    from sfumato.examples import cohort, cohort_codebook

    refuse_same(path.parent)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"The folder {str(path.parent)!r} cannot be made: {error.strerror}.") from None
    write_table(Table(cohort(records), cohort_codebook(), ".csv"), path)
