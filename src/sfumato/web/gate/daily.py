"""Every day at an hour of the configuration all that was given is proved; what is found wrong stops the answers."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

from sfumato.gate.service import Gate

__all__ = ["daily", "until"]


def until(hour: str, moment: datetime) -> float:
    """How many seconds it is until an hour comes next.

    Parameters
    ----------
    hour
        `"03:00"`, UTC.
    moment
        From when on.

    Examples
    --------
    >>> until("03:00", datetime(2026, 1, 1, 2, 59, tzinfo=UTC)), until("03:00", datetime(2026, 1, 1, 3, tzinfo=UTC))
    (60.0, 86400.0)
    """
    own, minute = map(int, hour.split(":"))
    next_ = moment.replace(hour=own, minute=minute, second=0, microsecond=0)
    return ((next_ if next_ > moment else next_ + timedelta(days=1)) - moment).total_seconds()


@contextmanager
def daily(gate: Gate) -> Iterator[None]:
    """Prove all that a gate gave, every day while this lasts, in a thread of its own; nothing where no hour is named.

    Each process of a server proves for itself: what stops one stops all.
    """
    hour = gate.config.server.verify
    if hour is None:
        yield
        return
    ended = threading.Event()

    def proving() -> None:
        while not ended.wait(until(hour, datetime.now(UTC))):
            gate.prove()

    threading.Thread(target=proving, daemon=True).start()
    try:
        yield
    finally:
        ended.set()
