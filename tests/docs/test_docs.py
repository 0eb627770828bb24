"""Every example in the docs, the README and the docstrings runs; links resolve; generated pages are up to date."""

import doctest
import functools
import http.server
import importlib
import importlib.util
import io
import json
import pkgutil
import re
import shutil
import subprocess
import sys
import threading
from contextlib import redirect_stdout
from pathlib import Path

import pytest
import typer.main
import typer.testing

import sfumato
from sfumato.data.grammar import FUNCTIONS
from sfumato.methods.registry import methods
from sfumato.plan.plan import Plan
from tests.docs.runner import BLOCK, Page
from tests.docs.typed import excerpt_of
from tests.made_once import made_once
from tests.release.brief import sketched

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([*DOCS.rglob("*.md"), *ROOT.glob("*.md"), ROOT / "benchmarks" / "README.md"])
MODULES = sorted(m.name for m in pkgutil.walk_packages(sfumato.__path__, "sfumato."))
RUNNABLE = [
    p
    for p in PAGES
    if p.parent == DOCS or p.parent.name in ("howto", "methods", "tables", "gate") or p.name == "release.md"
]
SLOW = {
    *("docs/howto/tune.md", "docs/index.md", "docs/titanic.md", "docs/noise.md", "docs/fit.md"),
    *("docs/gate/index.md", "docs/gate/steward.md", "docs/gate/analyses.md", "docs/tutorial.md"),
    *(f"docs/howto/{page}.md" for page in ("synthetic", "several_tables", "intruder", "python")),
    *(f"docs/tables/{page}.md" for page in ("hand_out", "suppress", "releases", "index", "linked", "perturb")),
}
NOT_RUN = {
    "make demo": "sets up an environment; continuous integration runs it",
    "make test": "runs this very test",
}
"""Lines of the README that are left out, with the reason."""


def name(path):
    return str(path.relative_to(ROOT))


def page(path):
    return pytest.param(path, id=name(path), marks=[pytest.mark.slow] if name(path) in SLOW else [])


def module_of_examples(module):
    """A module to try; the examples of one load ArviZ, which takes seconds."""
    return pytest.param(module, marks=[pytest.mark.slow] if module == "sfumato.inference.result" else [])


