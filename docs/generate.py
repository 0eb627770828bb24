"""Write docs/reference, and the parameters on docs/methods, from the code itself: `.venv/bin/python docs/generate.py`.

A test calls `pages()` and compares it with what is committed, so a reference page cannot grow stale.
"""

from __future__ import annotations

import datetime
import importlib
import inspect
import io
import json
import os
import re
import shlex
import tempfile
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import polars as pl

import sfumato as sf
from sfumato.data.codebook import Codebook, Missing, Variable
from sfumato.data.docstring import parameters, summary
from sfumato.data.files import SUFFIXES, Table, read_table, write_table
from sfumato.data.finding import Finding, Findings
from sfumato.errors import FileError
from sfumato.measures import registry
from sfumato.measures.measure import FAMILIES, Figure
from sfumato.measures.risk.h_rank.h_rank import GROUPS as H_GROUPS
from sfumato.measures.subject import KEYS
from sfumato.methods.registry import methods
from sfumato.plan.limits import Limit
from sfumato.plan.tables import DeclaredLink, TablePlan
from sfumato.release.protect import protect
from sfumato.release.secret import Secret
from sfumato.render.measures import facts
from sfumato.render.words import GROUPS

HERE = Path(__file__).parent
HEAD = "<!-- Written by docs/generate.py from the code: change the code, then run it again. -->\n\n"
COMMANDS = (
    *("demo", "init", "protect", "risk", "compare", "check-links", "anonymise", "tune", "card", "fit"),
    *("table build", "table protect", "table audit", "table bounds"),
    *("gate decide", "gate dependences", "gate replay", "gate maximal", "gate simulate", "gate secret", "gate init"),
    *("gate ask", "gate analyse"),
    "gate budget",
    *("gate join", "gate leave", "gate token", "gate user password", "serve"),
    *("serve", "gate token", "gate user password"),
    *("gate share", "gate work", "gate user add", "gate user remove", "gate organisation add", "gate group add"),
    *(
        "gate policy list",
        "gate policy set",
        "gate dataset list",
        "gate dataset add",
        "gate queue list",
        "gate recover",
    ),
    *("gate queue refuse", "gate queue propose", "gate queue confirm"),
    *("gate ledger export", "gate ledger verify", "gate ledger head"),
    *("gate backup", "gate restore", "gate repair", "gate log start"),
    *("measures", "methods", "schema"),
)


def pages() -> dict[str, str]:
    """Every generated page by its path within docs."""
    writers = {
        "cli": cli,
        "plan": plan,
        "measures": measures,
        "json": json_page,
        "files": files,
        "python": python,
        "analyses": analyses,
        "rest": rest,
    }
    reference = {f"reference/{name}.md": HEAD + write().rstrip() + "\n" for name, write in writers.items()}
    return reference | {f"methods/{name}.md": method(name) for name in methods()}


def main() -> None:
    """Write them."""
    for name, text in pages().items():
        (HERE / name).write_text(text, encoding="utf-8")


def analyses() -> str:
    """Kinds of analysis behind the gate, and what each must keep to."""
    from sfumato.gate.analyses.registry import KINDS

    out = [
        "# Kinds of analysis",
        "",
        "What may be asked of the gate beside tables ([how they are decided](../gate/analyses.md)). A *table* is decided as",
        "the table that it is; a *fit* is exact where the tables that give it are safe together, else it has noise. The",
        "statbarn is the class of statistics that output checkers put it in (Green, Ritchie and White: *The statbarn*,",
        "PSD 2024).",
        "",
    ]
    rows = [
        [
            _code(kind.name),
            kind.title,
            kind.shape,
            kind.statbarn,
            _code(kind.example),
            ", ".join(map(_code, kind.needs)),
        ]
        for kind in KINDS.values()
    ]
    out += [_table(["kind", "", "is a", "statbarn", "formula", "beside it"], rows), ""]
    for kind in KINDS.values():
        out += [f"## {kind.name}", "", textwrap.fill(kind.sentence, 120), ""]
        if kind.shape == "fit":
            exact = {
                "none": "",
                "canonical": "the response by each term, and all covariates together",
                "sums": "sums of the response by each term, the sum of its squares, and all covariates together",
                "joint": "all variables together",
            }
            tables = exact[kind.footprint]
            out += [f"Exact where these tables are safe: {tables}." if tables else "Never exact.", ""]
            lines = [
                [preset or "any other", one.name, "" if one.value is None else f"{one.value:g}", one.source]
                for preset, limits in kind.thresholds.items()
                for one in limits
            ]
            out += [_table(["policy's preset", "threshold", "figure", "source"], lines), ""]
    return "\n".join(out)


def rest() -> str:
    """Every route of the gate, from its own description."""
    from types import SimpleNamespace

    from sfumato.gate.config import ServerConfig
    from sfumato.web.gate.access import ALL_SCOPES, ROLES, TABLE
    from sfumato.web.gate.application import routes

    config = SimpleNamespace(server=ServerConfig())
    schema: Any = routes(SimpleNamespace(config=config), None).openapi()  # type: ignore[arg-type]
    out = [
        "# REST",
        "",
        f"Every route of `sfumato serve`, from its own description (OpenAPI {schema['openapi']}, at `/openapi.json` for",
        "whoever is logged in). [Asking by program](../gate/analyst.md#by-program) shows how.",
        "",
    ]
    rows = []
    for path, verbs in schema["paths"].items():
        for verb, what in verbs.items():
            rule = TABLE[verb.upper(), path]
            who = "everybody" if rule.anonymous else ", ".join(role for role in ROLES if role in rule.roles)
            scopes = "" if rule.anonymous or rule.scopes == ALL_SCOPES else ", ".join(sorted(rule.scopes)) or "none"
            rows.append([_code(f"{verb.upper()} {path}"), what["description"].split("\n")[0], who, scopes])
    return "\n".join([*out, _table(["route", "", "who", "tokens with"], rows)])


