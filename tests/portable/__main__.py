"""Compare releases between arithmetic back ends: the last step of `make test-portable`."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.portable.agreement import disagreements
from tests.portable.back_ends import BACK_ENDS, environment, taken


def _released(name: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Write the releases of a back end into a folder of its name."""
    command = [sys.executable, "-m", "tests.portable.releases", str(folder / name)]
    return subprocess.run(command, env={**os.environ, **environment(name)}, capture_output=True, text=True)


def _compared(names: list[str]) -> int:
    """Say where releases of back ends differ from those of the first; how many things failed."""
    with tempfile.TemporaryDirectory(prefix="sfumato-portable-") as temporary:
        folder = Path(temporary)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            done = pool.map(lambda name: _released(name, folder), names)
            written = dict(zip(names, done, strict=True))
        failed = [name for name, done in written.items() if done.returncode]
        for name in failed:
            print(f"FAIL {name}: ended with status {written[name].returncode}\n{written[name].stderr[-6000:]}")
        fine = [name for name in names if name not in failed]
        apart = [
            f"FAIL {fine[0]} and {n}: {told}" for n in fine[1:] for told in disagreements(folder / fine[0], folder / n)
        ]
        print("\n".join(apart) or f"releases agree: {', '.join(fine)}")
        return len(failed) + len(apart)


def main() -> int:
    """Compare, or tell the environments; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--environments", action="store_true", help="print those of all back ends and no more")
    given = parser.parse_args()
    names = taken()
    if given.environments:
        print(json.dumps({name: environment(name) for name in names}))
        return 0
    for left in [name for name in BACK_ENDS if name not in names]:
        print(f"{left}: left out, this processor cannot run it")
    return min(_compared(names), 1)


if __name__ == "__main__":
    sys.exit(main())