@pytest.mark.parametrize("module", [module_of_examples(module) for module in MODULES])
def test_docstring_examples(module):
    with redirect_stdout(io.StringIO()) as told:
        failed, _ = doctest.testmod(importlib.import_module(module), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert failed == 0, told.getvalue()


def test_an_excerpt_stands_in_its_file():
    excerpts = [found for path in PAGES for found in BLOCK.finditer(path.read_text()) if excerpt_of(found)]
    assert excerpts
    assert all(found[4] in excerpt_of(found).read_text() for found in excerpts)


@pytest.mark.parametrize("path", [page(p) for p in RUNNABLE])
def test_a_page_runs_from_top_to_bottom(path, tmp_path, monkeypatch, request):
    if path.name == "titanic.md":
        shutil.copyfile(request.getfixturevalue("shared_data") / "titanic.csv", tmp_path / "titanic.csv")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SFUMATO_SECRET", raising=False)
    Page(path).run()


@pytest.mark.slow
def test_the_readme_runs(tmp_path, monkeypatch):
    """Its second block needs the reader's own file and secret, which are put there. Its reports have their pictures."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for line, reason in NOT_RUN.items():
        assert re.search(rf"^{line}\b.*\n", text, re.MULTILINE), f"{line} is not in the README any more ({reason})"
        text = re.sub(rf"^{line}\b.*\n", "", text, flags=re.MULTILINE)
    (tmp_path / "README.md").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SFUMATO_SECRET", raising=False)
    sfumato.examples.cohort(1000).write_csv("cohort.csv")
    Path("key").write_bytes(bytes(range(32)))
    assert Page(tmp_path / "README.md", drawn=True).run().ran >= 4
    assert Path("release/report.html").read_text(encoding="utf-8").count("<path") > 10


def test_no_example_hides():
    """Pages that are not run have no block that could be, and a block that is left out says why."""
    for path in set(PAGES) - set(RUNNABLE) - {ROOT / "README.md"}:
        kinds = {found[3] for found in BLOCK.finditer(path.read_text(encoding="utf-8"))}
        assert not kinds & {"sh", "python", "pycon", "yaml"}, name(path)
    for path in PAGES:
        text = path.read_text(encoding="utf-8")
        assert len(BLOCK.findall(text)) >= len(re.findall(r"^```\w+$", text, re.MULTILINE)), name(path)
        for word, value, *_ in BLOCK.findall(text):
            assert word in ("", "file", "exit", "not run"), name(path)
            assert not word or value.strip(), name(path)


def test_a_wrong_figure_on_a_page_is_found(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for kind, wrong in {
        "text": "```sh\necho 5\n```\n\n```text\n6\n```\n",
        "order": "```sh\necho 5 6\n```\n\n```text\n6\n…\n5\n```\n",
        "pycon": "```pycon\n>>> 2 + 2\n5\n\n```\n",
        "figure": "```pycon\n>>> print(0.105)\n0.101\n\n```\n",
        "decimals": "```pycon\n>>> print(0.5)\n0.500\n\n```\n",
        "exit": "```sh\nfalse\n```\n",
        "yaml": "```yaml\nsteps:\n  - {do: dorp}\n```\n",
    }.items():
        Path("page.md").write_text(wrong)
        try:
            Page(Path("page.md")).run()
        except (AssertionError, sfumato.errors.PlanError):
            continue
        pytest.fail(f"{kind}: the fault was not seen")


def test_figures_of_a_fit_may_end_a_little_elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("page.md").write_text("```pycon\n>>> print('0.5  ours', -0.101, 3.26404)\n0.5  ours -0.099 3.26416\n\n```\n")
    assert Page(Path("page.md")).run().ran == 1


@pytest.mark.parametrize("do", list(methods()))
def test_the_page_of_a_method_tells_every_parameter_with_its_default(do):
    text = (DOCS / "methods" / f"{do}.md").read_text(encoding="utf-8")
    assert f"| [`{do}`]" not in text
    step = next(t for *_, kind, t in BLOCK.findall(text) if kind == "yaml")
    assert Plan.from_yaml(f"sfumato: 1\n{step}").steps[0].name == do
    told = dict(re.findall(r"^\| `(\w+)` \| (\S.*?) \|", text, re.MULTILINE))
    fields = {n: f for n, f in methods()[do].model_fields.items() if n != "do"}
    assert told.keys() == fields.keys()
    for parameter, field in fields.items():
        if parameter == "min_stratum":
            continue  # it depends on k
        default = None if field.is_required() else field.get_default(call_default_factory=True)
        written = default if isinstance(default, str) else json.dumps(default)
        assert told[parameter] == ("required" if field.is_required() else f"`{written}`"), parameter
    for part in ("Protects", "What analysts are told", "doi.org") if do != "derive" else ("Protects",):
        assert part.lower() in text.lower(), part


def test_figures_that_are_quoted_stand_on_the_page_that_computes_them():
    quoted = {"choose.md": ("89%", "20%", "841", "283"), "promise.md": ("89%",)}
    tutorial = (DOCS / "tutorial.md").read_text(encoding="utf-8")
    for path, figures in quoted.items():
        text = (DOCS / path).read_text(encoding="utf-8")
        assert all(figure in text and figure in tutorial for figure in figures), path


def test_every_function_of_a_formula_is_told():
    text = (DOCS / "methods" / "derive.md").read_text(encoding="utf-8")
    assert all(f"`{function}(" in text for function in FUNCTIONS)


def anchors(path):
    """The anchors of a page's headings, as the site makes them."""
    headings = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", h).strip().lower()) for h in headings}


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_links_resolve(path):
    for target, anchor in re.findall(r"\]\(([^)#\s]*)(?:#([^)]*))?\)", path.read_text(encoding="utf-8")):
        if "://" not in target:
            there = path.parent / target if target else path
            assert there.exists(), target
            assert not anchor or anchor in anchors(there), f"{target}#{anchor}"


@pytest.mark.slow
def test_generated_pages_are_up_to_date(monkeypatch):
    """With the commands read off the functions once, and without pictures: no page shows what is drawn."""
    spec = importlib.util.spec_from_file_location("generate", DOCS / "generate.py")
    generate = importlib.util.module_from_spec(spec)
    sys.modules["generate"] = generate
    spec.loader.exec_module(generate)
    once = functools.cache(typer.main.get_command)
    monkeypatch.setattr(typer.main, "get_command", once)
    monkeypatch.setattr(typer.testing, "_get_command", once)
    with sketched():
        written = generate.pages()
    for path, text in written.items():
        assert (DOCS / path).read_text(encoding="utf-8") == text, f"{path}: run docs/generate.py"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site, built where a wrong link or a page that is missing from the menu is an error."""

    def build(folder):
        shutil.copyfile(ROOT / "zensical.toml", folder / "zensical.toml")
        shutil.copytree(DOCS, folder / "docs", ignore=shutil.ignore_patterns("__pycache__"))
        command = [str(Path(sys.executable).parent / "zensical"), "build", "--clean", "--strict"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr

    return made_once(tmp_path_factory, "site", build) / "site"


def test_the_site_has_every_page_and_nothing_else_of_docs(site):
    menu = set(re.findall(r'"([\w/-]+\.md)"', (ROOT / "zensical.toml").read_text(encoding="utf-8")))
    pages = {str(p.relative_to(DOCS)) for p in DOCS.rglob("*.md") if p.name != "table.md"}
    assert menu == pages
    assert not list(site.rglob("*.py"))


@pytest.mark.slow
def test_the_built_site_asks_nothing_of_the_network(site):
    loading = re.compile(
        r"<(?:script|link|img|iframe|source|video|audio|object)\b[^>]*?\b(?:src|href|data)=[\"']?((?:https?:)?//[^\"'\s>]+)"
    )
    for path in site.rglob("*.html"):
        outside = loading.findall(re.sub(r'<link rel="canonical"[^>]*>', "", path.read_text(encoding="utf-8")))
        assert not outside, (path.name, outside)
    for path in site.rglob("*.css"):
        outside = re.findall(r"(?:url\(|@import )[\"']?((?:https?:)?//[^\"')\s]+)", path.read_text(encoding="utf-8"))
        assert not outside, (path.name, outside)


@pytest.mark.browser
def test_a_browser_that_reads_the_site_asks_its_own_server_alone(browser, site):
    serve = functools.partial(Quiet, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), serve) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        opened, asked = browser.new_page(), []
        opened.on("request", lambda r: asked.append(r.url))
        home = f"http://127.0.0.1:{server.server_port}/"
        for path in ("index.html", "tutorial/index.html", "sensitivity/index.html", "reference/measures/index.html"):
            opened.goto(home + path, wait_until="networkidle")
            assert opened.title()
        opened.close()
        server.shutdown()
    assert len(asked) > 10
    assert [url for url in asked if not url.startswith((home, "data:", "blob:"))] == []


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass
