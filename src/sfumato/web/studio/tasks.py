"""Long work, as a process of its own does it: each function gives what the command of its name prints as JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.errors import DataError, LimitExceeded
from sfumato.progress import Progress, split
from sfumato.web.studio.source import Source, Stamp

if TYPE_CHECKING:
    from sfumato.api.protect_table import Making, TableAsked
    from sfumato.engines.polars import PolarsDataset
    from sfumato.plan.plan import Plan

__all__ = ["KEPT_BACK", "TASKS", "Work"]

KEPT_BACK = "kept-back"
"""The folder, in the private one of a run, of data that no limit lets go."""


@dataclass(frozen=True)
class Work:
    """What is to be done, and with what: all that crosses over to the process that does it.

    Parameters
    ----------
    task
        One of `TASKS`.
    source, stamp
        The file, and what it was like when it was read: another one is refused.
    plan, base
        The plan's text, and the folder that it is seen from.
    options
        Of the task.
    secret
        What draws are keyed with, and whether it is kept; it crosses through a pipe, never by argument or environment.
    out
        A private folder for what is written.
    files
        By what the files that the plan names are known again.
    """

    task: str
    source: Source
    stamp: Stamp
    plan: str
    base: Path
    options: Mapping[str, Any] = field(default_factory=dict)
    secret: tuple[bytes, bool] | None = field(default=None, repr=False)
    out: Path | None = None
    files: str = ""


@lru_cache(maxsize=1)
def _table(path: Path, how: tuple[tuple[str, Any], ...], stamp: Stamp) -> PolarsDataset:
    """The file, kept for the next work."""
    source = Source(path, dict(how))
    table = source.read() if source.stamp == stamp else None
    if table is None or source.stamp != stamp:  # before, or while it was read
        raise DataError("The file was changed since it was read. Read it again.")
    return table


def _read(work: Work) -> tuple[Plan, PolarsDataset]:
    from sfumato.plan.plan import Plan

    plan = Plan.from_yaml(work.plan, work.base)
    return plan, _table(work.source.path, tuple(sorted(work.source.how.items())), work.stamp)


def protect(work: Work, progress: Progress) -> dict[str, Any]:
    """Run the plan; write the release, unless a limit is exceeded and it is not forced, and the custodian's report.

    Besides, what the pages show of it is written in parts to `told.json`: verdict, what to try, pictures and figures.
    Where a limit is exceeded the data lie in `KEPT_BACK`, from which models are fitted and which nobody can take away.
    """
    from sfumato.api.protect import protect as run
    from sfumato.release.secret import Secret
    from sfumato.render.parts import parts

    assert work.secret is not None
    assert work.out is not None
    reading, running, writing = split(progress, (1, 17, 2))
    reading("reading the file", 0)
    plan, table = _read(work)
    model, family = work.options.get("model"), work.options.get("family")
    release = run(plan, table, secret=Secret(*work.secret), model=model, family=family, progress=running)
    writing("writing the release", 0)
    (work.out / "told.json").write_text(json.dumps(parts(release.report)), encoding="utf-8")
    told = {**release.report.to_plain(), "ok": release.ok, "engine": "memory", "parts": 1}
    try:
        notes = release.write(
            work.out / "release", force=bool(work.options.get("force")), internal_report=work.out / "internal.html"
        )
    except LimitExceeded as error:
        replace(release, renderer=None).write(work.out / KEPT_BACK, force=True)
        return {"release": None, **told, "parts": 0, "not_met": str(error)}
    return {"release": "release", **told, "written": list(notes)}


def tune(work: Work, progress: Progress) -> dict[str, Any]:
    """Search the least protection that meets limits."""
    from sfumato.api.tune import tune as search

    plan, table = _read(work)
    options = dict(work.options)
    low, high = float(options.pop("low")), float(options.pop("high"))
    limits = options.pop("limits", None)
    found = search(plan, table, range=(low, high), limit=limits or None, progress=progress, **options)
    return found.to_plain()


def risk(work: Work, progress: Progress) -> dict[str, Any]:
    """Measure the risk of the file as it is, with a search of larger sets of keys."""
    from sfumato.api.risk import risk as measure
    from sfumato.release.verdict import verdict_of_risk

    found = measure(_read(work)[1], progress=progress, **work.options)
    return {"verdict": verdict_of_risk(found), **found.to_plain()}


def fit(work: Work, progress: Progress) -> dict[str, Any]:
    """Fit a model to a release that was received; what pages show of it is written to `told.json`."""
    from sfumato.api.fit import fit as estimate
    from sfumato.render.forest import forest_svg

    assert work.out is not None
    found = estimate(work.options["formula"], work.base, family=work.options["family"], progress=progress)
    named = ("formula", "family", "method", "n", "converged", "level")
    shown = {
        **{name: getattr(found, name) for name in named},
        "rows": found.tidy().to_dicts(),
        "sentences": found.noise_sentences(),
        "rule": found.rule_sentence,
        "state": found.state,
        "verdict": found.verdict,
        "more": [*found.hidden_sentences(), *(note for note in found.notes if note not in found.verdict)],
        "drawing": forest_svg(found),
    }
    found.tidy().write_csv(work.out / "coefficients.csv")
    (work.out / "told.json").write_text(json.dumps(shown), encoding="utf-8")
    return found.to_plain()


def measures(work: Work, progress: Progress) -> dict[str, Any]:
    """Measure the risk of the file as it is; of lines of single classes the number alone is told."""
    from sfumato.api.risk import risk as measure
    from sfumato.data.finding import Findings
    from sfumato.measures.subject import KEYS, KEYS_AND_OTHERS, RELEASED

    found = measure(_read(work)[1], progress=progress, **work.options)
    whole = tuple(line for line in found if line.group in (None, KEYS, KEYS_AND_OTHERS, RELEASED))
    more = Counter(line.measure for line in found)
    more.subtract(line.measure for line in whole)
    return {**Findings(whole, found.notes).to_plain(), "more": dict(more)}


def model(work: Work, progress: Progress) -> dict[str, Any]:
    """Fit an intended model to the original and to what a run released, or would have."""
    from sfumato.api.coefficients import coefficients

    plan, table = _read(work)
    released, formula, family = (work.options[name] for name in ("release", "model", "family"))
    return coefficients(table, released, plan=plan, model=formula, family=family, progress=progress).to_plain()


def table(work: Work, progress: Progress) -> dict[str, Any]:
    """Protect a table of the records; it is written to `table.csv`, unless its audit failed.

    Besides, what the page shows of it is written to `told.json`: the grids, and what is lost.
    """
    from sfumato.api.table_grid import table_grid

    making, asked = _making(work, progress)
    made = making.made(asked.method, asked.way, "table.csv", asked.seconds, progress)
    assert work.out is not None
    shown = {"grid": table_grid(made), "loss": made.plain_loss(), "written": made.file is not None}
    (work.out / "told.json").write_text(json.dumps(shown, allow_nan=False), encoding="utf-8")
    return dict(made.told)


def table_methods(work: Work, progress: Progress) -> dict[str, Any]:
    """Try every method on a table of the records."""
    from sfumato.api.table_methods import table_methods as tried

    making, asked = _making(work, progress)
    found = tried(making.data, asked, making.folder, making.secret, progress=progress)
    return {"methods": [one.to_plain() for one in found]}


def _making(work: Work, progress: Progress) -> tuple[Making, TableAsked]:
    from sfumato.api.protect_table import Making, TableAsked
    from sfumato.release.secret import Secret

    assert work.secret is not None
    assert work.out is not None
    progress("reading the file", 0)
    records = _table(work.source.path, tuple(sorted(work.source.how.items())), work.stamp)
    asked = TableAsked.of(work.options["asked"])
    return Making(records, asked, work.out, Secret(*work.secret)), asked


TASKS: Mapping[str, Callable[[Work, Progress], dict[str, Any]]] = {
    "protect": protect,
    "tune": tune,
    "risk": risk,
    "fit": fit,
    "measures": measures,
    "model": model,
    "table": table,
    "table_methods": table_methods,
}
"""By name."""
