"""What the gate's routes are, for programs: OpenAPI 3.1, with who may reach what, from the table of `access`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI

from sfumato.web.gate.access import TABLE, Rule
from sfumato.web.problems import MEDIA_TYPE

__all__ = ["described"]

_PROBLEM = {
    "title": "Problem",
    "description": "What is wrong (RFC 9457).",
    "type": "object",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"at": {"type": "array"}, "message": {"type": "string"}},
            },
        },
    },
}
_SCHEMES = {
    "token": {"type": "http", "scheme": "bearer", "description": "A token, for the scopes that it has."},
    "session": {
        "type": "apiKey",
        "in": "cookie",
        "name": "sfumato_gate",
        "description": "A session (its name has the port). Changes need the header `X-Sfumato: 1`.",
    },
}
_SAID = {
    400: "A token and a session at once, or another host.",
    401: "Nobody is logged in.",
    403: "Role or scope is lacking.",
    404: "There is nothing of this name, or it is somebody else's.",
    408: "The body came too slowly.",
    409: "The key stood with another request.",
    413: "The body is too large.",
    422: "The request cannot be read, or names what there is not.",
    429: "A limit is reached.",
    503: "The data set, or the store, stands still.",
}


def described(app: FastAPI) -> dict[str, Any]:
    """The description of an application's routes, made once.

    Parameters
    ----------
    app
        Whose routes.
    """
    if app.openapi_schema is None:
        made = FastAPI.openapi(app)
        parts = made.setdefault("components", {})
        schemas = parts.setdefault("schemas", {})
        for name in ("HTTPValidationError", "ValidationError"):
            schemas.pop(name, None)
        schemas["Problem"] = _PROBLEM
        parts["securitySchemes"] = _SCHEMES
        for path, operations in made["paths"].items():
            for method, operation in operations.items():
                _told(operation, TABLE[method.upper(), path], method.upper())
    assert app.openapi_schema is not None
    return app.openapi_schema


def _told(operation: dict[str, Any], rule: Rule, method: str) -> None:
    responses: dict[str, Any] = operation["responses"]
    responses.pop("422", None)
    wanted = [400, 404, 422, 429, 503]
    wanted += [] if rule.anonymous and "release" not in operation["operationId"] else [401, 403]
    wanted += [401, 403] if "login" in operation["operationId"] or "come_back" in operation["operationId"] else []
    wanted += [] if method == "GET" else [403, 408, 409, 413]
    for status in sorted({*wanted, 401}):
        responses.setdefault(str(status), _response(status))
    if not rule.anonymous:
        operation["security"] = ([{"token": []}] if rule.scopes else []) + [{"session": []}]
        roles = ", ".join(sorted(rule.roles))
        scopes = ", ".join(sorted(rule.scopes))
        with_token = f"With a token that has one of the scopes {scopes}." if scopes else "With a session, not a token."
        operation["description"] = f"{operation.get('description', '')}\n\nFor: {roles}. {with_token}"


def _response(status: int) -> Mapping[str, Any]:
    schema = {"$ref": "#/components/schemas/Problem"}
    return {"description": _SAID[status], "content": {MEDIA_TYPE: {"schema": schema}}}
