"""Models whose JSON Schema says what each field means, as the class's docstring has it."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from sfumato.data.docstring import parameters, prose

__all__ = ["Described"]


class Described(BaseModel):
    """A model whose fields are described by the `Parameters` of its docstring and of the classes that it is made of.

    Examples
    --------
    >>> class Drop(Described):
    ...     '''Leave columns out.
    ...
    ...     Parameters
    ...     ----------
    ...     columns
    ...         The columns.
    ...     '''
    ...     columns: list[str]
    >>> Drop.json_schema()["description"], Drop.json_schema()["properties"]["columns"]["description"]
    ('Leave columns out.', 'The columns.')
    """

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        schema = handler(core_schema)
        told = parameters(cls)
        told |= {f.alias: told[n] for n, f in cls.model_fields.items() if f.alias is not None and n in told}
        for name, part in handler.resolve_ref_schema(schema).get("properties", {}).items():
            if name in told:
                part["description"] = told[name]
        return schema

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """The JSON Schema, in which descriptions are prose: without the sections of docstrings."""
        schema = cls.model_json_schema()
        for part in (schema, *schema.get("$defs", {}).values()):
            if "description" in part:
                part["description"] = prose(part["description"])
        return schema
