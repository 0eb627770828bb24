"""Every example in the docs, the README and the docstrings runs; links resolve; generated pages are up to date."""

import doctest
import importlib
import importlib.util
import os
import pkgutil
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import sfumato
from sfumato.release.plan import Plan

ROOT = Path(__file__).parents[2]
PAGES = sorted([*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md"), ROOT / "benchmarks" / "README.md"])
MODULES = sorted(m.name for m in pkgutil.walk_packages(sfumato.__path__, "sfumato."))
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def name(path):
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("module", MODULES)
def test_docstring_examples(module):
    failed, _ = doctest.testmod(importlib.import_module(module), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert failed == 0


@pytest.mark.parametrize(
    "page", [ROOT / "docs" / "tutorial.md", ROOT / "docs" / "titanic.md", ROOT / "README.md"], ids=name
)
def test_a_page_runs_from_top_to_bottom(page, tmp_path, monkeypatch, request):
    if page.name == "titanic.md":
        data = request.getfixturevalue("shared_data") / "titanic.csv"
        (tmp_path / "titanic.csv").write_bytes(data.read_bytes())
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SFUMATO_SECRET", raising=False)
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    scope = {}
    for kind, text in BLOCK.findall(page.read_text()):
        if kind == "python":
            exec(compile(text, str(page), "exec"), scope)  # noqa: S102  our own pages
        elif kind == "yaml" and page.name == "titanic.md":
            Path("titanic.yaml").write_text(text)
        elif kind == "sh" and page.name != "README.md":  # the README's need the reader's own file
            done = subprocess.run(["bash", "-ec", text], env=environment, capture_output=True, text=True)
            assert done.returncode in (0, 1), done.stderr
            assert "Traceback" not in done.stderr


@pytest.mark.parametrize("page", sorted((ROOT / "docs" / "methods").glob("*.md")), ids=name)
def test_a_methods_step_can_be_loaded(page):
    (text,) = [text for kind, text in BLOCK.findall(page.read_text()) if kind == "yaml"]
    assert Plan.from_yaml(f"sfumato: 1\n{text}").steps[0].name == page.stem


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_resolve(page):
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), target


def test_generated_pages_are_up_to_date():
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    generate = importlib.util.module_from_spec(spec)
    sys.modules["generate"] = generate
    spec.loader.exec_module(generate)
    for page, text in generate.pages().items():
        assert (ROOT / "docs" / page).read_text() == text, f"{page}: run docs/generate.py"


@pytest.mark.slow
def test_the_built_site_asks_nothing_of_the_network(tmp_path):
    (tmp_path / "zensical.toml").write_text((ROOT / "zensical.toml").read_text())
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    command = [str(Path(sys.executable).parent / "zensical"), "build", "--clean"]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True).returncode == 0
    for page in (tmp_path / "site").rglob("*.html"):
        loaded = re.findall(r"<(?:script|link|img|iframe)[^>]*?(?:src|href)=\"?(https?://[^\"\s>]+)", page.read_text())
        outside = [url for url in loaded if 'rel="canonical"' not in url]
        assert not outside, (page, outside)
