"""What plans of tests say of columns that are beside the matter of a test: nobody outside knows them, and why."""

from __future__ import annotations

from typing import Any

REASON = "asked for this test alone and told to nobody else"


def nobody_knows(*ids: str) -> list[dict[str, Any]]:
    """The lines `unknown` of a plan of whose release an intruder knows keys and strata alone.

    Parameters
    ----------
    ids
        Ids that leave unchanged, and `order` where the plan keeps the order of the input: `others` holds neither.
    """
    said: list[dict[str, Any]] = [{"columns": "others", "because": REASON}]
    return [*said, {"columns": list(ids), "because": REASON}] if ids else said
