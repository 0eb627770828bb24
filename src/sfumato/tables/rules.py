"""Primary rules in words: `n(3)`, `p(10)`, `pq(10,50)`, `nk(2,85)`, joined by `and`, `or` and brackets.

Whoever knows the parameters of `p`, `pq` or `nk` can bound contributions to cells that were published as safe: no
message and no text of this module shows them, but what the custodian asks for by `Rule.text`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sfumato.errors import FormulaError

__all__ = ["Both", "Either", "Judgement", "Rule", "leaves", "ranks_needed", "read_rules"]

_LONGEST = 1_000
_MOST = 50
_DEEPEST = 20
_TOKEN = re.compile(r"\s*(?:(?P<word>[^\W\d]\w*)|(?P<number>\d+(?:\.\d*)?|\.\d+)|(?P<sign>[(),]))")


def _count(x: float, highest: float = 1e9) -> bool:
    return 1 <= x <= highest and x == math.floor(x)


@dataclass(frozen=True)
class _Kind:
    """A rule of the grammar: how many numbers it takes, which are allowed, and what is said of it."""

    fewest: int
    most: int
    takes: str
    allowed: Callable[[Sequence[float]], bool]
    public: bool = True
    words: bool = False


_KINDS: Mapping[str, _Kind] = {
    "n": _Kind(
        1, 2, "the fewest contributors that are safe, and a range in percent",
        lambda x: _count(x[0]) and (len(x) < 2 or 0 <= x[1] <= 100),
    ),
    "zero": _Kind(1, 1, "how far a zero must be from certain", lambda x: x[0] > 0),
    "p": _Kind(1, 1, "a percentage above 0, up to 100", lambda x: 0 < x[0] <= 100, public=False),
    "pq": _Kind(
        2, 2, "two percentages above 0, up to 100, the first the smaller",
        lambda x: 0 < x[0] < x[1] <= 100, public=False,
    ),
    "nk": _Kind(
        2, 2, "a number of contributors up to 100, and a percentage between 0 and 100",
        lambda x: _count(x[0], 100) and 0 < x[1] < 100, public=False,
    ),
    "attribute": _Kind(0, 0, "variables, or nothing", lambda _: True, words=True),
    "coalition": _Kind(1, 1, "the number of those who share what they know", lambda x: _count(x[0])),
}  # fmt: skip


@dataclass(frozen=True, repr=False)
class Rule:
    """One primary rule.

    Parameters
    ----------
    name
        `n` (threshold), `zero`, `p`, `pq`, `nk`, `attribute` or `coalition`.
    numbers
        Its parameters.
    variables
        Of `attribute`: the variables that must not be told; none means any.

    Examples
    --------
    >>> read_rules("p(10)"), read_rules("n(3)")
    (p, n(3))
    >>> read_rules("p(10)").text
    'p(10)'
    """

    name: str
    numbers: tuple[float, ...] = field(default=())
    variables: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The rule with its parameters: for the custodian."""
        return f"{self.name}({','.join([*(f'{x:g}' for x in self.numbers), *self.variables])})".replace("()", "")

    @property
    def public(self) -> str:
        """What may be published of it: thresholds, and only the names of rules on shares."""
        return self.text if _KINDS[self.name].public else self.name

    def __repr__(self) -> str:
        return self.public


@dataclass(frozen=True, repr=False)
class _Joined:
    parts: tuple[Judgement, ...]
    word = ""

    @property
    def text(self) -> str:
        """The rules with their parameters: for the custodian."""
        return f" {self.word} ".join(_bracketed(part, part.text) for part in self.parts)

    @property
    def public(self) -> str:
        """What may be published of them."""
        return f" {self.word} ".join(_bracketed(part, part.public) for part in self.parts)

    def __repr__(self) -> str:
        return self.public


class Either(_Joined):
    """Unsafe where one of several rules says so.

    Examples
    --------
    >>> read_rules(["n(3)", "p(10)"])
    n(3) or p
    """

    word = "or"


class Both(_Joined):
    """Unsafe where all of several rules say so.

    Examples
    --------
    >>> read_rules("(n(3) or p(10)) and nk(2,85)")
    (n(3) or p) and nk
    """

    word = "and"


Judgement = Rule | Either | Both
"""A rule, or several joined."""


def _bracketed(part: Judgement, text: str) -> str:
    return text if isinstance(part, Rule) else f"({text})"


def leaves(rule: Judgement) -> Iterator[Rule]:
    """Give the single rules.

    Examples
    --------
    >>> list(leaves(read_rules("n(3) and p(5)")))
    [n(3), p]
    """
    if isinstance(rule, Rule):
        yield rule
    else:
        for part in rule.parts:
            yield from leaves(part)


