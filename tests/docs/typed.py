"""Types of the Python in the documentation: `python -m tests.docs.typed CACHE` checks it in mypy's strict mode.

All blocks of a page are one module, for they share one scope when they run, and a line keeps its number on the page. Of
what is typed at a prompt only names are used: a figure that may be None is compared there without a word. Excerpts are
checked in the file that they are of.
"""

import doctest
import re
import sys
import tempfile
from pathlib import Path

from tests.docs.runner import BLOCK

ROOT = Path(__file__).parents[2]


def module_of(page):
    """The Python of a page, each line at its place, and the lines that are no prompt's."""
    lines, checked = page.count("\n") * [""], set()
    for found in BLOCK.finditer(page):
        kind, text = found.group(3, 4)
        if kind in ("python", "pycon") and not excerpt_of(found):
            at = page.count("\n", 0, found.start(4))
            source = text.splitlines() if kind == "python" else _typed_in(text)
            lines[at : at + len(source)] = source
            checked |= set(range(at + 1, at + 1 + len(source))) if kind == "python" else set()
    return "\n".join(lines) + "\n", checked


def excerpt_of(found):
    """The file that a block is an excerpt of, by `<!-- not run: path -->`; None for others."""
    path = ROOT / (found[2] or "")
    return path if found[1] == "not run" and path.is_file() else None


def _typed_in(text):
    lines = text.count("\n") * [""]
    for example in doctest.DocTestParser().get_examples(text):
        source = example.source.splitlines()
        lines[example.lineno : example.lineno + len(source)] = source
    return lines


def errors(pages, *options):
    """What mypy says of the blocks of pages, by page and line."""
    from mypy import api

    with tempfile.TemporaryDirectory() as folder:
        told, modules = {}, []
        for i, page in enumerate(pages):
            if page.suffix == ".py":
                modules.append(str(page))
                continue
            source, checked = module_of(page.read_text(encoding="utf-8"))
            if checked:
                modules.append(str(Path(folder) / f"page_{i}.py"))
                Path(modules[-1]).write_text(source, encoding="utf-8")
                told[f"page_{i}"] = (page, checked)
        config = ["--config-file", str(ROOT / "pyproject.toml"), "--allow-redefinition"]
        printed, failed, status = api.run([*config, *options, *modules])
    if status == 2:
        return [failed or printed]
    lines = re.findall(r"^(.*?(\w+)\.py):(\d+): error: (.*)", printed, re.MULTILINE)
    return [
        f"{told[name][0] if name in told else path}:{line}: error: {what}"
        for path, name, line, what in lines
        if name not in told or int(line) in told[name][1]
    ]


if __name__ == "__main__":
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    examples = sorted((ROOT / "examples").glob("*/src/*/*.py"))
    found = errors([*pages, *examples], "--cache-dir", sys.argv[1])
    print(*found, sep="\n")
    sys.exit(bool(found))
