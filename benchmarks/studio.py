"""How long the studio lets people wait: a journey over HTTP to the real process, on a long file and on a wide one.

Bars are wall seconds on two quiet cores. Where other work runs on the machine, wall time is of that; so of each answer
the lesser counts of wall time and the CPU time of the studio's process, which waits for nothing but its own work.
"""

from __future__ import annotations

import contextlib
import gzip
import http.client
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import numpy as np
import polars as pl

_LONG, _WIDE = (1_000_000, 20), (100_000, 1_000)
_MB = 1e6
_KEYS = ("age", "sex", "region", "education", "occupation", "marital")
_OTHER_KEYS = ("birth", "district", "sex", "children", "occupation", "region")


def people(rows: int, seed: int = 1) -> pl.DataFrame:
    """Twenty columns of people who do not exist, of every kind that files have."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 96, rows)
    sex = rng.integers(0, 2, rows)
    region = rng.integers(0, 12, rows)
    height = (176 - 12 * sex + rng.normal(0, 7, rows)).round(1)
    weight = (24 * (height / 100) ** 2 + rng.normal(0, 9, rows)).round(1)
    income = np.exp(10 + rng.normal(0, 0.6, rows)).round(2)

    def words(stem: str, codes: Any) -> pl.Series:
        levels = [f"{stem} {i}" for i in range(int(codes.max()) + 1)]
        return pl.Series(codes).cast(pl.UInt32).replace_strict(dict(enumerate(levels)), return_dtype=pl.String)

    born = np.datetime64("2024-01-01") - (age * 365 + rng.integers(0, 365, rows)).astype("timedelta64[D]")
    return pl.DataFrame(
        {
            "record": np.arange(1, rows + 1),
            "name": words("Person", rng.integers(0, 50_000, rows)),
            "age": age,
            "sex": pl.Series(np.array(["f", "m"])[sex]),
            "birth": pl.Series(born.astype("datetime64[D]")),
            "region": words("Region", region),
            "district": words("District", region * 20 + rng.integers(0, 20, rows)),
            "education": rng.integers(1, 8, rows),
            "occupation": rng.integers(100, 180, rows),
            "marital": words("status", rng.integers(0, 5, rows)),
            "children": rng.poisson(1.4, rows),
            "height": height,
            "weight_kg": weight,
            "income": income,
            "systolic": rng.normal(130, 18, rows).round(),
            "cholesterol": np.where(rng.random(rows) < 0.05, np.nan, rng.normal(5.2, 1.1, rows).round(2)),
            "diabetes": rng.random(rows) < 0.07,
            "diagnosis": words("D", rng.integers(0, 40, rows)),
            "visits": rng.poisson(3, rows),
            "survey_weight": rng.uniform(1, 9, rows).round(3),
        }
    )


def wide(rows: int, columns: int, seed: int = 1) -> pl.DataFrame:
    """Many columns: answers to questions, amounts, texts, codes."""
    rng = np.random.default_rng(seed)
    made: dict[str, Any] = {"id": np.arange(1, rows + 1)}
    for i in range(1, columns):
        match i % 5:
            case 0:
                made[f"q{i}"] = rng.integers(1, 6, rows)
            case 1:
                made[f"score_{i}"] = rng.normal(50, 10, rows).round(2)
            case 2:
                made[f"answer_{i}"] = pl.Series(np.array(["yes", "no", "do not know"])[rng.integers(0, 3, rows)])
            case 3:
                made[f"count_{i}"] = rng.poisson(20, rows)
            case _:
                made[f"code_{i}"] = pl.Series([f"C{c}" for c in range(30)])[rng.integers(0, 30, rows)]
    return pl.DataFrame(made)


class Clock:
    """Seconds from now on, of the wall or of a process, whichever are fewer."""

    def __init__(self, pid: int, wall: float | None = None, cpu: float | None = None) -> None:
        self.pid = pid
        self.wall = time.perf_counter() if wall is None else wall
        self.cpu = _cpu(pid) if cpu is None else cpu

    @property
    def seconds(self) -> float:
        """Until now."""
        tick = 1 / os.sysconf("SC_CLK_TCK")
        return min(time.perf_counter() - self.wall, _cpu(self.pid) - self.cpu + tick)


def _cpu(pid: int) -> float:
    user, system = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


@dataclass
class Answer:
    """What came back, and after how long."""

    what: str
    status: int
    body: str
    headers: Mapping[str, str]
    seconds: float
    size: int


@dataclass
class Running:
    """A studio that runs, and who asks it."""

    port: int
    pid: int
    started: Clock
    cookie: str = ""
    told: list[Answer] = field(default_factory=list)
    peak: float = 0.0

    def ask(self, what: str, method: str, path: str, form: Any = None, **headers: str) -> Answer:
        """Ask as a browser does; a form is sent as one, a text as it is."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)
        own = {"Cookie": self.cookie, "X-Sfumato": "1", "Sec-Fetch-Site": "same-origin", "Accept-Encoding": "gzip"}
        body = None
        if isinstance(form, str):
            body = form.encode()
        elif form is not None:
            body = urlencode(form, doseq=True).encode()
            own["Content-Type"] = "application/x-www-form-urlencoded"
        clock = Clock(self.pid)
        connection.request(method, path, body, own | headers)
        answer = connection.getresponse()
        content = answer.read()
        seconds = clock.seconds
        connection.close()
        size = len(content)
        if answer.getheader("Content-Encoding") == "gzip":
            content = gzip.decompress(content)
        told = Answer(what, answer.status, content.decode(), dict(answer.getheaders()), seconds, size)
        if answer.status >= 400 or "HX-Retarget" in told.headers:
            raise RuntimeError(f"{what}: {method} {path.partition('?')[0]}: {answer.status} {told.body[:300]}")
        self.told.append(told)
        return told

    def get(self, what: str, path: str, **query: Any) -> Answer:
        """Look at something."""
        return self.ask(what, "GET", path + ("?" + urlencode(query, doseq=True) if query else ""))

    def post(self, what: str, path: str, form: Any) -> Answer:
        """Change something."""
        return self.ask(what, "POST", path, form)


