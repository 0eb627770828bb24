"""Where the real data sets lie that some tests need."""

import os
from collections.abc import Mapping
from pathlib import Path


def real_data(environ: Mapping[str, str] = os.environ) -> Path:
    """The folder that SFUMATO_DATA names; unset or set to nothing, the one beside the repository."""
    return Path(environ.get("SFUMATO_DATA") or Path(__file__).parents[2] / "shared" / "data")
