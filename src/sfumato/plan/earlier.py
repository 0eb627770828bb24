"""What a plan says of earlier releases of the same people."""

from __future__ import annotations

from pydantic import ConfigDict, Field

from sfumato.data.described import Described

__all__ = ["EarlierRelease"]


class EarlierRelease(Described):
    """An earlier release of the same people, with the true values that it was made from.

    Parameters
    ----------
    release
        Its folder, or its data file.
    truth
        The data file that it was made from.

    Examples
    --------
    >>> EarlierRelease(release="wave1", truth="wave1.csv").release
    'wave1'
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    release: str = Field(min_length=1)
    truth: str = Field(min_length=1)