@contextlib.contextmanager
def studio(file: Path) -> Iterator[tuple[Running, float]]:
    """A studio on a file, and the seconds until it printed its address."""
    begun = time.perf_counter()
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    command = [str(Path(sys.executable).parent / "sfumato"), "studio", file.name, "--no-browser", "--json"]
    process = subprocess.Popen(command, cwd=file.parent, stdout=subprocess.PIPE, text=True, env=environment)
    assert process.stdout is not None
    told = json.loads(process.stdout.readline())
    address = Clock(process.pid, begun, 0.0).seconds
    url = urlsplit(told["url"])
    running = Running(int(url.port or 0), process.pid, Clock(process.pid))
    done = threading.Event()
    watch = threading.Thread(target=_watch, args=(running, done), daemon=True)
    watch.start()
    try:
        opened = running.get("token", f"/?{url.query}")
        running.cookie = opened.headers["set-cookie"].partition(";")[0]
        yield running, address
    finally:
        done.set()
        watch.join()
        process.send_signal(signal.SIGTERM)
        process.wait(30)


def _watch(running: Running, done: threading.Event) -> None:
    """The largest sum of the memory of all its processes, what they share counted once, in MB."""
    while not done.wait(0.1):
        running.peak = max(running.peak, sum(map(_memory, _family(running.pid))) / _MB)


def _family(pid: int) -> list[int]:
    found = [pid]
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                found += _family(int(child))
    return found


def _memory(pid: int) -> float:
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return 1024.0 * float(line.split()[1])
    return 0.0


def _linked(page: str) -> list[str]:
    """Style, scripts and pictures that a page names."""
    return list(dict.fromkeys(re.findall(r'(?:src|href)="(/static/[^"]+)"', page)))


def _first(running: Running) -> dict[str, float]:
    """The page Data from its address on: names, guesses, and what it weighs before pictures come into view."""
    before = len(running.told)
    page = running.get("page", "/data")
    names = running.get("names", "/pages/data/variables")
    shown = running.started.seconds
    for path in _linked(page.body):
        running.get("file", path)
    running.get("tables", "/pages/data/tables")
    guesses = running.get("guesses", "/pages/data/variables", wait="true")
    running.get("plan", "/pages/plan")
    guessed = running.started.seconds
    told = running.told[before:]
    packed = sum(len(gzip.compress(one.body.encode())) for one in told)
    assert "role-v0" in guesses.body, "roles are guessed"
    return {
        "shown": shown,
        "names": names.seconds,
        "guessed": guessed,
        "sent": sum(one.size for one in told),
        "gzipped": packed,
    }


