import os
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module

import pytest

SCRIPT = """
import sys
import numpy as np
from sfumato.kernels.neighbours import mdav as loops
groups = loops.mdav(np.array([[0.0], [0.1], [5.0], [5.1]]), 2).tolist()
made = [one for one in vars(loops).values() if hasattr(one, "stats")]
print(groups, sum(one.stats.cache_misses.total() for one in made), sum(one.stats.cache_hits.total() for one in made))
"""
GROUPS = "[0, 0, 1, 1]"


def run(cache, script=SCRIPT):
    """Groups of four points; how many loops were compiled and how many were taken as they were kept; what was said."""
    told = {**os.environ, "SFUMATO_CACHE": str(cache)}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=told)
    assert done.returncode == 0, done.stderr
    groups, compiled, kept = done.stdout.rsplit(maxsplit=2)
    assert groups == GROUPS
    return int(compiled), int(kept), done.stderr


@pytest.mark.slow
def test_only_the_first_of_two_processes_compiles(tmp_path):
    compiled, _, said = run(tmp_path)
    assert compiled > 3
    assert run(tmp_path)[0] == 0
    assert said == ""
    (kept,) = (tmp_path / "compiled").iterdir()
    for folder in (kept.parent, kept):
        assert folder.stat().st_mode & 0o077 == 0


@pytest.mark.slow
def test_two_processes_at_once_compile_no_loop_twice(tmp_path):
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(run, [tmp_path, tmp_path])
    alone = run(tmp_path / "other")[0]
    assert first[0] + second[0] == alone


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "getuid"), reason="modes and owners are not told here")
def test_what_others_may_write_to_is_not_read(tmp_path):
    first = run(tmp_path)[0]
    (tmp_path / "compiled").chmod(0o777)
    compiled, kept, said = run(tmp_path)
    assert (compiled, kept) == (first, 0)
    assert said.count("nobody else may write to") == 1


@pytest.mark.slow
def test_with_nowhere_to_write_it_works_and_says_so_once(tmp_path):
    (tmp_path / "file").touch()
    said = run(tmp_path / "file")[2]
    assert said.count("There is no folder that compiled loops could be kept in") == 1


def test_numba_is_not_loaded_before_a_loop_is_called():
    script = "import sys, sfumato as sf; sf.protect; print('numba' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout == "False\n", done.stderr


def test_a_loop_that_calls_itself_and_others_is_compiled(tmp_path, monkeypatch):
    text = "from sfumato.kernels.compiled import compiled\n@compiled\ndef one(x):\n    return x + 1\n"
    text += "@compiled\ndef many(x, n):\n    if n == 0:\n        return x\n    return many(one(x), n - 1)\n"
    (tmp_path / "loops_of_test.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("sfumato.kernels.compiled.folder", lambda: None)
    loops = import_module("loops_of_test")
    first = loops.many
    assert first(3, 4) == 7
    assert first(3.5, 2) == 5.5
    assert loops.many.nopython_signatures
    assert loops.one.nopython_signatures


def test_a_kept_form_goes_by_the_loop_those_that_it_calls_and_their_constants(tmp_path, monkeypatch):
    from sfumato.kernels.compiled import _content, _stamp

    head = "from sfumato.kernels.compiled import compiled\n"
    inner = head + "@compiled\ndef inner(x):\n    return x + 1\n"
    outer = "from inner_of_test import inner\nfrom number_of_test import NUMBER\n"
    outer = head + outer + "@compiled\ndef outer(x):\n    return inner(x) * NUMBER\n"
    monkeypatch.syspath_prepend(tmp_path)

    def stamp(inner, number, beside=""):
        for name, text in (("inner", inner), ("number", f"NUMBER = {number}\n{beside}"), ("outer", outer)):
            (tmp_path / f"{name}_of_test.py").write_text(textwrap.dedent(text))
            monkeypatch.delitem(sys.modules, f"{name}_of_test", raising=False)
        _content.cache_clear()
        monkeypatch.setattr(sys, "dont_write_bytecode", True)
        return _stamp(import_module("outer_of_test").outer.py_func)

    first = stamp(inner, 2)
    assert stamp(inner, 2, "OTHER = 3\n") == first
    assert stamp(inner.replace("+", "-"), 2) != first
    assert stamp(inner, 3) != first
    assert stamp(inner, 2) == first
