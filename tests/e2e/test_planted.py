"""Marked values are planted in a data file, and looked for in everything that any command emits.

Every command runs in success and in many failing ways. No marker may stand in what is said (stderr), in what may be
published (report.html, datapackage.json, plan.yaml) or in the plan that `init` drafts. What is printed to stdout is the
custodian's: it may hold category labels and counts, but no planted number, id, name or text.
"""

import base64
import datetime
import hashlib
import io

import polars as pl
import pytest

from sfumato.examples import cohort
from tests.e2e.command import sfumato
from tests.e2e.many import Command, run_many
from tests.reasons import REASON

pytestmark = pytest.mark.slow

ROWS = 90
MARKED = 40  # the row that most failures are about
IDS = [f"zqid{i:03d}" for i in range(ROWS)]
NAMES = [f"Zqname{chr(97 + i % 26)} O'Zqsurname{i}" for i in range(ROWS)]
WARDS = ("zqward north", "zqward, south", "zqward <east>")
ILLNESS = ("zqill none", "zqill grave")
BORN = datetime.date(1917, 3, 29)
NUMBERS = {"income": (987654.321, 31), "debt": (-76543.2109, MARKED), "trace": (0.000345678912, 47)}
USUAL = 4815162.342  # what most people have, in one of the files: its median
SECRET = b"zqsecret: one long sentence of 43 characters"

# how a planted number may look in print: whole, rounded, with separators, in scientific notation
NUMERALS = tuple(
    form
    for digits in ("987654", "76543", "345678", "4815162")
    for form in (
        digits,
        f"{int(digits):,}",
        f"{int(digits):,}".replace(",", " "),
        f"{digits[0]}.{digits[1:5]}",
        f"{int(digits):.4e}"[:6],
    )
)
LABELS = ("zqward", "zqill")
PRIVATE = (*NUMERALS, "zqid", "zqname", "zqsurname", "zqcomment", "zqvisit", "zqtext", "1917-03-29", "29/03/1917")
MARKERS = (*PRIVATE, *LABELS, "zqsecret")

PLAN = """sfumato: 1
title: Planted
variables:
  id: {role: record}
  name: {role: identifier}
  comment: {role: other, kind: text}
  born: {role: key, kind: date}
  ward: {role: key, kind: categorical}
  illness: {role: outcome, kind: categorical}
  income: {role: key, kind: continuous}
  debt: {role: key, kind: continuous}
  trace: {role: sensitive, kind: continuous}
steps:
  - {do: drop, columns: [name, comment, visit, born]}
  - {do: centroids, columns: [income, debt, trace], by: [ward], k: 3}
unknown:
  - {columns: [id], because: "asked for this test alone and told to nobody else"}
  - {columns: others, because: "asked for this test alone and told to nobody else"}
limits:
  - {measure: k_anonymity, at_least: 5}
"""


def people():
    """Ninety people in three wards, with a marker in every text, and the planted numbers."""
    i = pl.int_range(ROWS, eager=True)
    day = datetime.timedelta(days=97)
    frame = pl.DataFrame(
        {
            "id": IDS,
            "name": NAMES,
            "comment": [f"zqcomment {n}: moved, see zqtext" for n in range(ROWS)],
            "visit": [f"zqvisit {n % 7}" for n in range(ROWS)],
            "born": [BORN if n == MARKED else datetime.date(1950, 1, 1) + n * day for n in range(ROWS)],
            "ward": [WARDS[n % 3] for n in range(ROWS)],
            "illness": [ILLNESS[n * n % 7 % 2] for n in range(ROWS)],
            "income": 20_000 + (i * 7919 % 1000) * 31.5,
            "debt": (i * 6131 % 500) * 9.25,
            "trace": (i * 4001 % 211) * 0.0625,
        }
    )
    planted = [pl.when(i == row).then(value).otherwise(name).alias(name) for name, (value, row) in NUMBERS.items()]
    return frame.with_columns(planted)


CSV = people().write_csv()


def parquet(frame):
    out = io.BytesIO()
    frame.write_parquet(out)
    return out.getvalue()


def cells(**changed):
    """The file with cells of the marked row changed."""
    text = pl.read_csv(CSV.encode(), infer_schema=False)
    here = pl.int_range(ROWS) == MARKED
    return text.with_columns(
        pl.when(here).then(pl.lit(v)).otherwise(n).alias(n) for n, v in changed.items()
    ).write_csv()


