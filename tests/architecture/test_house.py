"""The house keeps its shape: layers, sizes, what importing costs, and a word about everything public."""

import ast
import functools
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

import sfumato
from sfumato.data.codebook import Missing, Variable
from sfumato.data.docstring import parameters
from sfumato.measures.registry import measures
from sfumato.methods.registry import methods
from sfumato.plan.limits import Limit
from sfumato.plan.plan import Plan
from tests.methods.tables import lawful

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
MODULES = sorted(m.name for m in pkgutil.walk_packages(sfumato.__path__, "sfumato."))
HOMES = {entry.module: entry.name for entry in entry_points(group="sfumato.measures")}
"""The file of every measure."""


@functools.cache
def parsed(path):
    return ast.parse(path.read_text())


def functions(tree):
    return [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]


def test_layers_point_downward():
    done = subprocess.run([Path(sys.executable).parent / "lint-imports"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_sizes():
    """Modules: median at most 150 lines, none above 600. Functions: nine in ten at most 30 lines, none above 100."""
    modules = sorted(len(p.read_text().splitlines()) for p in SOURCES)
    lengths = sorted(
        f.body[-1].end_lineno - f.body[0].lineno + 1 - _docstring(f) for p in SOURCES for f in functions(parsed(p))
    )
    assert modules[len(modules) // 2] <= 150
    assert modules[-1] <= 600
    assert lengths[int(0.9 * len(lengths))] <= 30
    assert lengths[-1] <= 100


def _docstring(function):
    first = function.body[0]
    is_text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return first.end_lineno - first.lineno + 1 if is_text else 0


@pytest.mark.parametrize("name", MODULES)
def test_every_public_name_is_documented(name):
    module = importlib.import_module(name)
    assert module.__doc__
    for public in getattr(module, "__all__", ()):
        value = getattr(module, public)
        if getattr(value, "__module__", None) != name or not (inspect.isclass(value) or inspect.isfunction(value)):
            continue
        assert value.__doc__, f"{name}.{public}"
        if inspect.isclass(value):
            undocumented = [
                n for n, m in vars(value).items() if inspect.isfunction(m) and n[0] != "_" and not m.__doc__
            ]
            assert not undocumented, f"{name}.{public}: {undocumented}"


def test_every_name_of_the_facade_is_there():
    for name in sfumato.__all__:
        assert getattr(sfumato, name) is not None
    assert callable(sfumato.risk)


def test_the_facade_stays_callable_after_its_parts_are_imported():
    code = "import sfumato as sf, sfumato.measures.risk.linkage, sfumato.api.risk; assert callable(sf.risk)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def loaded(code):
    """Top-level modules that a fresh interpreter has loaded after `code`."""
    show = f"{code}; import sys; print(*sorted({{m.partition('.')[0] for m in sys.modules}}))"
    return set(subprocess.run([sys.executable, "-c", show], capture_output=True, text=True, check=True).stdout.split())


def test_importing_sfumato_costs_next_to_nothing():
    assert not loaded("import sfumato") & {"polars", "numpy", "scipy", "pydantic", "sklearn", "matplotlib", "rich"}


def test_the_version_is_told_without_loading_anything():
    code = "import sys; sys.argv = ['sfumato', '--version']; from sfumato.cli import main; main()"
    assert not loaded(code) & {"polars", "numpy", "typer", "pydantic"}


@pytest.mark.slow
def test_polars_users_load_no_pandas():
    code = "import polars as pl, sfumato as sf; sf.risk(pl.DataFrame({'a': ['x', 'x']}), by=['a'])"
    assert not loaded(code) & {"pandas", "sklearn", "matplotlib", "jax", "pyspark", "statsmodels"}


@pytest.mark.parametrize("name", methods())
def test_a_method_tells_every_parameter_in_its_docstring_and_nothing_else(name):
    assert parameters(methods()[name]).keys() == methods()[name].model_fields.keys()


def test_every_key_of_a_plan_is_told_in_the_docstring_of_its_class():
    for cls in (Plan, Variable, Missing, Limit):
        assert parameters(cls).keys() == cls.model_fields.keys()
    schema = Plan.json_schema()
    for part in (schema, *schema["$defs"].values()):
        assert part["description"]
        for key, value in part.get("properties", {}).items():
            assert value.get("description"), f"{part['title']}: {key}"


@pytest.mark.parametrize("name", methods())
def test_a_method_has_its_test_and_its_page(name):
    assert lawful(name)
    page = ROOT / "docs" / "methods" / f"{name}.md"
    assert page.exists()
    fields = set(methods()[name].model_fields) - {"do"}
    assert all(f"`{field}`" in page.read_text() for field in fields)


def test_every_file_that_gives_figures_holds_a_measure():
    """A finding's name is one of those that its file's measure says everything about; a form may have its own file."""
    for part in ("risk", "utility"):
        for path in sorted((ROOT / "src" / "sfumato" / "measures" / part).rglob("*.py")):
            if named := _measured(path):
                holder = HOMES.get(_home(path))
                assert holder, f"{path} gives figures and has no MEASURE among the entry points"
                assert named <= measures()[holder].names, path


def _home(path):
    """The module of the measure that a file belongs to: `linkage` of `linkage_people`, `measure` beside `people`."""
    file = "measure" if path.stem == "people" else re.sub("_(people|folded|released|units)$", "", path.stem)
    return ".".join((*path.relative_to(ROOT / "src").parts[:-1], file))


def _measured(path):
    """Measures that a module makes findings of: literal first arguments of `Finding(...)`."""
    calls = [n for n in ast.walk(parsed(path)) if isinstance(n, ast.Call)]
    named = [c for c in calls if getattr(c.func, "id", None) == "Finding" and c.args]
    return {c.args[0].value for c in named if isinstance(c.args[0], ast.Constant)}


@pytest.mark.parametrize(("module", "name"), HOMES.items())
def test_a_measure_has_its_test_and_its_page(module, name):
    *rooms, file = module.split(".")[1:]
    assert (ROOT / "tests" / Path(*rooms) / f"test_{file}.py").exists()
    page = (ROOT / "docs" / "reference" / "measures.md").read_text()
    assert all(f"\n### {figure}\n" in page for figure in measures()[name].names)


def test_no_source_names_a_registry():
    """Papers are the only addresses."""
    told = "".join(path.read_text() for path in [*ROOT.glob("requirements/*"), ROOT / "pyproject.toml"])
    assert set(re.findall(r"\w+://[^/\s]*", told)) <= {"https://doi.org"}


GUIDES = [ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs" / "decisions").glob("*.md"))]


def named_paths(text):
    """What stands in backticks and is a path: with a slash, or the name of a module."""
    words = re.findall(r"`([\w.<>/-]+)`", text)
    return {word for word in words if "/" in word or word.endswith(".py")}


@pytest.mark.parametrize("guide", GUIDES, ids=lambda path: path.name)
def test_every_path_that_a_guide_names_exists(guide):
    """From the root or from `src/sfumato`; the bare name of a module anywhere below that; `<name>` stands for any."""
    for path in named_paths(guide.read_text(encoding="utf-8")):
        pattern = re.sub(r"<\w+>", "*", path.rstrip("/"))
        package = ROOT / "src" / "sfumato"
        anywhere = "/" not in path and next(package.rglob(pattern), None)
        assert anywhere or any(next(place.glob(pattern), None) for place in (ROOT, package)), f"{guide.name}: {path}"


def test_a_guide_names_paths():
    assert {"release/order.py", "data/files/<format>.py"} <= named_paths(GUIDES[0].read_text(encoding="utf-8"))
