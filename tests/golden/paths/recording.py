"""What a plan does, whole: released values, findings, what is said, files. `python -m tests.golden.paths.recording`."""

import contextlib
import hashlib
import json
import math
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.engines.duckdb import DuckDBDataset
from sfumato.engines.polars import PolarsDataset
from sfumato.engines.spill import Spill
from sfumato.errors import SfumatoError
from sfumato.measures.measuring import MOST, Measuring
from sfumato.release.protect import protect
from sfumato.release.secret import Secret
from tests.golden.paths.plans import names, plan_of, table

HERE = Path(__file__).parent / "recorded"
SECRET = Secret(bytes(range(32)))
FEW = 300
"""Most records that are looked at one by one, so that a table of 600 is a large one."""
WAYS = {"memory": MOST, "parts": FEW}


def recorded(name):
    """What is on file of a plan, by way."""
    return json.loads(_file_of(name).read_text(encoding="utf-8"))


def _file_of(name):
    return HERE / f"{name.replace(' ', '_')}.json"


def outcome(name, data, most=MOST):
    """Run a plan on data that an engine holds, and tell everything that came of it."""
    plan, how = plan_of(name), Measuring(most=most)
    try:
        release = protect(plan, data, SECRET, how=how, leaver=False)
        with tempfile.TemporaryDirectory() as folder:
            release.write(Path(folder) / "r", force=True)
            return _told(release.report, Path(folder) / "r")
    except SfumatoError as error:
        return {"refused": f"{type(error).__name__}: {error}"}


def _told(report, folder):
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    rows = pl.concat([_read(path) for path in files if path.parent.name == "data" or path.stem == "data"])
    papers = json.loads((folder / "datapackage.json").read_text(encoding="utf-8"))
    return {
        "released": {n: _column(rows[n]) for n in rows.columns},
        "findings": _findings(report.findings),
        "notes": sorted(report.findings.notes),
        "warnings": list(report.warnings),
        "refusals": list(report.refusals),
        "sentences": list(report.disclosure.sentences()),
        "files": sorted({_file(path, folder) for path in files}),
        "papers": _plain(papers),
    }


def _read(path):
    return pl.read_parquet(path) if path.suffix == ".parquet" else pl.read_csv(path, infer_schema_length=None)


def _file(path, folder):
    return path.relative_to(folder).as_posix()


def _column(column):
    """A column in its released order: numbers with a fraction as sums with weights that differ, all else whole."""
    if not column.dtype.is_float():
        text = json.dumps(column.cast(pl.String).to_list())
        return hashlib.sha256(text.encode()).hexdigest()[:16]
    weights = np.random.default_rng(7).normal(size=(2, len(column)))
    there = column.is_finite().fill_null(False)
    values = column.fill_null(0).fill_nan(0).to_numpy()
    return [int(there.sum()), *(_short(math.fsum(row * values)) for row in weights)]


def _findings(findings):
    """By measure, for each line what it is of, and its figures."""
    told = {}
    for f in findings:
        interval = None if f.interval is None else [_short(end) for end in f.interval]
        of = [f.variable, f.group, f.at, f.attack]
        told.setdefault(f.measure, []).append([*of, _short(f.value), interval, _short(f.baseline), f.limit, f.ok])
    return told


def _short(value):
    """To more digits than are compared."""
    return None if value is None else float(f"{value:.11g}")


def _plain(papers):
    """The papers without what differs from day to day, and from one version of a writer to the next."""
    left = {"created", "version", "bytes", "hash", "sfumato:version", "id"}
    if isinstance(papers, dict):
        return {key: _plain(value) for key, value in papers.items() if key not in left}
    return [_plain(each) for each in papers] if isinstance(papers, list) else papers


@contextlib.contextmanager
def data_of(way):
    """The table, where a way has its rows: in memory, or in three parts."""
    if way == "memory":
        yield PolarsDataset(table(), Codebook())
        return
    with contextlib.closing(Spill()) as spill:
        yield DuckDBDataset.of(table(), Codebook(), spill, part_rows=200)


def happens(name, way):
    """What a plan does to the table, by a way."""
    with data_of(way) as data:
        return outcome(name, data, WAYS[way])


def differing(one, other):
    """Where two outcomes differ: the paths; numbers may by a billionth."""
    return list(_differing(one, other, ""))


def _differing(one, other, at):
    if isinstance(one, dict) and isinstance(other, dict):
        for key in one.keys() | other.keys():
            yield from _differing(one.get(key), other.get(key), f"{at}/{key}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for i, pair in enumerate(zip(one, other, strict=True)):
            yield from _differing(*pair, f"{at}/{i}")
    elif isinstance(one, float) and isinstance(other, int | float):
        if not math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9):
            yield f"{at}: {one!r}, {other!r}"
    elif one != other:
        yield f"{at}: {str(one)[:200]}, {str(other)[:200]}"


def main():
    """Record all plans, or those that are named."""
    HERE.mkdir(exist_ok=True)
    for name in sys.argv[1:] or names():
        told = {way: happens(name, way) for way in WAYS}
        text = json.dumps(told, ensure_ascii=False, separators=(",", ":")).replace(']],"', ']],\n"')  # a measure a line
        _file_of(name).write_text(text + "\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