def columns(**changed):
    """The file with whole columns changed."""
    return people().with_columns(**changed).write_csv()


def line(change):
    """The file with the marked line changed as a whole."""
    lines = CSV.splitlines()
    lines[MARKED + 1] = change(lines[MARKED + 1])
    return "\n".join(lines) + "\n"


def plan(old, new, count=-1):
    assert old in PLAN
    return PLAN.replace(old, new, count)


def step(text):
    """The plan with a step before the masking."""
    return plan("  - {do: centroids", f"  - {text}\n  - {{do: centroids")


def kind(name, new):
    """The plan with another kind of a variable."""
    (old,) = (row for row in PLAN.splitlines() if row.startswith(f"  {name}:"))
    return plan(old, f"{old.partition('kind:')[0]}kind: {new}}}")


STRICT = plan("at_least: 5", "at_least: 500")
MASK = "{do: centroids, columns: [income, debt, trace], by: [ward], k: 3}"
NOISY = plan(MASK, "{do: noise, columns: [income, debt, trace], share: 0.2, grow: 2}")
FEW_RUNS = ("--range", "0.2:0.4", "--tolerance", "0.5", "--replications", "2")
TUNE = ("tune", "plan.yaml", "data.csv", "--parameter", "steps.1.share", *FEW_RUNS)
ALONE = cells(ward="zqward alone")

PROTECT = ("protect", "plan.yaml", "data.csv", "--out", "release", "--secret-file", "key")
RISK = ("risk", "data.csv", "--protected", "after.csv", "--columns", "income,debt", "--by", "ward")
COMPARE = ("compare", "data.csv", "after.csv")
INIT = ("init", "data.csv")
BY_ID = ("--record", "id")
LINEAR, LOGISTIC = ("--family", "linear"), ("--family", "logistic")

# name: arguments, files other than the usual ones, environment; each in a folder of its own
SUCCESSES = {
    "init": ((*INIT, "--out", "drafted.yaml"), {}, {}),
    "init to stdout": (INIT, {}, {}),
    "init as JSON": ((*INIT, "--json"), {}, {}),
    "protect": ((*PROTECT, "--internal-report", "internal.html"), {}, {}),
    "protect as JSON": ((*PROTECT, "--json"), {}, {}),
    "protect with a model": ((*PROTECT, "--model", "income ~ C(ward) + debt", *LINEAR), {}, {}),
    "protect by a secret in the environment": (PROTECT[:-2], {}, {"SFUMATO_SECRET": SECRET.hex()}),
    "protect parquet": (
        tuple(a.replace("data.csv", "data.parquet") for a in PROTECT),
        {"data.parquet": parquet(people())},
        {},
    ),
    "protect by groups, with a small ward merged": (
        PROTECT,
        {"data.csv": ALONE, "plan.yaml": plan("k: 3}", "k: 3, grouping: mdav, on_small: merge}")},
        {},
    ),
    "protect with labels in the plan": (
        PROTECT,
        {"plan.yaml": step("{do: recode, columns: [ward], map: {zqward north: zqward centre}}")},
        {},
    ),
    "protect though a limit is exceeded": ((*PROTECT, "--force"), {"plan.yaml": STRICT}, {}),
    "risk of one file": (("risk", "data.csv", "--by", "ward"), {}, {}),
    "risk by a plan": (("risk", "data.csv", "--plan", "plan.yaml", "--json"), {}, {}),
    "risk of two": ((*RISK, *BY_ID), {}, {}),
    "risk of two in order": ((*RISK, "--align", "row-order", "--json"), {}, {}),
    "risk under attackers": (
        (*RISK, *BY_ID, "--attack", "nearest,predicted,averaging:3,imprecise:0.1", "--file-order"),
        {},
        {},
    ),
    "protect by noise": (PROTECT, {"plan.yaml": NOISY}, {}),
    "protect with new ids": (
        (*PROTECT, "--crosswalk", "ids.csv"),
        {
            "plan.yaml": plan(
                "unknown:", "  - {do: pseudonymise, columns: [id], scope: table, format: number}\nunknown:"
            )
        },
        {},
    ),
    "protect by noise and a sample": (
        PROTECT,
        {"plan.yaml": NOISY.replace("unknown:", "  - {do: sample, fraction: 0.5}\nunknown:")},
        {},
    ),
    "protect by swapping": (
        PROTECT,
        {"plan.yaml": plan(MASK, "{do: swap, columns: [income, debt, trace], window: 0.2}")},
        {},
    ),
    "tune": ((*TUNE, "--limit", "h_rank[h<3] < 0.9"), {"plan.yaml": NOISY}, {}),
    "compare by a plan": ((*COMPARE, *BY_ID, "--plan", "plan.yaml"), {}, {}),
    "compare by a model": ((*COMPARE, *BY_ID, "--json", "--model", "illness ~ C(ward) + debt", *LOGISTIC), {}, {}),
    "compare unpaired": (COMPARE, {}, {}),
    "schema": (("schema",), {}, {}),
}

