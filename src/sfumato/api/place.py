"""Put a release that was written somewhere where it is wanted."""

from __future__ import annotations

import shutil
from os import PathLike
from pathlib import Path

from sfumato.errors import FileError
from sfumato.release.package.folder import refuse_existing, whole_folder

__all__ = ["place"]


def place(release: str | PathLike[str], folder: str | PathLike[str], *, overwrite: bool = False) -> None:
    """Copy a release folder, byte for byte, so that the copy is there whole or not at all.

    Parameters
    ----------
    release
        The folder that `protect` wrote.
    folder
        Where to. The folder above it must be there.
    overwrite
        Whether an existing release there may be replaced.

    Raises
    ------
    ReleaseExists
        Where there is something already that may not be replaced.
    FileError
        Where it cannot be written.

    Examples
    --------
    >>> import tempfile, polars as pl
    >>> from sfumato import Plan, protect, steps
    >>> rows = pl.DataFrame({"id": range(30), "age": [20.0 + i for i in range(30)]})
    >>> plan = Plan(
    ...     variables={"id": {"role": "record"}},
    ...     steps=[steps.Noise(columns=["age"], sd=2)],
    ...     unknown=[{"columns": ["id"], "because": "numbers drawn for this release alone"}],
    ... )
    >>> with tempfile.TemporaryDirectory() as there:
    ...     _ = protect(plan, rows, secret=bytes(16)).write(f"{there}/a")
    ...     place(f"{there}/a", f"{there}/b")
    ...     sorted(path.name for path in Path(there, "b").iterdir())
    ['data.parquet', 'datapackage.json', 'plan.yaml', 'report.html']
    """
    target = Path(folder)
    refuse_existing(target, overwrite)
    if not target.parent.is_dir():
        raise FileError(f"{str(target.parent)!r} is no folder: make it first, or choose another.")
    with whole_folder(target, overwrite=overwrite) as work:
        for path in sorted(Path(release).rglob("*")):  # one by one: copytree tells of errors without their reason
            to = work / path.relative_to(release)
            if path.is_dir():
                to.mkdir()
            else:
                shutil.copyfile(path, to)