# Small things that several pages share.


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def _code(value: object) -> str:
    return f"`{value}`"


def _run(*arguments: str) -> str:
    """What a command prints to stdout."""
    from sfumato.cli.app import app

    out = io.StringIO()
    with redirect_stdout(out), redirect_stderr(io.StringIO()):
        app(list(arguments), prog_name="sfumato", standalone_mode=False)
    return out.getvalue()


# cli.md


def cli() -> str:
    """The help of every command."""
    from typer.testing import CliRunner

    from sfumato.cli.app import app

    def help_of(*command: str) -> str:
        told = CliRunner().invoke(app, [*command, "--help"], prog_name="sfumato", terminal_width=100)
        return f"```text\n{told.stdout.rstrip()}\n```"

    parts = [
        "# Command line",
        "Data go to stdout or where `--out` says, talk goes to stderr. With `--json` stdout holds one JSON object, see "
        "[JSON](json.md).",
        _table(
            ("exit status", "meaning"),
            [
                ("0", "done"),
                (
                    "1",
                    "a limit of the plan is exceeded, no risk was measured, or nothing protects a key and no limit speaks "
                    "of the keys: `protect` then writes nothing unless `--force` is given; or nothing is left to release; a "
                    "table of totals does not pass its audit",
                ),
                ("2", "misuse, a plan that cannot run, or unfit data; the message says what to do"),
                ("70", "a fault of sfumato's own; its text is held back, since it might show data"),
                ("130", "stopped, by Ctrl-C or a signal (SIGTERM, SIGHUP); nothing half-written is left behind"),
            ],
        ),
        help_of(),
        *(f"## sfumato {name}\n\n{help_of(*name.split())}" for name in COMMANDS),
    ]
    return "\n\n".join(parts)


# plan.md


def plan() -> str:
    """The keys of a plan."""
    schema = sf.Plan.json_schema()
    defs = schema["$defs"]
    steps = [
        f"### {name}\n\n{summary(cls)}\n\n{_keys(cls, defs[cls.__name__], defs)}\n\n"
        f"More on its page: [{name}](../methods/{name}.md)."
        for name, cls in methods().items()
    ]
    parts = [
        "# The plan",
        "A plan is a YAML file. Unknown keys are refused, and all errors come at once, each with its line. "
        "`sfumato schema` prints the JSON Schema from which this page is made; editors complete from it. Anchors, "
        "aliases and tags are not allowed.",
        "## Top level",
        _keys(sf.Plan, schema, defs, required=("sfumato",)),
        "## variables",
        "One entry for each variable: `name: {key: value, …}`. What the plan does not say is taken from the file, and "
        "a kind that neither says is told from the data.",
        _keys(Variable, defs["Variable"], defs),
        "A missing code in `missing` is a plain value, or a mapping with these keys:",
        _keys(Missing, defs["Missing"], defs),
        "### Roles\n\n" + _members(sf.Role),
        "### Kinds\n\n" + ", ".join(_code(kind) for kind in sf.Kind) + ".",
        "## steps",
        "A list; each step is one method's parameters, and `do` names the method. In every step `columns` are what it "
        "changes and `by` is what it stratifies on.",
        *steps,
        "## limits",
        "A list. A limit binds every finding of its measure unless another key narrows it, and a finding without a "
        "value does not meet it. Names of measures: [Measures](measures.md). For measures of classes `group` is `keys` "
        "(all released keys that no step masks), `strata` (what masking steps keep apart), or the name of a single "
        "class; where a key is left as it was, a plan needs a limit that binds `keys`: "
        "[Keys and strata](../howto/limits.md#keys-and-strata).",
        _keys(Limit, defs["Limit"], defs),
        "## tables",
        "Several files under one plan: [Several tables](../howto/several_tables.md). For each table's name:",
        _keys(TablePlan, defs["TablePlan"], defs),
        "## links",
        "A list. What links two released tables and is not declared here stops the release.",
        _keys(DeclaredLink, defs["DeclaredLink"], defs),
    ]
    return "\n\n".join(parts)


def _keys(cls: Any, schema: Mapping[str, Any], defs: Mapping[str, Any], required: Sequence[str] = ()) -> str:
    """Table of the keys of a mapping."""
    needed = {"do", *schema.get("required", ()), *required}
    rows = [
        (_code(name), _type(part, defs), _default(name, part, needed, cls), part["description"])
        for name, part in schema["properties"].items()
    ]
    return _table(("key", "type", "default", "meaning"), rows)


_CALLED = {"TablePlan": "table", "DeclaredLink": "link", "EarlierRelease": "earlier release"}
_SCALAR = {"boolean", "integer", "number", "string"}


def _default(name: str, part: Mapping[str, Any], needed: set[str], cls: Any) -> str:
    if name in needed:
        return "required"
    default = part.get("default")
    if name == "min_stratum" and default is None:
        return "`max(2k, k + 3)`"
    if default is None:
        fields = cls.model_fields
        by_alias = {field.alias: field for field in fields.values() if field.alias}
        empty = (fields.get(name) or by_alias[name]).get_default(call_default_factory=True)
        default = None if empty is None else list(empty) if isinstance(empty, tuple) else empty
    return _code(default if isinstance(default, str) else json.dumps(default))


def _type(part: Mapping[str, Any], defs: Mapping[str, Any]) -> str:
    """A schema in words."""
    if "$ref" in part:
        name = part["$ref"].rpartition("/")[2]
        return _type(defs[name], defs) if "enum" in defs[name] else _CALLED.get(name, name.lower())
    if "const" in part:
        return _code(json.dumps(part["const"]).strip('"'))
    if "enum" in part:
        return ", ".join(_code(value) for value in part["enum"])
    if "anyOf" in part:
        scalars = [choice for choice in part["anyOf"] if choice.get("type") in _SCALAR]
        if len(scalars) == len(_SCALAR):
            rest = [_type(choice, defs) for choice in part["anyOf"] if choice not in scalars]
            return " or ".join(["value", *rest])
        return " or ".join(dict.fromkeys(_type(choice, defs) for choice in part["anyOf"]))
    if "discriminator" in part:
        return "step"
    return _plain(part, defs)