# name: exit status (None: either; whether it is a failure is another test's matter), then as above
FAILURES = {
    "no such column": (2, PROTECT, {"plan.yaml": plan("[income, debt", "[height, debt")}),
    "masking a category": (2, PROTECT, {"plan.yaml": plan("[income, debt, trace]", "[income, illness]")}),
    "an identifier that stays": (2, PROTECT, {"plan.yaml": plan("[name, comment", "[comment")}),
    "kind integer for fractions": (2, PROTECT, {"plan.yaml": kind("income", "integer")}),
    "kind continuous for text": (2, PROTECT, {"plan.yaml": kind("ward", "continuous")}),
    "kind date for text": (None, PROTECT, {"plan.yaml": kind("comment", "date")}),
    "an order that lacks values": (2, PROTECT, {"plan.yaml": kind("ward", "ordinal, order: [a, b]")}),
    "k beyond the strata": (2, PROTECT, {"plan.yaml": plan("k: 3", "k: 80")}),
    "too many fields": (2, PROTECT, {"data.csv": line(lambda text: f"{text},zqtext")}),
    "too few fields": (2, PROTECT, {"data.csv": line(lambda text: text.rpartition(",")[0])}),
    "an open quotation": (2, PROTECT, {"data.csv": line(lambda text: f'"{text}')}),
    "bytes of another encoding": (
        2,
        (*PROTECT, "--encoding", "utf-8"),
        {"data.csv": CSV.encode().replace(b"zqtext", b"zqtext\xff")},
    ),
    "another delimiter": (2, (*PROTECT, "--delimiter", ";"), {}),
    "infinite": (2, PROTECT, {"data.csv": cells(income="inf")}),
    "beyond floating point": (2, PROTECT, {"data.csv": cells(income="987654321e400")}),
    "text among numbers": (2, PROTECT, {"data.csv": cells(income="zqtext 987654.321")}),
    "a decimal comma among points": (2, PROTECT, {"data.csv": cells(income="987654,321")}),
    "an id twice": (2, PROTECT, {"data.csv": cells(id=IDS[3])}),
    "no id": (2, PROTECT, {"data.csv": cells(id="")}),
    "a column without values": (2, PROTECT, {"data.csv": columns(trace=pl.lit(""))}),
    "an empty file": (2, PROTECT, {"data.csv": ""}),
    "a header only": (2, PROTECT, {"data.csv": CSV.splitlines()[0]}),
    "a ward too small": (2, PROTECT, {"data.csv": ALONE}),
    "a ward too small to leave out": (
        2,
        PROTECT,
        {"data.csv": ALONE, "plan.yaml": plan("k: 3}", "k: 3, on_small: suppress, max_suppressed: 0}")},
    ),
    "a value that the map lacks": (
        2,
        PROTECT,
        {"plan.yaml": step("{do: recode, columns: [ward], map: {a: b}, other: error}")},
    ),
    "bands of text": (2, PROTECT, {"plan.yaml": step("{do: recode, columns: [ward], band: [1, 2]}")}),
    "the mean of text": (2, PROTECT, {"plan.yaml": step("{do: impute, columns: [ward], method: mean}")}),
    "arithmetic with text": (2, PROTECT, {"plan.yaml": step('{do: derive, column: a, formula: "ward + 1"}')}),
    "text above a number": (2, PROTECT, {"plan.yaml": step('{do: derive, column: a, formula: "ward > 1"}')}),
    "the year of text": (2, PROTECT, {"plan.yaml": step('{do: derive, column: a, formula: "year(ward)"}')}),
    "division by zero": (
        None,
        PROTECT,
        {"plan.yaml": step('{do: derive, column: a, formula: "income / (debt - debt)"}')},
    ),
    "a formula outside the grammar": (
        2,
        PROTECT,
        {"plan.yaml": step('{do: derive, column: a, formula: "income.__class__"}')},
    ),
    "noise on text": (2, PROTECT, {"plan.yaml": plan(MASK, "{do: noise, columns: [ward], sd: 1}")}),
    "noise by strata too small": (
        2,
        PROTECT,
        {"data.csv": ALONE, "plan.yaml": plan(MASK, "{do: noise, columns: [income], share: 0.1, by: [ward]}")},
    ),
    "noise on a constant": (2, PROTECT, {"data.csv": columns(trace=pl.lit(0.000345678912)), "plan.yaml": NOISY}),
    "rare categories exchanged": (
        2,
        PROTECT,
        {"data.csv": ALONE, "plan.yaml": plan(MASK, "{do: pram, columns: [ward], retention: 0.8, invariant: true}")},
    ),
    "categories that a matrix lacks": (
        2,
        PROTECT,
        {"plan.yaml": plan(MASK, "{do: pram, columns: [ward], matrix: [[0.9, 0.1], [0.1, 0.9]]}")},
    ),
    "swapping text by ranks": (2, PROTECT, {"plan.yaml": plan(MASK, "{do: swap, columns: [ward], window: 0.1}")}),
    "an attack that there is not": (2, (*RISK, *BY_ID, "--attack", "sorcery"), {}),
    "a limit that cannot be met": (
        1,
        (*TUNE, "--limit", "h_rank[h<3] < 0.000001"),
        {"plan.yaml": NOISY},
    ),
    "tuning what is no number": (2, (*TUNE, "--limit", "h_rank[ward=1] < 1"), {"plan.yaml": NOISY}),
    "a short secret": (2, PROTECT, {"key": "zqsecret"}),
    "no secret file": (2, PROTECT, {"key": None}),
    "a limit exceeded": (1, PROTECT, {"plan.yaml": STRICT}),
    "what nobody has decided": (1, PROTECT, {"plan.yaml": PLAN.replace(REASON, "?")}),
    "a reason that names somebody": (
        2,
        PROTECT,
        {"plan.yaml": plan(REASON, f"only {NAMES[MARKED]} was ever asked", 1)},
    ),
    "a limit exceeded, as JSON": (1, (*PROTECT, "--json"), {"plan.yaml": STRICT}),
    "a limit exceeded by one file": (1, ("risk", "data.csv", "--plan", "plan.yaml"), {"plan.yaml": STRICT}),
    "a limit on no measure": (2, PROTECT, {"plan.yaml": plan("k_anonymity, at_least", "nothing, at_most")}),
    "a model of no column": (2, (*PROTECT, "--model", "income ~ height"), {}),
    "a linear model of categories": (2, (*PROTECT, "--model", "ward ~ income", *LINEAR), {}),
    "a logistic model of three values": (2, (*PROTECT, "--model", "ward ~ income", *LOGISTIC), {}),
    "risk of ids unnamed": (2, RISK, {}),
    "risk of text": (2, (*RISK[:4], "--columns", "ward", *BY_ID), {}),
    "risk of ids twice": (2, (*RISK, *BY_ID), {"after.csv": cells(id=IDS[3])}),
    "risk of other people": (2, (*RISK, *BY_ID), {"after.csv": CSV.replace("zqid", "zqidother")}),
    "risk of ids as numbers": (2, (*RISK, *BY_ID), {"after.csv": CSV.replace("zqid", "7")}),
    "risk of fewer rows": (2, (*RISK, "--align", "row-order"), {"after.csv": CSV.rpartition("zqid089")[0]}),
    "risk of an infinite value": (2, (*RISK, *BY_ID), {"after.csv": cells(income="-inf")}),
    "compare ids twice": (2, (*COMPARE, *BY_ID), {"after.csv": cells(id=IDS[3])}),
    "compare text with numbers": (
        2,
        (*COMPARE, *BY_ID, "--columns", "income"),
        {"after.csv": cells(income="zqtext 987654.321")},
    ),
    "compare by a model of no column": (2, (*COMPARE, "--model", "income ~ height"), {}),
    "compare a ragged file": (2, COMPARE, {"after.csv": line(lambda text: f"{text},zqtext")}),
    "init of a ragged file": (2, INIT, {"data.csv": line(lambda text: f"{text},zqtext")}),
    "init of an infinite value": (2, INIT, {"data.csv": cells(income="inf")}),
    "no Parquet": (2, ("init", "data.parquet"), {"data.parquet": CSV}),
    "lists in Parquet": (
        2,
        ("init", "data.parquet"),
        {"data.parquet": parquet(people().with_columns(income=pl.concat_list("income", "debt")))},
    ),
    "no workbook": (2, ("init", "data.xlsx"), {"data.xlsx": CSV}),
    "no Stata file": (2, ("init", "data.dta"), {"data.dta": CSV}),
}
IN_PLAIN_WORDS = {"SFUMATO_SECRET": "zqsecret in plain words"}
USUALLY = columns(income=pl.when(pl.int_range(ROWS) % 4 > 0).then(USUAL).otherwise("income"))
FAULT = f"no centroid for {NUMBERS['income'][0]} of {IDS[31]}"


