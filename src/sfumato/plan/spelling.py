"""How names are spelt in YAML, so that they are read back as they are."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from sfumato.data.unseen import seen

__all__ = ["yaml_list", "yaml_text"]

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_WORDS = {"null", "true", "false", "yes", "no", "on", "off", "y", "n"}
"""Words that a reader of YAML takes for something else than a text."""


def yaml_text(text: str) -> str:
    """A text as a YAML scalar; JSON's strings are YAML's.

    Examples
    --------
    >>> yaml_text("town"), yaml_text("No"), yaml_text("1e5")
    ('town', '"No"', '"1e5"')
    """
    plain = _PLAIN.fullmatch(text) and text.lower() not in _WORDS
    return text if plain else seen(json.dumps(text, ensure_ascii=False))


def yaml_list(names: Iterable[str]) -> str:
    """Names as a list of YAML.

    Examples
    --------
    >>> yaml_list(["age", "a b"])
    '[age, "a b"]'
    """
    return "[" + ", ".join(map(yaml_text, names)) + "]"