def _plain(part: Mapping[str, Any], defs: Mapping[str, Any]) -> str:
    kind = part.get("type", "anything")
    if "prefixItems" in part:
        return "[" + ", ".join(_type(item, defs) for item in part["prefixItems"]) + "]"
    if kind == "array":
        return f"list of {_type(part['items'], defs)}"
    if kind == "object":
        return f"mapping to {_type(part['additionalProperties'], defs)}"
    words = {"string": "text", "boolean": "`true`, `false`", "null": "`null`", "integer": "whole number"}.get(
        kind, kind
    )
    known = {"exclusiveMinimum": "above", "minimum": "from", "exclusiveMaximum": "below", "maximum": "to"}
    bounds = [f"{word} {part[key]}" for key, word in known.items() if key in part]
    return " ".join([words, *bounds])


def _members(enum: Any) -> str:
    """Members of an enumeration with what the source says below each."""
    source = inspect.getsource(enum)
    told = re.findall(r'(\w+) = "(\w+)"\n\s+"""(.*?)"""', source, re.DOTALL)
    return _table(("role", "meaning"), [(_code(value), " ".join(text.split())) for _, value, text in told])


# methods/*.md

_PARAMETERS = re.compile(r"^\| parameter \| default \| meaning \|\n(?:\|.*\n)+", re.MULTILINE)


def method(name: str) -> str:
    """The page of a method as it is, with its table of parameters written anew."""
    cls = methods()[name]
    schema = cls.json_schema()
    needed = {*schema.get("required", ())}
    rows = [
        (_code(key), _default(key, part, needed, cls), part["description"])
        for key, part in schema["properties"].items()
        if key != "do"
    ]
    page, count = _PARAMETERS.subn(
        lambda _: _table(("parameter", "default", "meaning"), rows) + "\n",
        (HERE / "methods" / f"{name}.md").read_text(encoding="utf-8"),
    )
    assert count == 1, f"{name}.md needs one table of parameters"
    return page


# measures.md


def measures() -> str:
    """Every measure."""
    found = _sample_findings()
    parts = [
        "# Measures",
        "Every line of a report is a finding with ten keys: `measure`, `variable`, `group`, `at`, `attack`, `value`, "
        "`interval`, `baseline`, `limit`, `ok` (see [JSON](json.md)). A risk stands beside its baseline, the same "
        "figure for the unprotected table. The names below are those of `limits` in a plan.",
        "Which figure answers which worry: [Choose](../choose.md#which-figure-answers-which-worry).",
    ]
    for family, title in FAMILIES.items():
        inside = [said for each in registry.measures().values() if each.family == family for said in each.figures]
        if inside:
            parts.append(f"## {title}")
            parts += [_measure(said, found) for said in inside]
    return "\n\n".join(parts)


def _measure(said: Figure, found: Findings) -> str:
    told = facts(said)
    rows = {
        "Figure": told["Figure"],
        "Baseline": told["Baseline"],
        "Needs": told["Needs"],
        "Keys": ", ".join(_used(found.select(said.name))),
        "Published": told["Published"],
        "Source": _source(said),
    }
    listed = "\n".join(f"- {key}: {text}." for key, text in rows.items())
    return f"### {said.name}\n\n**{said.title}.** {said.what}\n\n{listed}"


def _used(lines: Findings) -> Iterator[str]:
    """The keys that lines of a measure use, with the fixed values of `group` and `attack`."""
    for key in ("variable", "group", "at", "attack", "interval"):
        values = list(dict.fromkeys(getattr(line, key) for line in lines if getattr(line, key) is not None))
        fixed = [v for v in values if key == "attack" or (key == "group" and v in (*GROUPS, *H_GROUPS))]
        if values:
            single = ["a single class"] if KEYS in fixed and len(values) > len(fixed) else []
            what = ": " + ", ".join([*map(_code, fixed), *single]) if fixed else ""
            yield f"`{key}`{what}"
    yield "`value`"
    if any(line.baseline is not None for line in lines):
        yield "`baseline`"


def _source(said: Figure) -> str:
    """Where a figure is computed: a function of its name, else its measure's file, with what either cites."""
    home = importlib.import_module(registry.measure_of(said.name).compute.__module__)
    function = getattr(home, said.name, None) if said.name in home.__all__ else None
    cited = _dois(inspect.getdoc(function) or "") or _dois(inspect.getsource(home))
    place = home.__name__ if function is None else f"{home.__name__}.{said.name}"
    return "; ".join([_code(place), ", ".join(f"[doi:{doi}](https://doi.org/{doi})" for doi in cited)]).removesuffix(
        "; "
    )


def _dois(text: str) -> list[str]:
    return list(dict.fromkeys(re.findall(r"doi:(10\.\d+/\S+?)[;,.)]*(?=\s|$)", text)))