def _text(running: Running) -> str:
    return running.ask("plan as text", "GET", "/api/plan").body


def _tag(running: Running) -> str:
    return running.ask("plan as text", "GET", "/api/plan").headers["etag"]


def _typing(running: Running, times: int = 12) -> list[float]:
    """Checks of a text while it is typed: another letter each time."""
    text, taken = _text(running), []
    for i in range(times):
        typed = text.replace('title: "', 'title: "' + "a" * (i + 1), 1)
        taken.append(running.post("check", "/pages/plan/check", {"text": typed}).seconds)
        begun = text.replace("steps:\n", "steps:\n  - {do: drop, columns: [" + "a" * (i + 1) + "\n", 1)  # no end yet
        taken.append(running.post("check", "/api/check", begun).seconds)
    return taken


def _look(running: Running, page: str) -> None:
    """A page with what it fetches on load."""
    running.get(f"/{page}", f"/{page}")
    running.get(f"/{page}: plan", "/pages/plan")


def _data(running: Running) -> None:
    columns = [one["name"] for one in json.loads(running.get("/api/data", "/api/data").body)["columns"]]
    _look(running, "data")
    running.get("variables", "/pages/data/variables")
    running.get("reading", "/pages/data/reading")
    for name in columns[:40]:
        running.get("picture", "/pages/data/picture", name=name)
    running.get("picture of all values", "/pages/data/picture", name="name", everything="true")
    running.get("more", "/pages/data/more", name="age")
    for name, key, value in (("age", "role", "other"), ("age", "role", "key"), ("children", "kind", "categorical")):
        running.post(f"change {key}", "/pages/data/variable", {"name": name, "key": key, "value": value})
    running.get("picture", "/pages/data/picture", name="children")
    more = {"name": "income", "label": "Income", "unit": "EUR", "low": "0", "high": "", "missing": "-9, -8"}
    running.post("change more", "/pages/data/more", more)
    running.get("picture", "/pages/data/picture", name="income")
    many = {"name": ["height", "weight_kg", "systolic"], "set_role": "sensitive", "set_kind": ""}
    running.post("change many", "/pages/data/many", many)
    running.get("search", "/pages/data/variables", q="e", kind="categorical")
    for act in ("undo", "undo", "redo"):
        running.post(act, f"/pages/plan/{act}", {})


def _risk(running: Running) -> None:
    _look(running, "risk")
    running.get("risk by the plan's keys", "/pages/risk/look")
    running.get("larger", "/pages/risk/larger")
    running.get("risk by 6 keys", "/pages/risk/look", asked=1, keys=_KEYS)
    running.get("risk by 6 keys, alone", "/pages/risk/look", asked=1, keys=_OTHER_KEYS)
    whole = {"keys": _KEYS, "sensitive": ["diagnosis", "diabetes"], "weight": "survey_weight"}
    running.get("risk by 6 keys, weights, sensitive", "/pages/risk/look", asked=1, **whole)
    running.get("risk by 6 keys, a fraction", "/pages/risk/look", asked=1, keys=_KEYS, fraction="5%")
    running.get("risk by 2 keys", "/pages/risk/look", asked=1, keys=_KEYS[:2])


_STEPS: tuple[tuple[str, Mapping[str, Any]], ...] = (
    ("recode", {"p.columns": "age", "p.band": "[30, 40, 50, 60, 70]"}),
    ("noise", {"p.columns": "income", "p.share": "0.1"}),
    ("top_code", {"p.columns": "height", "p.quantile": "0.99"}),
    ("suppress_strata", {"p.by": "region", "p.min_count": "5"}),
    ("drop", {"p.columns": "diagnosis"}),
    ("impute", {"p.columns": "cholesterol", "p.method": "median"}),
    ("centroids", {"p.columns": "systolic", "p.k": "3"}),
    ("pram", {"p.columns": "marital", "p.retention": "0.9"}),
    ("swap", {"p.columns": "income", "p.window": "0.05"}),
)


