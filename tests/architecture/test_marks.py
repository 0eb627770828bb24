"""Marks are no way out: what is left to the night is guarded by day, and what may not happen once is never forgiven."""

import ast
import re
from pathlib import Path

import pytest

from tests.running.listed import unstable_problems
from tests.running.once import ONCE
from tests.running.plugin import COLLECTED

ROOT = Path(__file__).parents[2]
NEVER_FORGIVEN = """
    tests/laws/ tests/golden/ tests/test_draws.py tests/gate/criteria/ tests/gate/stages/ tests/gate/store/
    tests/gate/test_attacks.py tests/gate/test_decision.py tests/gate/test_ledger.py tests/gate/test_soundness.py
    tests/release/package/ tests/e2e/test_planted.py
"""


def wrong(collected, exists=lambda case: False):
    """Nightly tests whose smaller case is not there by day; `exists` speaks for files that were not collected."""
    by_day = {test for test, of in collected.items() if of is None}
    by_day |= {test.partition("[")[0] for test in by_day}
    files = {test.partition("::")[0] for test in collected}
    told = {test: of for test, of in collected.items() if of is not None}
    return [test for test, of in told.items() if not (of in by_day if of.partition("::")[0] in files else exists(of))]


def in_its_file(case):
    """Whether a file has a test of that name; its marks are known where the file is collected."""
    path, _, name = case.partition("::")
    if not (ROOT / path).is_file():
        return False
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    tests = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    return name.rpartition("::")[2].partition("[")[0] in tests


def test_every_nightly_test_has_a_smaller_case_by_day(request):
    assert wrong(request.config.stash[COLLECTED], in_its_file) == []


@pytest.mark.parametrize(
    ("collected", "bad"),
    [
        ({"t.py::a[1]": None, "t.py::b": "t.py::a[1]"}, []),
        ({"t.py::a[1]": None, "t.py::b": "t.py::a"}, []),
        ({"t.py::a[1]": None, "t.py::b": ""}, ["t.py::b"]),
        ({"t.py::a[1]": None, "t.py::b": "t.py::a[2]"}, ["t.py::b"]),
        ({"t.py::a": "t.py::a", "t.py::b": "t.py::a"}, ["t.py::a", "t.py::b"]),
        ({"t.py::b": "gone.py::a"}, ["t.py::b"]),
    ],
)
def test_a_mark_without_its_case_is_found(collected, bad):
    assert wrong(collected) == bad


def test_what_is_never_forgiven_is_what_is_listed_here_and_is_there():
    assert set(ONCE) == set(NEVER_FORGIVEN.split())
    assert all((ROOT / path).exists() for path in ONCE)


def test_a_test_that_plants_values_is_marked(request):
    planted = request.node
    assert planted.get_closest_marker("once")


def test_few_tests_are_unstable():
    assert unstable_problems(ROOT) == []


def test_parts_are_missed_through_one_helper():
    """Only `tests/parts.py` skips for want of a browser, Java, Spark, PostgreSQL, others' files or the real data.

    What else tests need is installed with them and imported, so that a lack of it is no skip.
    """
    named = re.compile(r"browser|java\b|spark|postgres|vendor|npm|htmx|real|published|SFUMATO_DATA|STATIC", re.I)
    for path in sorted((ROOT / "tests").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if "skip" not in text or path.parent.name == "running" or path.name in ("parts.py", "test_marks.py"):
            continue
        assert "importorskip" not in text, path
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in ("skip", "skipif"):
                assert not named.search(ast.unparse(node)), f"{path}:{node.lineno}"
