"""What may stand among a plan's steps: the parameters of any method, told apart by `do`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Union

from pydantic import Field, GetCoreSchemaHandler, GetJsonSchemaHandler, TypeAdapter
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticKnownError, core_schema

from sfumato.methods.base import Method
from sfumato.methods.registry import failed_methods, method, methods
from sfumato.plan.field_words import step_meant
from sfumato.plug_ins import and_left_out

__all__ = ["AnyStep", "step_words"]


class _ByName:
    """Has a step validated by the method that its `do` names: to read a plan loads no method that it does not use.

    The JSON Schema, and what is said of a `do` that names none, are those of a union of all methods.
    """

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(_validated)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        every: Any = Annotated[Union[tuple(methods().values())], Field(discriminator="do")]  # noqa: UP007
        return handler(TypeAdapter(every).core_schema)


def _validated(given: Any) -> Method:
    if not isinstance(given, Mapping | Method):
        raise PydanticKnownError("model_attributes_type")
    do = given.get("do") if isinstance(given, Mapping) else getattr(given, "do", None)
    if do is None:
        raise PydanticKnownError("union_tag_not_found", {"discriminator": "'do'"})
    named = method(do) if isinstance(do, str) else None
    if named is None:
        if (meant := step_meant(str(do), methods())) is not None:
            raise ValueError(f"{_no_method()}. Did you mean {meant!r}?")
        tags = ", ".join(map(repr, methods()))
        raise PydanticKnownError("union_tag_invalid", {"discriminator": "'do'", "tag": str(do), "expected_tags": tags})
    return named.model_validate(given)


if TYPE_CHECKING:
    AnyStep = Method
else:
    AnyStep = Annotated[Method, _ByName()]


def step_words() -> dict[str, str]:
    """Own sentences for what is wrong with `do`, by pydantic's type of error.

    Examples
    --------
    >>> step_words()["union_tag_not_found"].startswith("`do` must name a method: anonymise, ")
    True
    """
    return dict.fromkeys(("union_tag_invalid", "union_tag_not_found"), _no_method())


def _no_method() -> str:
    return f"`do` must name a method: {', '.join(methods())}{and_left_out(failed_methods())}"
