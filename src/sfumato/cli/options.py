"""Options that several commands share."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

__all__ = [
    "W1",
    "W2",
    "Align",
    "Attack",
    "By",
    "Cap",
    "Columns",
    "Control",
    "Decimal",
    "Delimiter",
    "Encoding",
    "Engine",
    "Family",
    "FileOrder",
    "Fraction",
    "Header",
    "Household",
    "Json",
    "Keys",
    "LogLinear",
    "MaxSize",
    "MaxStratum",
    "Memory",
    "Metric",
    "MissingKeys",
    "Model",
    "NameBlank",
    "Out",
    "PlanFile",
    "Present",
    "Reading",
    "Record",
    "Records",
    "Sample",
    "Scenario",
    "Score",
    "Sensitive",
    "Sheet",
    "SkipRows",
    "SpecialUniques",
    "Table",
    "Temp",
    "Verbose",
    "Weight",
    "names",
    "path_of",
]

_READING = "Reading"
_UNIQUES = "Uniques"

Delimiter = Annotated[str | None, typer.Option(help="Delimiter of a CSV file.", rich_help_panel=_READING)]
Encoding = Annotated[str | None, typer.Option(help="Encoding of a CSV file.", rich_help_panel=_READING)]
Decimal = Annotated[str | None, typer.Option(help="Decimal sign of a CSV file.", rich_help_panel=_READING)]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether the first row of a CSV or Excel file holds the names; without names, columns are c1, c2, ...",
        rich_help_panel=_READING,
    ),
]
SkipRows = Annotated[
    int, typer.Option(min=0, help="Rows of a CSV or Excel file above the table.", rich_help_panel=_READING)
]
Sheet = Annotated[
    str | None, typer.Option(help="Sheet of an Excel file: its name, or its number from 0.", rich_help_panel=_READING)
]
NameBlank = Annotated[
    bool,
    typer.Option(
        "--name-blank",
        help="Call columns of a CSV or Excel file whose name is blank, * or ^x$ by their place: c8. Else refused.",
        rich_help_panel=_READING,
    ),
]
Attack = Annotated[
    str | None,
    typer.Option(
        help="Attackers, with commas between: nearest, predicted, averaging:M, predicted:M, imprecise:S, household."
    ),
]
Cap = Annotated[int, typer.Option(min=10, help="Count h up to this; more is slower.")]
Sample = Annotated[int | None, typer.Option(min=1, help="Attack a random sample of so many records.")]
Metric = Annotated[Literal["euclidean", "scaled", "mahalanobis"], typer.Option(help="How attackers measure nearness.")]
Fraction = Annotated[
    float | None,
    typer.Option(
        help="Share of the population that the file holds: the chance that a target is in it (else as the release "
        "says), and what uniques of the population are estimated from."
    ),
]
Keys = Annotated[
    str | None,
    typer.Option(help="Columns that an intruder may know (role key), with commas between: they make the groups."),
]
Sensitive = Annotated[
    str | None,
    typer.Option(help="Columns that an intruder must not learn (role sensitive), of any kind, with commas between."),
]
Weight = Annotated[str | None, typer.Option(help="Column with sampling weights (role weight).")]
Person = Annotated[str | None, typer.Option(help="Column with the id of whom several rows are about (role person).")]
Household = Annotated[str | None, typer.Option(help="Column with the id of the household (role household).")]
SpecialUniques = Annotated[
    bool,
    typer.Option(
        "--special-uniques", help="Search the records that are alone by few of their keys.", rich_help_panel=_UNIQUES
    ),
]
MaxSize = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Of special uniques, the most keys of a set that is searched; needed for more than 12 keys.",
        rich_help_panel=_UNIQUES,
    ),
]
Score = Annotated[
    Literal["factorial", "shares"],
    typer.Option(
        help="Of special uniques, what a set of s of m keys counts: (m - s)!, or (2^(m - s) - 1) / C(m, s).",
        rich_help_panel=_UNIQUES,
    ),
]
Records = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="CSV file to write with the special uniques: record (the id named by --record, else the row's number), "
        "score, dis, keys of the smallest sets. Confidential: it points at people.",
        rich_help_panel=_UNIQUES,
    ),
]
LogLinear = Annotated[
    Literal["auto", "main", "two-way"] | None,
    typer.Option(
        help="Estimate from --fraction how many uniques are alone in the population, by a log-linear model: of main "
        "effects, with all two-way terms, or with those that a test of fit asks for.",
        rich_help_panel=_UNIQUES,
    ),
]
MissingKeys = Annotated[
    str | None,
    typer.Option(
        "--missing",
        metavar="RULE",
        help="What a missing key is: category (a value of its own), wildcard (it agrees with every other) or "
        "wildcard:ALPHA (in part). Else as the plan takes it, else category.",
    ),
]
Scenario = Annotated[
    str | None,
    typer.Option(
        help="Intruders who know keys, with commas between: neighbour (one person's, who is there), cross_match (a "
        "file of people of whom a share is there), trawl (nothing: looks for odd records), claim (everybody's, and "
        "needs one claim that is believed).",
    ),
]
Control = Annotated[
    Path | None, typer.Option(help="File of people of the same kind who are not in the protected file.")
]
Present = Annotated[
    float | None,
    typer.Option(
        help="Share of the people in an intruder's file of whom he takes it that they are there, above 0 and at most "
        "1. Else their true share."
    ),
]
FileOrder = Annotated[
    bool, typer.Option("--file-order", help="Add the first 10, 50 and 90% of the file, as published tables have them.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object to stdout.")]
Verbose = Annotated[
    bool, typer.Option("--verbose", help="Tell of every step, warning, note and figure; notes may hold counts.")
]
Out = Annotated[Path | None, typer.Option(help="File to write, in place of stdout.")]
Columns = Annotated[str | None, typer.Option(help="Numeric columns that an intruder knows, with commas between.")]
SecretFile = Annotated[
    Path | None, typer.Option(help="File with the secret, 16 bytes or more. Else SFUMATO_SECRET, in hexadecimal.")
]
By = Annotated[str | None, typer.Option(help="Categorical columns that an intruder knows, with commas between.")]
Record = Annotated[str | None, typer.Option(help="Column with the record's id, on which two tables are joined.")]
Align = Annotated[
    Literal["row-order", "none"] | None,
    typer.Option(help="row-order: row i of one table is row i of the other; use with care. none: rows are nobody's."),
]
PlanFile = Annotated[Path | None, typer.Option("--plan", help="Plan with roles, kinds, preparing steps and limits.")]
Table = Annotated[
    str | None,
    typer.Option(help="Which table, of a plan or a release of several. Else the one that the file is of, if it tells."),
]
_WHERE = "Data that stay where they are"
Engine = Annotated[
    str | None,
    typer.Option(
        metavar="ENGINE",
        help="Where rows are worked on: memory (the way of files), duckdb (of folders of Parquet parts and of "
        "PostgreSQL), or a Spark cluster: spark://HOST:PORT, local[N], yarn, k8s://...",
        rich_help_panel=_WHERE,
    ),
]
Memory = Annotated[
    str, typer.Option(metavar="SIZE", help="How much memory duckdb takes, for instance 4GB.", rich_help_panel=_WHERE)
]
Temp = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER",
        help="Where duckdb puts what does not fit into memory; it is not encrypted there. Else the system's folder.",
        rich_help_panel=_WHERE,
    ),
]
MaxStratum = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Most records of a stratum that a step may need as a whole, by default 2,000,000.",
        rich_help_panel=_WHERE,
    ),
]
W1 = Annotated[float, typer.Option(min=0, max=100, help="Width of the boxes of risk1.")]
W2 = Annotated[float, typer.Option(min=0, max=100, help="Radius within which others hide a record of risk1 (risk2).")]
Model = Annotated[str | None, typer.Option(help="The user's model, for instance 'asthma ~ bmi + C(sex)'.")]
Crosswalk = Annotated[
    Path | None,
    typer.Option(help="File with the ids before and after they were replaced, as protect --crosswalk writes it."),
]
Family = Annotated[Literal["linear", "logistic", "probit"] | None, typer.Option(help="Family of the model.")]


@dataclass(frozen=True)
class Reading:
    """How the files of a command are read; the data file of a release is read as it was written.

    Parameters
    ----------
    delimiter, encoding, decimal, header, skip_rows, sheet, name_blank, engine, memory, temp, max_stratum
        As `sfumato.api.read.read` takes them.
    """

    delimiter: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    header: bool | None = None
    skip_rows: int = 0
    sheet: str | None = None
    name_blank: bool = False
    engine: str | None = None
    memory: str = "1GB"
    temp: Path | None = None
    max_stratum: int | None = None

    def of_files(self) -> dict[str, Any]:
        """What is said of a file in memory."""
        own = ("delimiter", "encoding", "decimal", "header", "skip_rows", "sheet", "name_blank")
        return {name: getattr(self, name) for name in own}

    def typed(self) -> dict[str, Any]:
        """What was said otherwise than usual, as options of a command line.

        Examples
        --------
        >>> Reading(delimiter=";", header=False).typed()
        {'delimiter': ';', 'no_header': True}
        """
        usual = Reading()
        said = {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) != getattr(usual, f.name)}
        if (header := said.pop("header", None)) is not None:
            said["header" if header else "no_header"] = True
        return said


def path_of(source: str | Path | None) -> Path | None:
    """The path of a source or target, where it is one and no address.

    Examples
    --------
    >>> path_of("postgresql:///study/public.cohort") is None, path_of("parts").name
    (True, 'parts')
    """
    return None if source is None or (isinstance(source, str) and "://" in source) else Path(source)


def names(text: str | None) -> list[str] | None:
    """Column names from a list with commas between; a backslash before a comma keeps it."""
    if text is None:
        return None
    parts = text.replace("\\,", "\0").split(",")
    return [p.strip().replace("\0", ",") for p in parts if p.strip()]