def ranks_needed(rule: Judgement) -> int:
    """How many of the largest contributions a rule looks at.

    Examples
    --------
    >>> [ranks_needed(read_rules(text)) for text in ("n(3) or p(10)", "nk(4,90)", "n(3)")]
    [2, 4, 0]
    """
    needed = {"p": 2.0, "pq": 2.0}
    return int(max(needed.get(one.name, one.numbers[0] if one.name == "nk" else 0.0) for one in leaves(rule)))


def read_rules(given: str | Judgement | Iterable[str | Judgement]) -> Judgement:
    """Read primary rules; of several, each makes a cell unsafe.

    Parameters
    ----------
    given
        A text, or several.

    Raises
    ------
    FormulaError
        Where a text is no rule. The message shows no number that was given.
    """
    if isinstance(given, str | Rule | Either | Both):
        given = [given]
    parts = tuple(dict.fromkeys(_Reader(one).read() if isinstance(one, str) else one for one in given))
    if not parts:
        raise FormulaError(f"No rule was given. {_known()}")
    if sum(1 for part in parts for _ in leaves(part)) > _MOST:
        raise FormulaError(f"There are more than {_MOST} rules.")
    return parts[0] if len(parts) == 1 else Either(parts)


def _known() -> str:
    return "Rules are n(3), n(3,30), zero(20), p(10), pq(10,50), nk(2,85), attribute and coalition(1)."


class _Reader:
    """Reads one text, from left to right."""

    def __init__(self, text: str) -> None:
        if len(text) > _LONGEST:
            raise FormulaError(f"A rule has at most {_LONGEST} characters.")
        self.tokens: list[tuple[str, str]] = []
        self.at = 0
        place, end = 0, len(text.rstrip())
        while place < end:
            found = _TOKEN.match(text, place)
            if found is None or found.lastgroup is None:
                raise FormulaError(f"A rule has a sign that is none of its own at character {place + 1}. {_known()}")
            self.tokens.append((found.lastgroup, found[found.lastgroup]))
            place = found.end()

    def read(self) -> Judgement:
        if not self.tokens:
            raise FormulaError(f"A rule is empty. {_known()}")
        rule = self.joined(0)
        if self.at < len(self.tokens):
            raise FormulaError("A rule is followed by something that is no rule. Join rules with `and` or `or`.")
        return rule

    def took(self, text: str) -> bool:
        hit = self.at < len(self.tokens) and self.tokens[self.at][1] == text
        self.at += hit
        return hit

    def joined(self, depth: int) -> Judgement:
        """Rules with `or` between, which binds less than `and`."""
        if depth > _DEEPEST:
            raise FormulaError(f"Brackets of a rule are nested more than {_DEEPEST} deep.")
        parts = [self.all_of(depth)]
        while self.took("or"):
            parts.append(self.all_of(depth))
        return parts[0] if len(parts) == 1 else Either(tuple(parts))

    def all_of(self, depth: int) -> Judgement:
        parts = [self.one(depth)]
        while self.took("and"):
            parts.append(self.one(depth))
        return parts[0] if len(parts) == 1 else Both(tuple(parts))

    def one(self, depth: int) -> Judgement:
        if self.took("("):
            inner = self.joined(depth + 1)
            self.close()
            return inner
        kind, name = self.tokens[self.at] if self.at < len(self.tokens) else ("", "")
        if kind != "word" or name not in _KINDS:
            raise FormulaError(f"A rule is missing, or has a name that there is not. {_known()}")
        self.at += 1
        inside = self.inside() if self.took("(") else []
        return _rule(name, inside)

    def inside(self) -> list[tuple[str, str]]:
        found: list[tuple[str, str]] = []
        while self.at < len(self.tokens) and self.tokens[self.at][0] != "sign":
            found.append(self.tokens[self.at])
            self.at += 1
            if not self.took(","):
                break
        self.close()
        return found

    def close(self) -> None:
        if not self.took(")"):
            raise FormulaError("A bracket of a rule is not closed, or numbers are not parted by commas.")


def _rule(name: str, inside: Sequence[tuple[str, str]]) -> Rule:
    kind = _KINDS[name]
    numbers = tuple(float(text) for sort, text in inside if sort == "number")
    words = tuple(text for sort, text in inside if sort == "word")
    fits = kind.fewest <= len(numbers) <= kind.most and (kind.words or not words)
    if not fits or not kind.allowed(numbers):
        raise FormulaError(f"The rule {name} takes {kind.takes}. {_known()}")
    return Rule(name, numbers, words)
