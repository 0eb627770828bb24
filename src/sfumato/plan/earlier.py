"""What a plan says of earlier releases of the same people."""

from __future__ import annotations

from pydantic import ConfigDict, Field

from sfumato.data.described import Described

__all__ = ["EarlierRelease"]


class EarlierRelease(Described):
    """An earlier release of the same people, with the true values that it was made from, where they are still there.

    What its steps disclosed is taken over where the new plan has the same step, so that values that did not change keep
    their draws. With true values, what it tells beside the new release is measured (`differencing`).

    Parameters
    ----------
    release
        Its folder, or its data file.
    truth
        The data file that it was made from; without it, what the release tells beside a new one is not measured.

    Examples
    --------
    >>> EarlierRelease(release="wave1", truth="wave1.csv").release
    'wave1'
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    release: str = Field(min_length=1)
    truth: str | None = Field(default=None, min_length=1)
