"""What a plan's steps do to columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sfumato.data.traces import Traces
from sfumato.methods.base import Method

__all__ = ["traces_of"]


def traces_of(steps: Sequence[Method], late: Sequence[Method], known: Iterable[str] = ()) -> Traces:
    """Columns by what steps do to them.

    Parameters
    ----------
    steps
        All steps.
    late
        Those that do not prepare.
    known
        Columns that single intruders are said to know.

    Examples
    --------
    >>> from sfumato.methods.noise import Noise
    >>> noise = (Noise(columns=("age",), by=("sex",), share=0.2),)
    >>> traces = traces_of(noise, noise)
    >>> traces.masked, traces.strata, traces.coarsened
    (('age',), ('sex',), ())
    """
    masking = [step for step in steps if step.masks]
    coarsened = _changed(step for step in late if step.coarsens and not step.stays_comparable)
    comparable = _changed(step for step in late if step.coarsens and step.stays_comparable)
    return Traces(
        masked=_changed(masking),
        strata=tuple(dict.fromkeys(n for step in masking for n in step.strata)),
        coarsened=coarsened,
        comparable=tuple(n for n in comparable if n not in coarsened),
        replaced=_changed(step for step in late if step.replaces),
        changed=_changed(step for step in late if not (step.masks or step.replaces)),
        late=_changed(late),
        keys=tuple(dict.fromkeys(n for step in steps for n in getattr(step, "keys", ()))),
        known=tuple(dict.fromkeys(known)),
    )


def _changed(steps: Iterable[Method]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(n for step in steps for n in step.changes))