def _protect(running: Running) -> None:
    _look(running, "protect")
    many = running.get("steps", "/pages/protect/steps").body.count('id="move-')
    running.get("catalogue", "/pages/protect/steps", add="choose")
    text = _text(running)
    steps = max(many, len(re.findall(r"^\s*- \{?do:", text, re.M)))
    for i in range(steps):
        page = running.get("form", "/pages/protect/steps", step=i).body
        running.post("preview of a drafted step", "/pages/protect/preview", [("step", str(i)), *_filled(page)])
    for name, fields in _STEPS:
        running.get("form of a new step", "/pages/protect/steps", add=name)
        for at, where in (("", "last"), ("1", "second")):
            form = {"do": name, "at": at, **fields}
            told = running.post(f"preview of {name}, {where}", "/pages/protect/preview", form).body
            if "cannot be tried" in told:
                raise RuntimeError(f"{name}, {where}: {' '.join(re.sub('<[^>]+>', ' ', told).split())[:300]}")
    tag = _tag(running)
    running.post("add a step", "/pages/protect/add", {"do": "recode", "tag": tag, **_STEPS[0][1]})
    for act, more in (("", {"to": "0"}), ("off", {}), ("on", {}), ("remove", {})):
        asked = {"step": "0" if act else str(steps), "act": act, "tag": _tag(running), **more}
        running.post(f"step: {act or 'move'}", "/pages/protect/move", asked)
    limit = {"measure": "k_anonymity", "bound": "at_least", "value": "3", "tag": _tag(running)}
    running.post("add a limit", "/pages/protect/limit", limit)
    for _ in range(5):
        running.post("undo", "/pages/plan/undo", {})


def _filled(form: str) -> list[tuple[str, str]]:
    """What a form of a step sends as it stands."""
    pairs = []
    for tag in re.findall(r"<input[^>]*name=\"p\.[^>]*>", form):
        name = re.search(r'name="([^"]*)"', tag)
        value = re.search(r'value="([^"]*)"', tag)
        if 'type="checkbox"' in tag and " checked" not in tag:
            continue
        if name:
            pairs.append((name[1], unescape(value[1]) if value else ""))
    for name_, inner in re.findall(r"<textarea[^>]*name=\"(p\.[^\"]*)\"[^>]*>(.*?)</textarea>", form, re.S):
        pairs.append((name_, unescape(inner).strip()))
    for name_, inner in re.findall(r"<select[^>]*name=\"(p\.[^\"]*)\"[^>]*>(.*?)</select>", form, re.S):
        for option in re.findall(r"<option[^>]* selected[^>]*>[^<]*", inner):
            value = re.search(r'value="([^"]*)"', option)
            pairs.append((name_, unescape(value[1] if value else option.rpartition(">")[2])))
    return pairs


def _edits(running: Running, times: int = 9) -> list[float]:
    """One number of the plan set anew and anew."""
    taken = []
    for i in range(times):
        edit = {"op": "set", "path": ["title"], "value": f"title {i}"}
        asked = json.dumps(edit)
        told = running.ask("edit", "POST", "/api/edit", asked, **{"If-Match": "*", "Content-Type": "application/json"})
        taken.append(told.seconds)
    return taken


def _long(folder: Path) -> dict[str, Any]:
    frame = people(*_LONG[:1])
    file = folder / "people.parquet"
    frame.write_parquet(file)
    size = frame.estimated_size() / _MB
    with studio(file) as (running, address):
        first = _first(running)
        begun = len(running.told)
        _data(running)
        _risk(running)
        _protect(running)
        parts = running.told[begun:]
        typing = _typing(running)
        edits = _edits(running)
        return {
            "address": address,
            **first,
            "parts": [(one.what, one.seconds) for one in parts],
            "typing": typing,
            "edits": edits,
            "size": size,
            "peak": running.peak,
        }


def _broad(folder: Path) -> dict[str, Any]:
    file = folder / "wide.parquet"
    frame = wide(*_WIDE)
    frame.write_parquet(file)
    size = frame.estimated_size() / _MB
    del frame
    with studio(file) as (running, address):
        first = _first(running)
        begun = len(running.told)
        for at in range(50, _WIDE[1], 50):
            running.get("further variables", "/pages/data/variables", begin=at, wait="true")
        running.post("change role", "/pages/data/variable", {"name": "count_3", "key": "role", "value": "other"})
        running.get("picture", "/pages/data/picture", name="count_3")
        running.get("steps", "/pages/protect/steps")
        parts = running.told[begun:]
        return {
            "address": address,
            **first,
            "parts": [(one.what, one.seconds) for one in parts],
            "typing": _typing(running),
            "edits": _edits(running),
            "size": size,
            "peak": running.peak,
        }


