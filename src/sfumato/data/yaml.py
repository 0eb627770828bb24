"""Read YAML that may come from anyone: bounded, without directives, tags, anchors and merges, with every key's line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from io import StringIO
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.constructor import DuplicateKeyError
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import AliasEvent, CollectionEndEvent, CollectionStartEvent, NodeEvent, ScalarEvent
from ruamel.yaml.parser import RoundTripParser
from ruamel.yaml.scalarstring import DoubleQuotedScalarString
from ruamel.yaml.tokens import DirectiveToken, DocumentEndToken, StreamStartToken

from sfumato.data.unseen import has_unseen, seen
from sfumato.errors import PlanError, Problem

__all__ = ["MAX_BYTES", "Lines", "dump_yaml", "load_yaml", "plain"]

MAX_BYTES = 1_000_000
"""Largest plan file."""
_MAX_NODES = 100_000
_MAX_DEPTH = 30

Lines = Mapping[tuple[str | int, ...], int]
"""Line number (from 1) of each key and item, by its path."""


def load_yaml(text: str) -> tuple[Any, Lines]:
    """Read one YAML document into plain values.

    Parameters
    ----------
    text
        The document. Anchors, aliases, merge keys, tags and directives are refused: they are how a small file grows
        without end, reads otherwise than it looks, or becomes something else than data.

    Returns
    -------
    value, lines
        The plain value, and the line of each key and item.

    Raises
    ------
    PlanError
        Where it is not such a document.

    Examples
    --------
    >>> load_yaml("a: {b: 1}")[0]
    {'a': {'b': 1}}
    """
    if len(text) > MAX_BYTES:
        raise PlanError([f"the file is larger than {MAX_BYTES} bytes"])
    try:
        _refuse_directives(text)
        yaml = YAML(typ="rt")
        yaml.Parser = _Guarded
        loaded = yaml.load(text)
    except DuplicateKeyError as error:  # its own words show the values
        raise PlanError([Problem("a key stands twice here; give it once", error.problem_mark.line + 1)]) from None
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        said = f"this is not YAML: {error.problem or 'it cannot be parsed'}"
        raise PlanError([Problem(said, mark.line + 1 if mark else None)]) from None
    except ValueError:
        raise PlanError(["a date or a number in it cannot be read; text that looks like one needs quotes"]) from None
    except TypeError:  # a mapping that holds a list, as a key
        raise PlanError(["a key must be one word, number or text in quotes"]) from None
    except (YAMLError, RecursionError):
        raise PlanError(["this is not YAML: it cannot be parsed"]) from None
    lines: dict[tuple[str | int, ...], int] = {}
    return _plain(loaded, (), lines), lines


def _refuse_directives(text: str) -> None:
    """Refuse what may stand before a document: another version of YAML reads `yes` and `010` as something else."""
    for token in YAML(typ="safe", pure=True).scan(StringIO(text)):
        if isinstance(token, DirectiveToken):
            line = token.start_mark.line + 1
            raise PlanError([Problem("directives (% at the start of a line) are not allowed in a plan", line)])
        if not isinstance(token, StreamStartToken | DocumentEndToken):
            return


class _Guarded(RoundTripParser):
    """The library's parser, which goes no further where it finds a trick; so that a text is parsed once."""

    def __init__(self, loader: Any) -> None:
        super().__init__(loader)
        self._depth = self._nodes = 0

    def get_event(self) -> Any:
        """The next part of the document, if it is allowed."""
        event = super().get_event()
        if isinstance(event, NodeEvent):
            self._nodes += 1
            _refuse_tricks(event)
        self._depth += isinstance(event, CollectionStartEvent)
        self._depth -= isinstance(event, CollectionEndEvent)
        if self._depth > _MAX_DEPTH or self._nodes > _MAX_NODES:
            line = event.start_mark.line + 1
            raise PlanError([Problem("the plan is nested too deeply or is too large", line)])
        return event


def _refuse_tricks(event: NodeEvent) -> None:
    line = event.start_mark.line + 1
    if isinstance(event, AliasEvent) or event.anchor is not None:
        raise PlanError([Problem("anchors and aliases (& and *) are not allowed in a plan", line)])
    if isinstance(event, ScalarEvent | CollectionStartEvent) and _tagged(event):
        raise PlanError([Problem("tags (!) are not allowed in a plan", line)])
    if isinstance(event, ScalarEvent) and event.value == "<<" and event.implicit[0]:
        raise PlanError([Problem("merge keys (<<) are not allowed in a plan. Write the keys out", line)])


def _tagged(event: ScalarEvent | CollectionStartEvent) -> bool:
    tag = getattr(event, "ctag", None) or getattr(event, "tag", None)
    return tag is not None and str(tag) not in ("None", "")


def _plain(node: Any, path: tuple[str | int, ...], lines: dict[tuple[str | int, ...], int]) -> Any:
    if isinstance(node, CommentedMap):
        for key in node:
            lines[(*path, key)] = node.lc.key(key)[0] + 1
            if not isinstance(key, str | int | float):
                said = "a key must be one word, number or text in quotes"
                raise PlanError([Problem(said, lines[(*path, key)], path)])
        return {key: _plain(value, (*path, key), lines) for key, value in node.items()}
    if isinstance(node, CommentedSeq):
        for i in range(len(node)):
            lines[(*path, i)] = node.lc.item(i)[0] + 1
        return [_plain(value, (*path, i), lines) for i, value in enumerate(node)]
    for kind in (bool, int, float, str):
        if isinstance(node, kind):
            return kind(node)
    return node if node is None else str(node)


def plain(value: Any) -> Any:
    """Turn models' values into what YAML writes: enums to their values, tuples to lists; keys keep their types.

    Examples
    --------
    >>> plain({1: ("a", None)})
    {1: ['a', None]}
    """
    if isinstance(value, Mapping):
        return {plain(k): plain(v) for k, v in value.items()}
    if isinstance(value, Enum):
        return value.value
    return [plain(v) for v in value] if isinstance(value, list | tuple) else value


def dump_yaml(value: Mapping[str, Any]) -> str:
    """Write plain values, block style above and one line for each variable and step (of each of several tables).

    Characters that are not seen are written out, `\\u202E`.
    """
    yaml = YAML()
    yaml.width = 4096
    out = StringIO()
    yaml.dump(_flow_below(value), out)
    return seen(out.getvalue(), lines=True)


def _flow_below(value: Mapping[str, Any]) -> CommentedMap:
    top = CommentedMap()
    for key, part in value.items():
        if key == "tables" and isinstance(part, Mapping) and all(isinstance(each, Mapping) for each in part.values()):
            top[key] = CommentedMap({_text(name): _flow_below(table) for name, table in part.items()})
        elif isinstance(part, Mapping):
            top[key] = CommentedMap({_text(k): _flow(v) for k, v in part.items()})
        elif isinstance(part, Sequence) and not isinstance(part, str):
            top[key] = CommentedSeq([_flow(v) for v in part])
        else:
            top[key] = _text(part)
    return top


def _text(value: Any) -> Any:
    """A value; a text with characters that are not seen in double quotes: YAML writes them out in no others."""
    return DoubleQuotedScalarString(value) if isinstance(value, str) and has_unseen(value) else value


def _flow(value: Any) -> Any:
    if isinstance(value, Mapping):
        flow: Any = CommentedMap({_text(k): _flow(v) for k, v in value.items()})
    elif isinstance(value, list | tuple):
        flow = CommentedSeq([_flow(v) for v in value])
    else:
        return _text(value)
    flow.fa.set_flow_style()
    return flow