def furnish(folder, files):
    """The planted file, a plan and a secret; others as given, None for none."""
    folder.mkdir()
    usual = {"plan.yaml": PLAN, "data.csv": CSV, "after.csv": CSV, "key": SECRET}
    for name, content in (usual | files).items():
        if content is not None:
            (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return {path.name for path in folder.iterdir()}


DRAWN = ("protect", "protect by noise", "a usual value")
"""Releases that together have pictures of every kind; those of others are sketches by day, which hold their words."""


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """Every case, run: its command, its folder, and what was there before."""
    root, commands, before = tmp_path_factory.mktemp("planted"), {}, {}
    cases = dict(SUCCESSES)
    cases |= {name: (arguments, files, {}) for name, (_, arguments, files) in FAILURES.items()}
    cases["a secret that is no number"] = (PROTECT[:-2], {}, IN_PLAIN_WORDS)
    cases["a usual value"] = (SUCCESSES["protect"][0], {"data.csv": USUALLY}, {})
    cases["a fault"] = cases["a fault, debugging"] = (PROTECT, {}, {})
    for number, (name, (arguments, files, environment)) in enumerate(cases.items()):
        folder = root / str(number)
        before[name] = furnish(folder, files)
        commands[name] = Command(str(folder), arguments, environment, drawn=name in DRAWN)
    commands["a fault"].fault = commands["a fault, debugging"].fault = FAULT
    commands["a fault, debugging"].environment = {"SFUMATO_DEBUG": "1"}
    run_many(list(commands.values()))
    return {name: (command, root / command.folder, before[name]) for name, command in commands.items()}


def found(text, markers=MARKERS):
    """The markers that stand in a text."""
    text = text.lower()
    return [marker for marker in markers if marker in text]


def published(folder):
    """The texts of a release that describe it: everything but the data."""
    return {p.name: p.read_text() for p in (folder / "release").iterdir() if not p.name.startswith("data.")}


def left_behind(folder, before):
    return {path.name for path in folder.iterdir()} - before


@pytest.mark.parametrize("name", SUCCESSES)
def test_what_is_said_in_success(ran, name):
    command, _, _ = ran[name]
    assert command.status == 0, command.err
    assert not found(command.err)
    assert not found(command.out, (*PRIVATE, "zqsecret"))


@pytest.mark.parametrize("name", FAILURES)
def test_what_is_said_in_failure(ran, name):
    command, folder, before = ran[name]
    expected = FAILURES[name][0]
    assert command.status in ((0, 1, 2) if expected is None else (expected,)), command.err
    assert command.err
    assert not found(command.err)
    assert not found(command.out, (*PRIVATE, "zqsecret"))
    if command.status:
        assert not left_behind(folder, before)


def test_what_is_said_of_a_secret_that_is_no_number(ran):
    command, folder, before = ran["a secret that is no number"]
    assert command.status == 2
    assert "SFUMATO_SECRET" in command.err
    assert not found(command.err + command.out)
    assert not left_behind(folder, before)


def test_what_is_said_of_a_fault_of_its_own(ran):
    command, folder, before = ran["a fault"]
    assert command.status == 70
    assert "ValueError" in command.err
    assert not found(command.err + command.out)
    assert not left_behind(folder, before)


RELEASES = [name for name, (arguments, _, _) in SUCCESSES.items() if arguments[0] == "protect"]


@pytest.mark.parametrize("name", [*RELEASES, "a usual value"])
def test_what_may_be_published(ran, name):
    """Labels that the user wrote into the plan are in the plan; the report leaves even these out."""
    _, folder, _ = ran[name]
    documents = published(folder)
    assert set(documents) == {"report.html", "datapackage.json", "plan.yaml"}
    in_plan = ("zqward",) if name == "protect with labels in the plan" else ()
    for document, text in documents.items():
        allowed = () if document == "report.html" else in_plan
        assert set(found(text)) <= set(allowed), document
    assert not any(ward in "".join(documents.values()) for ward in WARDS[1:])


@pytest.mark.nightly(of="tests/e2e/test_planted.py::test_what_may_be_published[protect]")
def test_what_may_be_published_is_in_no_picture(tmp_path):
    commands = []
    for name in RELEASES:
        arguments, files, environment = SUCCESSES[name]
        furnish(tmp_path / name, files)
        commands.append(Command(str(tmp_path / name), arguments, environment))
    run_many(commands)
    for command in commands:
        assert command.status == 0, command.err
        assert not found(published(tmp_path / command.folder)["report.html"])


def test_pictures_of_every_kind_are_drawn(ran):
    """A drawing has paths, a sketch none."""
    for name in RELEASES:
        assert ("<path" in published(ran[name][1])["report.html"]) == (name in DRAWN), name


def test_the_drafted_plan(ran):
    _, folder, _ = ran["init"]
    drafted = (folder / "drafted.yaml").read_text()
    assert "role: identifier" in drafted
    assert not found(drafted)


def test_a_release_holds_no_masked_value(ran):
    """The records' ids and the categories stay; the planted numbers are masked, and identifiers are gone."""
    _, folder, _ = ran["protect"]
    assert set(found((folder / "release" / "data.csv").read_text())) == {"zqid", *LABELS}


def test_the_search_would_find_what_is_there(ran):
    """The internal report, the findings and a traceback are confidential; they do hold what was planted."""
    internal = (ran["protect"][1] / "internal.html").read_text()
    assert "zqward" in found(internal)
    usual = (ran["a usual value"][1] / "internal.html").read_text()
    assert any(form in found(usual) for form in NUMERALS[-5:])
    assert "zqward" in found(ran["risk by a plan"][0].out)
    debugging = ran["a fault, debugging"][0]
    assert {"987654", "zqid"} <= set(found(debugging.err))
    assert set(found(CSV)) >= {"987654", "76543", "345678", "zqid", "zqname", "zqcomment", "1917-03-29", *LABELS}


def spellings(secret):
    """The secret as bytes, in hexadecimal, in base64; and a plain hash of it, by which a weak one could be guessed."""
    digest = hashlib.sha256(secret)
    texts = [secret.hex(), secret[::-1].hex(), repr(secret)[2:-1], digest.hexdigest()[:12]]
    texts += [base64.b64encode(secret).decode(), base64.urlsafe_b64encode(secret).decode()]
    as_bytes = [text.rstrip("=").encode() for text in texts]
    return [secret, digest.digest(), *as_bytes, *(text.upper() for text in as_bytes)]


@pytest.mark.parametrize("name", RELEASES)
def test_the_secret_is_nowhere(ran, name):
    command, folder, _ = ran[name]
    files = [*(folder / "release").iterdir(), *folder.glob("internal.html")]
    everything = [path.read_bytes() for path in files] + [command.out.encode(), command.err.encode()]
    assert len(everything) >= 6
    for spelling in spellings(SECRET):
        assert not any(spelling in text for text in everything)
    assert SECRET in (folder / "key").read_bytes()


def test_the_demonstration(tmp_path):
    """Names, numbers and addresses of the invented people, whole, in what is said and in what may be published."""
    done = sfumato("demo", "--out", "demo", "--records", "300", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (tmp_path / "demo" / "release").rename(tmp_path / "release")
    texts = [done.stderr, *published(tmp_path).values(), (tmp_path / "demo" / "plan.yaml").read_text()]
    invented = cohort(300).select("name", "nhs_number", "email", "postcode", "date_of_birth", "comment")
    values = [str(v) for column in invented.get_columns() for v in column.drop_nulls().unique() if len(str(v)) > 5]
    assert len(values) > 1000
    data = (tmp_path / "demo" / "cohort.csv").read_text()
    assert sum(value in data for value in values) > 1000  # it is these people
    assert not [value for value in values if any(value in text for text in texts)]