def _sample_findings() -> Findings:
    """All measures of two small invented releases, and of one after another, to see which keys their lines use."""
    variables = {
        "id": {"role": "record"},
        "asthma": {"role": "outcome", "kind": "categorical"},
        "smoker": {"role": "key", "kind": "categorical"},
        "height": {"role": "key", "kind": "continuous", "range": [50, 250]},
        "bmi": {"role": "key", "kind": "continuous"},
    }
    frame = sf.examples.cohort(1200).select("id", "sex", "smoker", "asthma", "height", "bmi")
    averaged = sf.steps.Centroids(columns=["height", "bmi"], by=["sex"], k=5)
    noisy = sf.steps.Noise(columns=["height", "bmi", "smoker"], variance={"smoker": 0.1}, preset="avraam2018")
    lines = [
        line
        for step in (averaged, noisy)
        for line in protect(
            sf.Plan(variables=variables, steps=[step]), sf.read(frame), Secret(bytes(16)), leaver=True
        ).report.findings
    ]
    survey = {"keys": ["sex", "smoker"], "weight": "bmi", "household": "id", "fraction": 0.1}
    measured = sf.risk(frame, sensitive=["asthma", "height"], **survey)  # any column will do: only keys are looked at
    return Findings((*lines, *_beside_another(frame, averaged, variables), *measured))


def _beside_another(frame: pl.DataFrame, step: Any, variables: Mapping[str, Any]) -> Iterator[Finding]:
    """What a release tells beside an earlier one: some left, some joined, and one value was corrected."""
    then = frame.head(1100)
    now = frame.tail(1150).with_columns(bmi=pl.when(pl.col("id") == frame["id"][600]).then(31).otherwise("bmi"))
    plan = sf.Plan(variables=variables, steps=[step, sf.steps.Pram(columns=["smoker"], retention=0.8)])
    new, old = (protect(plan, sf.read(table), Secret(bytes(16))) for table in (now, then))
    found = sf.risk(new.data, earlier=old.data, truth=[now, then], record="id", disclosure=new.disclosure)
    return (line for line in found if line.measure == "differencing" or line.attack == "earlier")


# json.md


def json_page() -> str:
    """What each command prints with --json, from real runs on a few invented people."""
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        _invent()
        runs = {
            "init": ["init", "people.csv", "--keys", "sex,age", "--json"],
            "init synthetic": ["init", "spent.csv", "--synthetic", "--json"],
            "protect": ["protect", "plan.yaml", "people.csv", "--out", "release", "--secret-file", "key", "--json"],
            "risk": ["risk", "people.csv", "--protected", "release/data.csv", "--plan", "plan.yaml", "--json"],
            "compare": ["compare", "people.csv", "release/data.csv", "--plan", "plan.yaml", "--json"],
            "compare of copies": [
                *("compare", "people.csv", "copies", "--supports", "--model", "age ~ sex", "--json"),
            ],
            "check-links": ["check-links", "people.csv", "visits.csv", "--json"],
            "anonymise": ["anonymise", "people.csv", "--keys", "sex,age", "--k", "3", "--json"],
            "tune": [
                *("tune", "noise.yaml", "people.csv", "--parameter", "steps.0.share", "--range", "0.1:1"),
                *("--limit", "h_rank[h<1] < 0.1", "--tolerance", "0.2", "--json"),
            ],
            "card": ["card", "noisy", "--json"],
            "protect several tables": [
                *("protect", "several.yaml", "--out", "several", "--secret-file", "key", "--json")
            ],
            "fit": ["fit", "noisy", "--formula", "sex ~ age", "--family", "probit", "--json"],
            "table build": ["table", "build", "firms.csv", "--by", "town,kind", "--out", "built", "--json"],
            "table protect": [
                *("table", "protect", "firms.csv", "--by", "town,kind", "--rule", "n(3)", "--out", "table", "--json")
            ],
            "table audit": ["table", "audit", "table", "--json"],
            "table bounds": ["table", "bounds", "towns.csv", "kinds.csv", "--json"],
            "gate decide": ["gate", "decide", "firms.csv", "--ask", "town", "--interval", "2:4", "--json"],
            "gate dependences": ["gate", "dependences", "people.csv", "--json"],
            "gate replay": [
                *("gate", "replay", "firms.csv", "--policies", "policies.yaml", "--events", "events.txt", "--json")
            ],
            "gate maximal": ["gate", "maximal", "firms.csv", "--interval", "2:4", "--json"],
            "measures": ["measures", "--json"],
            "methods": ["methods", "drop", "--json"],
        }
        _run("protect", "noise.yaml", "people.csv", "--out", "noisy", "--secret-file", "key")
        _run("protect", "copies.yaml", "people.csv", "--out", "copies", "--secret-file", "key", "--force")
        shown = {name: (arguments, json.loads(_run(*arguments))) for name, arguments in runs.items()}
    shown["card"][1]["created"] = "2026-01-31"  # the page must not change with the day
    parts = [
        "# JSON",
        "With `--json` a command prints one JSON object to stdout; everything else goes to stderr. Keys are stable, "
        "and a figure that cannot be had is `null`, with the reason among `notes`. The exit status is that of the "
        "[command line](cli.md). The examples are real runs on a few invented people, cut after the first two items "
        "of a list.",
        "## A finding",
        _table(
            ("key", "meaning"),
            [(_code(name), text.replace("None", "`null`")) for name, text in parameters(Finding).items()],
        ),
        "What is set depends on the measure: [Measures](measures.md). These findings are the custodian's: they may "
        "hold category labels and counts, and are not for publication.",
        *(_json_of(name, *run) for name, run in shown.items()),
        "## schema\n\nPrints the JSON Schema of plans; it needs no `--json`.",
    ]
    return "\n\n".join(parts)


