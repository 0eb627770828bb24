"""What processes that ask a gate have loaded before they start: each would load it again by its first question."""

from contextlib import suppress

import pyarrow.csv  # noqa: F401
import sqlalchemy.dialects.postgresql.psycopg
import sqlalchemy.dialects.sqlite  # noqa: F401
from numba.core.registry import cpu_target

import sfumato.data.files.csv
import sfumato.gate.replay
import sfumato.gate.store.store  # noqa: F401

with suppress(ImportError):  # not every environment has it
    import psycopg  # noqa: F401

cpu_target.typing_context.refresh()  # what every compiled function asks for
cpu_target.target_context.refresh()
