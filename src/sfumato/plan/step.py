"""What may stand among a plan's steps: the parameters of any method, told apart by `do`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Union

from pydantic import Field

from sfumato.methods.base import Method
from sfumato.methods.registry import failed_methods, methods
from sfumato.plug_ins import and_left_out

__all__ = ["AnyStep", "step_words"]

if TYPE_CHECKING:
    AnyStep = Method
else:
    AnyStep = Annotated[Union[tuple(methods().values())], Field(discriminator="do")]  # noqa: UP007


def step_words() -> dict[str, str]:
    """Own sentences for what is wrong with `do`, by pydantic's type of error.

    Examples
    --------
    >>> step_words()["union_tag_not_found"].startswith("`do` must name a method: anonymise, ")
    True
    """
    no_method = f"`do` must name a method: {', '.join(methods())}{and_left_out(failed_methods())}"
    return dict.fromkeys(("union_tag_invalid", "union_tag_not_found"), no_method)