_KEYS = {
    "decision": "`granted` (proved safe), `refused`, or `undecided`: nothing was proved. The exit status is 0 for the first",
    "reasons": "`known`, or the criteria that do not hold, or are not proved to hold",
    "stage": "what showed it: `known`, `released`, `cover`, `exchange`, `exact`; for the custodian alone",
    "work": "units of work, equal on every machine",
    "joint_cells": "cells of the coarsest table from which all that would be known follows",
    "small": "how many of them hold 1 to `count` people; for the custodian alone",
    "dependences": "how many dependences between columns were found in the data and count as known to everybody",
    "found": "the most telling first: `kind` (`tells`, `tells_together`, `never`, `band`, `adds`); `from`, the columns that "
    "tell (both of `never`); `to`, the column that is told, or null; how many `combinations` cannot be; how many people "
    "would be `expected` in them by chance. Whether a number is missing is called `cost@(known)`",
    "decisions": "one for each event",
    "narrow": "joint cells of few people that are known too closely in the end; the exit status is 1 where there is one",
    "safe": "how many releases are safe, of those that were looked at",
    "maximal": "how many of them can have no table added",
    "exhaustive": "whether all releases of this kind were gone through",
    "gate maximal kind": "`hierarchical` or `decomposable`",
    "looked": "how many releases were looked at",
    "left_out": "variables whose own table tells too much of few people",
    "contained": "for each table, how many maximal releases hold it",
    "releases": "the maximal releases, each by its largest tables",
    "plan": "the drafted plan as YAML",
    "variables": "for each variable the guessed `role` and `kind`, and the `reason`; where texts hold personal data that have "
    "a form, the share of those that do by kind (`found`), and of its value labels (`found_in_labels`)",
    "draft": "what the draft does: what it is for, columns that are known, that are unknown, that leave "
    "(`kept`) and that do not (`left_out`, each with the reason); the `method`, the fewest records of a `group`, what was "
    "measured when it was tried (null where it was not), and the `next` commands; `because` where nothing can be released",
    "release": "path of the release folder; `null` where nothing was written",
    "ok": "whether the verdict is `holds`",
    "engine": "where rows were worked on: `memory`, `duckdb` or `spark`",
    "parts": "in how many files the table was written, of several tables how many tables; 0 where nothing was written",
    "relations": "what was found to hold between columns: its `kind` (`sum`, `order`, `function`, `impossible`, `panel`), its "
    "`columns` (of a sum the total first), the `rule` in words of a plan, in which `share` of the records it holds, and "
    "whether it is `written` into the plan, which is published. With `--try` there are `trials`, too: of each `method`, "
    "`min_leaf` and `smooth` the mean `table_ratio` of two columns and the `largest`, `pmse_ratio`, `membership`, "
    "`inference` of the worst column (`null` where a figure is not measured), whether it `holds` the limits, and whether it "
    "was `chosen`. Shares and figures are for the custodian alone",
    "next": "commands to run next: to open the report, or what leads on",
    "refusals": "why the release is refused although no limit is exceeded; each says what to do",
    "findings": "all findings",
    "notes": "what could not be measured, and why",
    "supports": "with `--supports`, a grade for each `what` (`variable`, `pair` or `term`): its `columns`, of a term its name, and "
    "the `grade`: `supported`, `rough` or `lost`",
    "verdict": "`holds`, `undecided` or `exceeded`, for whoever knows all that leaves as it was",
    "undecided": "the columns that nobody may know, where that is the verdict",
    "released": "columns that leave as they were and are not said to be unknown",
    "unknown": "what nobody outside is said to know: `columns`, and `because`",
    "links": "for each link the two `tables`, the `columns`, the `share` of the first table's records that take part, "
    "and whether it is the `row_order`, which the columns show; the exit status is 1 where there is one",
    "check-links notes": "where not all sets of columns could be tried",
    "tables": "of a plan of several tables, for each whether it is `ok`, and its `findings`, `refusals` and `notes`",
    "protect several tables links": "links between released tables that the plan does not declare, as check-links has them",
    "protect several tables refusals": "why the tables may not leave together",
    "protect several tables notes": "where not all sets of columns could be searched for links",
    "score": "the loss, see [anonymise](../methods/anonymise.md)",
    "levels": "level of each key; with `--local` the highest of any of its cells",
    "suppressed": "records that are left out",
    "optimal": "whether it is proven that nothing loses less",
    "bound": "what everything loses at least; with `--out` the keys `release` and `ok` of protect follow",
    "parameter": "what was tuned",
    "value": "the least protection that meets all limits; where none does, the most that was tried",
    "met": "whether all limits are met there; if not, the exit status is 1",
    "limits": "the limits, in the form that `--limit` takes",
    "kept": "probability with which a release made with an unknown secret keeps all limits at `value`, of runs with secrets "
    "that the search did not go by, and its 95% interval; `null` where no value meets the limits",
    "path": "every value that was tried, in order: `risk` is the figure of `limit`, the limit that is nearest to "
    "breaking there, with its 95% `interval`; `utility` holds the figures of `--utility`",
    "card variables": "an entry for each changed variable, and each stratum told apart: `noise_sd` in the variable's "
    "units; `reliability`, the share of the released variance that is no noise, `null` where it cannot be told; "
    "`correlated`, the variables whose noise is correlated with it",
    "tune notes": "what should be known of the search, and what to try where the limits are not met",
    "terms": "for each coefficient its `estimate` with `se`, interval (`low`, `high`) and `p`, the noise taken out; "
    "`naive` and `naive_se`, what released values taken for true ones give; `reliability`, the share of the term's "
    "released variation that is true, `null` for the intercept",
    "n": "records used",
    "se_rule": "where the standard errors come from: `model`, `HC3`, `Lin-Wei`, `CR1` (clusters), `design` (weights); null for `bayes`",
    "evidence": "by how many standard errors the hidden columns vary more than noise alone would; null where nothing is hidden",
    "second": "an estimate that assumes less, with the p-value of the difference; null where there is none",
    "converged": "whether the estimates could be found",
    "method": "how the noise was taken out",
    "family": "family of the model",
    "formula": "the formula, as it was understood",
    "fit notes": "what a reader should know",
    "hidden": "for each hidden number the mixture of normals that its distribution given the others was taken for: how many "
    "`components`, their `weights`, `means` (at the exact covariates' means) and `sds`; not there without hidden numbers",
    "shape": "sentences that say why that mixture was taken; likewise",
    "title": "the release's title",
    "created": "the day on which it was made",
    "version": "the version of sfumato that made it",
    "data": "name of the data file",
    "access": "how the release is accessed, as the plan says; `null` where it does not",
    "consent": "what people agreed to, as the plan says; `null` where it does not",
    "unchanged": "columns that are as they were",
    "measures": "every measure, or the one that was named: its `name`, `title`, and `what` it is; what it `needs`; its "
    "`form` (`share`, `count` or `number`); the `forms` in which it can be had (`memory`; of large tables `folded` by sums over "
    "all rows, `people` who are looked for among all, whole `strata`, a `sample`); where protection or utility is `better` (`low`, `high`, `near` its baseline, or "
    "where there is little `change`); and how it may be `published` (`rate`, `ladder` of counts, `change`, `mean` alone, "
    "`no`), see [Measures](measures.md)",
    "methods": "every method, or the one that was named: its `name`, its `purpose` in a sentence, whether it `masks` "
    "(figures compare the release with the table as it enters the first step that does); where rows are not in memory, "
    "whether it needs `whole_strata`, and how many `passes` over all rows it makes at most; and the JSON Schema of its "
    "`parameters`",
    "failed": "what other packages bring and could not be loaded: `package`, `entry` and `reason`",
    "table build cells": "number of cells that are not empty, totals among them",
    "table build variables": "the variables",
    "table build value": "name of the value's column",
    "cells": "number of cells that are not empty, totals among them",
    "primary": "number of unsafe cells",
    "secondary": "number of cells hidden beside them",
    "secondary_value": "sum of their values; it is the custodian's, for it is an equation of hidden values",
    "table protect optimal": "whether it is proved that no cheaper set of cells protects as much",
    "gap": "share of the cost that may be too much, from 0; `null` where nothing was proved",
    "table protect method": "how cells to hide were found",
    "table bounds cells": "number of cells of the cross product of all variables",
    "table bounds variables": "the variables",
    "table bounds method": "the method that was asked for",
    "table bounds notes": "what the bounds leave open",
    "by": "how the cells were bounded, part by part",
    "sharp": "whether every bound is reached by some table; where it is false, bounds hold but may be wider than they need be",
    "mean_width": "mean of `upper - lower` over the cells; `null` where a cell has no upper bound",
    "largest_width": "the largest of them",
    "exact": "number of cells that are told exactly, empty ones among them",
    "zeros": "number of cells that are certainly empty",
    "table protect notes": "what the custodian should know of how it went",
    "insiders": "unsafe cells that somebody who knows all the hidden cells that he is alone in finds `exact`ly, or what he "
    "contributed to one, more closely than their level asks (`below_level`); null for counts, where contributors, or levels, "
    "are not known, or where the work ended before",
    "audit": "what an attacker finds: hidden unsafe cells that are told `exact`ly, or more closely than their level asks "
    "(`below_level`; `null` without levels), and hidden cells that could be published without harm (`useless`; `null` where "
    "the work ended before). The exit status is 1 where `exact` or `below_level` is above 0, or a level is not proved",
    "reader": "what readers know of hidden cells: whether `letters` tell the unsafe ones from the others, the `least` that one "
    "can be (`null`: nothing is known), whether all are `whole` numbers, whether the reader may be a `contributor`",
    "levels": "unsafe cells, by direction, that had to be as uncertain as their rule asks: how many were `asked`, `proved`, are "
    "`short` of it, or `unproved` within the work allowed; `null` with `--protect exact`",
    "unions": "sums of hidden cells that published totals tell: how many were `judged`, are `unsafe`, and of how many equations "
    "not every one was judged (`left`); `null` for counts, and where it is not known whose the contributions are",
    "stages": "what each part of the search came to: its `name`, the `secondary_value` of its pattern, and its `work` in "
    "iterations of the solver",
    "table protect last": "what became of last period's hidden cells; `null` without `--last`",
    "table protect ok": "whether every unsafe cell and sum holds; where not, the exit status is 1",
    "disclosure": "what analysts are told, as in `datapackage.json`",
    "sentences": "the same in words",
}


