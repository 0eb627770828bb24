"""Runs the examples of a page from top to bottom, in one folder and one Python scope.

====================  ===============================================================================================
```` ```sh ````       run, each line in a shell of its own; must leave with status 0, or with that of `<!-- exit: 1 -->`
                      on the line before
```` ```text ````     after a sh block: its lines stand in that order in what the commands printed to stdout and then to
                      stderr, blanks and line breaks apart; a line `…` stands for anything
```` ```python ````   run
```` ```pycon ````    run as a doctest
```` ```yaml ````     with `<!-- file: name -->` before it, written to that file; else it must be (part of) a plan;
                      a gate's configuration, and a file `policies.yaml`, must be one
====================  ===============================================================================================

`<!-- not run: reason -->` before a block leaves it out.
"""

import doctest
import math
import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from sfumato.data.yaml import load_yaml
from sfumato.gate.config import Config
from sfumato.gate.policies import policies_of
from sfumato.plan.plan import Plan
from tests.e2e.command import sfumato

BLOCK = re.compile(r"^(?:<!-- ([\w ]+): (.+?) -->\n)?```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PARTS = ("variables", "steps", "limits")
FIGURE = re.compile(r"-?\d+\.\d{3,}")  # of three decimals or more: measured, and not a count or a rounded share
PLAIN = re.compile(r"sfumato [\w\s,./:=@-]*(> [\w.]+ *)?(#.*)?")
QUOTED = re.compile(r"""'[^']*'|"[^"$`\\]*\"""")


def run_line(line, drawn=False):
    """Run a line of a shell; what is plainly one command of sfumato, without a process that imports all anew.

    Pictures of reports are sketches unless they are to be `drawn`: no page shows them.
    """
    if plain := PLAIN.fullmatch(QUOTED.sub("", line)):
        words, into = shlex.split(line, comments=True)[1:], None
        if plain[1]:
            *words, _, into = words
        pictures = None if drawn else "tests.e2e.sketching:sketch"
        done = sfumato(*words, cwd=os.getcwd(), env={"COLUMNS": "100"}, before=pictures)
        if into:
            Path(into).write_text(done.stdout, encoding="utf-8")
            done.stdout = ""
        return done
    environment = {k: v for k, v in os.environ.items() if k != "SFUMATO_SECRET"}
    environment |= {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "100"}
    return subprocess.run(["bash", "-euc", line], env=environment, capture_output=True, text=True)


def squeezed(text):
    """The words of a text with one blank between them."""
    return " ".join(text.split())


class NearlyAsShown(doctest.OutputChecker):
    """Figures of three decimals may differ a little: where an iterative fit ends hangs on the processor's rounding."""

    def check_output(self, want, got, optionflags):
        if super().check_output(want, got, optionflags):
            return True
        shown, printed = FIGURE.findall(want), FIGURE.findall(got)
        alike = super().check_output(FIGURE.sub("#", want), FIGURE.sub("#", got), optionflags)
        return alike and all(nearly(a, b) for a, b in zip(shown, printed, strict=True))


def nearly(shown, printed):
    """Whether two figures with the same decimals differ by three units of the last, or by half a percent, at most.

    Both are hundredths of the standard errors that the pages show.
    """
    decimals, same = (len(figure.partition(".")[2]) for figure in (shown, printed))
    near = math.isclose(float(shown), float(printed), rel_tol=0.005, abs_tol=3.5 * 10.0**-decimals)
    return decimals == same and near


@dataclass
class Page:
    """The blocks of a page, and what they have done so far."""

    path: Path
    drawn: bool = False
    """Whether reports have their pictures drawn."""
    scope: dict = field(default_factory=dict)
    printed: str = ""
    ran: int = 0

    def run(self):
        """Run all blocks in the current folder."""
        for found in BLOCK.finditer(self.path.read_text(encoding="utf-8")):
            word, value, kind, text = found.groups()
            if word != "not run":
                getattr(self, kind, self.other)(text, {word: value})
                self.ran += 1
        return self

    def other(self, text, said):
        """Blocks that only show something, such as JSON."""

    def sh(self, text, said):
        out, err, status = "", "", 0
        for line in text.replace("\\\n", " ").splitlines():
            done = run_line(line, self.drawn)
            out, err, status = out + done.stdout, err + done.stderr, done.returncode
            if status:
                break
        assert status == int(said.get("exit", 0)), f"{self.path.name}:\n{text}\n{err}"
        if "token_bytes" in text:  # a page's own secret, made for good: the figures that it shows can be checked
            Path("key").write_bytes(b"a secret for the pages, and no one")
        self.printed = squeezed(out + "\n" + err)

    def text(self, text, said):
        at = 0
        for part in re.split(r"^…$", text, flags=re.MULTILINE):
            place = self.printed.find(squeezed(part), at)
            assert place >= 0, f"{self.path.name}: not printed, or not in this order:\n{part}\nbut:\n{self.printed}"
            at = place + len(squeezed(part))

    def python(self, text, said):
        exec(compile(text, str(self.path), "exec"), self.scope)  # noqa: S102  our own pages

    def pycon(self, text, said):
        options = doctest.NORMALIZE_WHITESPACE
        test = doctest.DocTestParser().get_doctest(text, self.scope, self.path.name, str(self.path), 0)
        told = []
        runner = doctest.DocTestRunner(NearlyAsShown(), optionflags=options, verbose=False)
        runner.run(test, out=told.append, clear_globs=False)
        assert not runner.failures, "".join(told)
        self.scope.update(test.globs)

    def yaml(self, text, said):
        if text.startswith("gate:"):
            Config.model_validate(load_yaml(text)[0])
        elif said.get("file") == "policies.yaml":
            policies_of(*load_yaml(text), self.path.name)
        else:
            whole = text if text.startswith("sfumato:") else f"sfumato: 1\n{text}"
            assert whole != text or text.partition(":")[0] not in PARTS
            Plan.from_yaml(whole)
        if "file" in said:
            Path(said["file"]).write_text(text, encoding="utf-8")