def main(case: str) -> None:
    """Run one case, and print what it found as JSON."""
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps({"long": _long, "wide": _broad}[case](Path(folder))))


def _best(case: str, repeats: int = 2) -> dict[str, Any]:
    """The same journey again and again in fresh processes; of every answer the shortest time, of memory the most."""
    runs = []
    for _ in range(repeats):
        command = [sys.executable, "-m", "benchmarks.studio", case]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        runs.append(json.loads(done.stdout))
    best: dict[str, Any] = {key: min(run[key] for run in runs) for key in ("address", "shown", "guessed", "gzipped")}
    for key in ("parts", "typing", "edits"):
        each = [[seconds for _, seconds in run[key]] if key == "parts" else run[key] for run in runs]
        best[key] = [min(taken) for taken in zip(*each, strict=True)]
    slowest = max(range(len(best["parts"])), key=lambda i: best["parts"][i])
    return (
        best
        | {"slowest": runs[0]["parts"][slowest][0], "sent": runs[0]["sent"], "size": runs[0]["size"]}
        | {"peak": max(run["peak"] for run in runs)}
    )


def _p95(seconds: list[float]) -> float:
    return float(np.quantile(seconds, 0.95))


def rows() -> list[tuple[str, str, str, bool]]:
    """What was measured, the figure, the bar, and whether it holds."""
    long, broad = _best("long"), _best("wide")

    def within(what: str, seconds: float, bar: float, more: str = "") -> tuple[str, str, str, bool]:
        return what, f"{seconds:.2f} s{more}", f"≤ {bar:g} s", seconds <= bar

    def typing(found: dict[str, Any]) -> tuple[str, str, str, bool]:
        taken = _p95(found["typing"])
        return "  its plan checked while it is typed, 19 of 20", f"{1000 * taken:.0f} ms", "≤ 200 ms", taken <= 0.2

    def edits(found: dict[str, Any], bar: float) -> tuple[str, str, str, bool]:
        taken = _p95(found["edits"])
        return "  an edit of its plan, 19 of 20", f"{1000 * taken:.0f} ms", f"≤ {bar:g} ms", 1000 * taken <= bar

    most = 1_000 + 4 * long["size"]
    slowest = f", the slowest {max(long['parts']):.2f} ({long['slowest']})"
    usable = f", the slowest {max(broad['parts']):.2f} ({broad['slowest']})"
    return [
        within("studio of 10^6 × 20, its address", long["address"], 2),
        within("  names of all variables after it", long["shown"], 2),
        within("  all guesses, and a plan", long["guessed"], 5),
        (
            "  a page before its pictures",
            f"{long['sent'] / 1000:.0f} kB sent, packed whole it would be {long['gzipped'] / 1000:.0f}",
            "≤ 300 kB",
            long["sent"] <= 300_000,
        ),
        within(f"  {len(long['parts'])} answers on Data, Risk and Protect, 19 of 20", _p95(long["parts"]), 2, slowest),
        typing(long),
        edits(long, 100),
        (
            "  all its processes",
            f"{long['peak']:,.0f} MB, data {long['size']:.0f}",
            f"≤ {most:,.0f} MB (1 GB and four times the data)",
            long["peak"] <= most,
        ),
        within("studio of 10^5 × 1,000, names of the first variables", broad["shown"], 2),
        within("  all guesses, and a plan", broad["guessed"], 20),
        (
            "  a page before its pictures",
            f"{broad['sent'] / 1000:.0f} kB sent",
            "≤ 300 kB",
            broad["sent"] <= 300_000,
        ),
        within(f"  {len(broad['parts'])} answers after it, 19 of 20", _p95(broad["parts"]), 2, usable),
        typing(broad),
        edits(broad, 2_000),
    ]


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(sys.argv[1])
    else:
        for row in rows():
            print(*row, sep=" | ")