def _json_of(name: str, arguments: Sequence[str], value: dict[str, Any]) -> str:
    keys = _table(("key", "meaning"), [(_code(key), _KEYS.get(f"{name} {key}") or _KEYS[key]) for key in value])
    shown = json.dumps(_cut(value), indent=2, ensure_ascii=False)
    return f"## {name}\n\n`sfumato {shlex.join(arguments)}`\n\n{keys}\n\n```json\n{shown}\n```"


def _cut(value: Any) -> Any:
    """The first two items of every list and of every long mapping, figures to six digits, long texts cut."""
    if isinstance(value, dict):
        items = list(value.items())
        return {k: _cut(v) for k, v in (items if len(items) <= 12 else items[:2])}
    if isinstance(value, list):
        return [_cut(v) for v in value[:2]]
    if isinstance(value, float):
        return float(f"{value:.6g}")
    return value.splitlines()[0] + "\n…" if isinstance(value, str) and "\n" in value else value


_UNKNOWN = "unknown: [{columns: [id], because: numbers of this file alone}]\n"


def _invent() -> None:
    n = 40
    frame = pl.DataFrame(
        {"id": range(1, n + 1), "sex": ["f", "m"] * (n // 2), "age": [20 + 7 * i % 53 for i in range(n)]}
    )
    frame.write_csv("people.csv")
    spent = [(20 + 7 * i % 61, 11 * i % 97, 13 * i % 89) for i in range(120)]
    spent = [(age, food, rent, food + rent) for age, food, rent in spent]
    pl.DataFrame(spent, schema=["age", "food", "rent", "all"], orient="row").write_csv("spent.csv")
    frame.select("sex", "age", visits=pl.col("id") % 3).sort("age", "visits").write_csv("visits.csv")
    towns = [("a", "x", 5), ("a", "y", 4), ("b", "x", 2), ("b", "y", 7), ("c", "x", 8), ("c", "y", 3)]
    rows = [(town, kind) for town, kind, times in towns for _ in range(times)]
    firms = pl.DataFrame(rows, schema=["town", "kind"], orient="row")
    firms.write_csv("firms.csv")
    for name, file in (("town", "towns.csv"), ("kind", "kinds.csv")):
        firms.group_by(name).len("count").sort(name).write_csv(file)
    Path("key").write_bytes(bytes(range(32)))
    Path("plan.yaml").write_text(
        "sfumato: 1\nvariables: {id: {role: record}, sex: {role: key}, age: {role: key, kind: integer}}\n"
        "steps: [{do: centroids, columns: [age], by: [sex], k: 5}]\nlimits: [{measure: k_anonymity, at_least: 5}]\n"
        + _UNKNOWN
    )
    Path("several.yaml").write_text(
        "sfumato: 1\ntables:\n"
        "  people: {file: people.csv, variables: {id: {role: record}, sex: {role: key}, age: {role: key, kind: integer}},\n"
        "    steps: [{do: centroids, columns: [age], by: [sex], k: 5}], limits: [{measure: k_anonymity, at_least: 5}],\n"
        f"    {_UNKNOWN}  }}\n"
        "  visits: {file: visits.csv, variables: {sex: {role: key}, age: {role: other}, visits: {role: other}},\n"
        "    steps: [{do: drop, columns: [age]}], limits: [{measure: k_anonymity, at_least: 5}]}\n"
    )
    Path("policies.yaml").write_text("research: {interval: {count: 2, width: 4}}\n")
    Path("events.txt").write_text("user ann research\nask ann town\nask ann town,kind\n")
    Path("copies.yaml").write_text(
        "sfumato: 1\nvariables: {id: {role: record}, sex: {role: key, kind: categorical}, age: {role: key, kind: integer}}\n"
        "steps: [{do: synthesise, columns: all, copies: 1}]\n"
    )
    Path("noise.yaml").write_text(
        "sfumato: 1\ntitle: Ages\nvariables: {id: {role: record}, age: {role: key, kind: integer}}\n"
        "steps: [{do: noise, columns: [age], share: 0.1}]\n" + _UNKNOWN
    )


# files.md

_FACTS: dict[str, tuple[dict[str, Any], str]] = {
    "label": ({"label": "Age at interview"}, "variable label"),
    "labels": ({"labels": {1: "low", 2: "high"}}, "value labels"),
    "missing": ({"missing": [-9]}, "missing code"),
    "unit": ({"unit": "years"}, "unit"),
    "range": ({"range": [0, 120]}, "range"),
    "order": ({"order": [1, 2]}, "order of categories"),
    "hierarchy": ({"hierarchy": {1: ["all"], 2: ["all"]}}, "hierarchy"),
    "measure": ({"measure": "ordinal"}, "measure level"),
}
_ZONED = datetime.datetime(2020, 2, 29, 12, 30, tzinfo=datetime.UTC)
_VALUES: dict[str, list[Any]] = {
    "whole numbers": [1, 2, None],
    "decimal numbers": [1.5, 0.1, None],
    "truth values": [True, False, None],
    "text": ["ash", "größe", None],
    "empty text": ["", "x", None],
    "dates": [datetime.date(1990, 7, 14), datetime.date(2020, 2, 29), None],
    "dates with time": [datetime.datetime(2020, 2, 29, 12, 30), datetime.datetime(1990, 7, 14, 1), None],
    "time zones": [_ZONED, _ZONED.replace(year=2021, day=1), None],
    "times of day": [datetime.time(12, 30), datetime.time(1, 15, 20), None],
    "durations": [datetime.timedelta(days=2), datetime.timedelta(hours=1), None],
}


def files() -> str:
    """What each format holds, found by writing and reading back."""
    writable = list(dict.fromkeys(SUFFIXES.values()))
    with tempfile.TemporaryDirectory() as folder:
        facts = [
            (words, *(_keeps_fact(Path(folder), s, name) for s in writable)) for name, (_, words) in _FACTS.items()
        ]
        values = [(words, *(_keeps_values(Path(folder), s, v) for s in writable)) for words, v in _VALUES.items()]
        said = {suffix: _said(Path(folder), suffix) for suffix in writable}
    head = ("", *map(_code, writable))
    suffixes = [(_code(suffix), _code(out)) for suffix, out in SUFFIXES.items()]
    parts = [
        "# Files",
        "These tables are made by writing a column in each format and reading it back. What a format cannot hold is "
        "said when a release is written, never dropped silently, and `datapackage.json` beside the data holds the "
        "whole codebook whatever the format.",
        "## Suffixes",
        _table(("read", "written as"), suffixes),
        "Data frames of pandas, Polars, PyArrow, DuckDB and whatever else narwhals knows are read too; their releases "
        "are `.parquet`. SPSS, Stata, SAS and Excel files need `pip install 'sfumato[files]'`.",
        "## Values",
        _table(head, values),
        "## What is known about a variable",
        _table(head, facts),
        "A missing code that a format cannot mark stays in the data as the plain value that it is: read the codes in "
        "`datapackage.json`. Stata and SAS mark missing values by letters (`.a` to `.z`); codes read from them are "
        "written back, other codes stay plain values.",
        "## What is said when a file is written",
        *(f"`{suffix}`\n\n" + "\n".join(f"- {note}" for note in notes) for suffix, notes in said.items() if notes),
    ]
    return "\n\n".join(parts)


def _there_and_back(path: Path, values: Sequence[Any], variable: Variable) -> tuple[Table, tuple[str, ...]]:
    """Write a column with an id beside it, so that no row is empty, and read it."""
    frame = pl.DataFrame({"id": range(len(values)), "v": values})
    notes = write_table(Table(frame, Codebook({"v": variable}).only(["id", "v"]), path.suffix), path)
    return read_table(path), notes


def _keeps_fact(folder: Path, suffix: str, name: str) -> str:
    value, _ = _FACTS[name]
    values = [1, 2, -9] if name == "missing" else [1, 2, 1]
    wanted = Variable(kind="categorical", **value)
    table, _ = _there_and_back(folder / f"f{suffix}", values, wanted)
    return "kept" if getattr(table.codebook["v"], name) == getattr(wanted, name) else "–"


def _keeps_values(folder: Path, suffix: str, values: list[Any]) -> str:
    given = pl.Series(values).dtype.base_type()
    try:
        table, _ = _there_and_back(folder / f"v{suffix}", values, Variable())
    except FileError:
        return "refused"
    back = table.frame["v"]
    if back.dtype == given:
        return "kept" if back.to_list() == values else _DIFFERS[given]
    return f"read back as {_DTYPES[back.dtype.base_type()]}"


_DTYPES: dict[Any, str] = {pl.Int64: "0 and 1", pl.String: "text"}
_DIFFERS: dict[Any, str] = {pl.String: "read back as missing", pl.Datetime: "read back in UTC, without the zone"}


def _said(folder: Path, suffix: str) -> tuple[str, ...]:
    """Every sentence that writing a column with all facts, and one of each type of values, gives."""
    everything: dict[str, Any] = {key: value for facts, _ in _FACTS.values() for key, value in facts.items()}
    _, notes = _there_and_back(folder / f"s{suffix}", [1, 2, -9], Variable(**everything))
    for values in _VALUES.values():
        try:
            notes += _there_and_back(folder / f"s{suffix}", values, Variable())[1]
        except FileError as error:
            notes += (str(error),)
    return tuple(dict.fromkeys(note.replace(f"{folder}/", "") for note in notes))


# python.md


def python() -> str:
    """The public names."""
    names = [
        name for name in sf.__all__ if name not in ("__version__", "errors", "examples", "gate", "steps", "tables")
    ]
    functions = [name for name in names if inspect.isfunction(getattr(sf, name))]
    classes = [name for name in names if inspect.isclass(getattr(sf, name))]
    steps = {cls.__name__: (name, cls) for name, cls in methods().items()}
    parts = [
        "# Python",
        "Everything is under `import sfumato as sf`. Loading it costs next to nothing; each name is loaded when it is "
        "first used. `help(sf.protect)` and the like show the full text with examples.",
        "## Functions",
        *(
            f"### sf.{name}\n\n```text\n{_signature(getattr(sf, name), name)}\n```\n\n{summary(getattr(sf, name))}"
            for name in functions
        ),
        "## Classes",
        *(_described(name, getattr(sf, name)) for name in classes),
        *_package("tables", sf.tables, "Tables of totals. Functions take what `sf.read` gives, or a table."),
        *_package("gate", sf.gate, "What may be told to whom: [The gate](../gate/index.md)."),
        "## sf.steps",
        "The steps of a plan, with the parameters of its YAML.",
        _table(
            ("class", "in a plan", "what it does"),
            [
                (f"`sf.steps.{c}`", f"[{name}](../methods/{name}.md)", summary(cls))
                for c, (name, cls) in sorted(steps.items())
            ],
        ),
        "## sf.examples",
        "Invented data; nobody in them exists.",
        _table(
            ("function", ""), [(f"`sf.examples.{n}`", summary(getattr(sf.examples, n))) for n in sf.examples.__all__]
        ),
        "## sf.errors",
        "```text\n" + _tree(inspect.getdoc(sf.errors) or "") + "\n```",
    ]
    return "\n\n".join(parts)


def _package(name: str, package: Any, said: str) -> list[str]:
    """The functions and classes of a package that is a name of `sf` itself."""
    names = dir(package)
    return [
        f"## sf.{name}",
        said,
        *(
            f"### sf.{name}.{n}\n\n```text\n{_signature(getattr(package, n), f'{name}.{n}')}\n```\n\n"
            f"{summary(getattr(package, n))}"
            for n in names
            if inspect.isfunction(getattr(package, n))
        ),
        *(_described(f"{name}.{n}", cls) for n in names if inspect.isclass(cls := getattr(package, n))),
    ]


def _signature(function: Callable[..., Any], name: str) -> str:
    """A signature with one parameter a line where it is long."""
    parameters = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in parameters:
            parameters.append("*")
        default = "" if parameter.default is parameter.empty else f"={parameter.default!r}"
        parameters.append(parameter.name + (default if "<function" not in default else "=None"))
    return textwrap.fill(f"sf.{name}({', '.join(parameters)})", 96, subsequent_indent="    ", break_long_words=False)


def _described(name: str, cls: type) -> str:
    inherited = {n for base in cls.__mro__[1:] for n in vars(base)}
    members = {
        n: m
        for n, m in vars(cls).items()
        if n[0] != "_" and n != "model_post_init" and (_is_method(m) or n not in inherited)
    }
    rows = [
        (_code(n), summary(m.__func__ if isinstance(m, classmethod) else m))
        for n, m in members.items()
        if _is_method(m)
    ]
    fields = [(_code(n), text) for n, text in parameters(cls).items()]
    table = _table(("member", "what it is"), fields + rows) if fields or rows else ""
    return f"### sf.{name}\n\n{summary(cls)}\n\n{table}".rstrip()


def _is_method(member: object) -> bool:
    return (
        inspect.isfunction(member)
        or isinstance(member, classmethod | property)
        or type(member).__name__ == "cached_property"
    )


def _tree(text: str) -> str:
    return textwrap.dedent(text.partition("::\n\n")[2].partition("\n\n")[0])


if __name__ == "__main__":
    os.environ.pop("SFUMATO_SECRET", None)
    main()
