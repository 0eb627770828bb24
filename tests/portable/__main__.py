"""Run the numeric tests under several arithmetic back ends, and compare their releases: `make test-portable`."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.portable.agreement import disagreements
from tests.portable.back_ends import BACK_ENDS, environment, taken

_TESTS = (
    *("kernels", "inference", "measures", "methods", "laws", "golden", "recovery"),
    "docs/test_docs.py::test_docstring_examples",
)
_TESTED = {"old", "haswell"}  # linear algebra for `zen` is that of `haswell`; newer processors' is run by `make test`
_SHOWN = 6_000  # last characters of what a failed process printed


def _run(back_end: str, what: Sequence[str], cache: Path) -> tuple[bool, str]:
    """Whether a module of Python ran well under a back end, and what it printed."""
    done = subprocess.run(
        [sys.executable, "-m", *what], env=environment(back_end, cache), capture_output=True, text=True
    )
    ended = f"\nended by signal {-done.returncode}" if done.returncode < 0 else ""
    return done.returncode == 0, (done.stdout + done.stderr)[-_SHOWN:] + ended


def main() -> int:
    """Run everything, say what was found, and give the exit status."""
    names = taken()
    for left in [name for name in BACK_ENDS if name not in names]:
        print(f"{left}: left out, this processor cannot run it")
    tests = [str(Path("tests") / t) for t in _TESTS]
    with tempfile.TemporaryDirectory(prefix="sfumato-portable-") as temporary:
        folder = Path(temporary)
        jobs = [(name, "releases", ["tests.portable.releases", str(folder / name)]) for name in names]
        jobs += [
            (name, "tests", ["pytest", "-q", "-p", "no:cacheprovider", *tests]) for name in names if name in _TESTED
        ]
        failed = 0
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            start = time.monotonic()
            running = [(name, what, pool.submit(_run, name, command, folder / "numba")) for name, what, command in jobs]
            for name, what, job in running:
                fine, printed = job.result()
                print(f"{name}: {what} {'pass' if fine else 'FAIL'} ({time.monotonic() - start:.0f} s)", flush=True)
                failed += not fine
                if not fine:
                    print(printed)
        if not failed:
            apart = [f"{names[0]} and {n}: {told}" for n in names[1:] for told in _apart(folder, names[0], n)]
            print("\n".join(apart) or f"releases agree: {', '.join(names)}")
            failed += len(apart)
    return min(failed, 1)


def _apart(folder: Path, one: str, other: str) -> list[str]:
    return disagreements(folder / one, folder / other)


if __name__ == "__main__":
    sys.exit(main())
