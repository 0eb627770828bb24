"""What the variables of a table seem to be: roles and kinds guessed from names and values, each with its reason.

Nothing here decides anything: a guess is a line of a drafted plan, for the custodian to read and change. Reasons go
into that plan, which is public, so they name thresholds and forms, never values or counts.

Kinds follow the rules of `sfumato.data.kinds`, but where a name or the form of the values says more: a postcode is
geographic, a text may be a date, a scale of words is ordinal.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import polars as pl

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.codes import why_codes
from sfumato.data.detectors import BY_FORM, BY_NAME, Seeming, first, looks_private, record_score
from sfumato.data.kinds import Columns, Facts, facts_of, sniff_kinds
from sfumato.data.looking import Looking, in_words
from sfumato.data.roles import NUMERIC_KINDS, Kind, Role
from sfumato.progress import Progress, quiet

__all__ = ["Guess", "profile", "seeming_kind", "sniff_kinds"]

_USUAL = Looking()
_AMOUNTS = (Role.KEY, Role.SENSITIVE, Role.OUTCOME, Role.OTHER)
_MAY_BE_CODES = (*_AMOUNTS, Role.IDENTIFIER)


@dataclass(frozen=True, slots=True)
class Guess:
    """What a variable seems to be.

    Parameters
    ----------
    name
        The column.
    variable
        What to write in a plan.
    reason
        Why, in one sentence without values or counts from the data.
    certain
        Whether the form of the values leaves little doubt; otherwise somebody should look.
    leaves
        Whether a drafted plan should drop it, whatever its role.
    found
        Share of its texts, those looked at, which hold personal data that have a form, by their kind. Confidential.
    found_in_labels
        The same of the labels of its values.
    scheme
        Classification whose codes it holds: `soc2020`, `isco`, `sic`, `icd10`.
    """

    name: str
    variable: Variable
    reason: str
    certain: bool
    leaves: bool = False
    found: Mapping[str, float] = field(default_factory=dict)
    found_in_labels: Mapping[str, float] = field(default_factory=dict)
    scheme: str | None = None


def profile(
    frame: Columns, codebook: Codebook, progress: Progress = quiet, looking: Looking = _USUAL
) -> tuple[Guess, ...]:
    """Propose a role and a kind for every column, with the reason.

    What the codebook says already (a role other than `other`, a kind) stays. At most one column is proposed as the
    record's id, one as the person's, one as the household's and one as the weight. Numbers whose role nothing tells are
    keys, and numbers without a negative value get a range from 0. Missing codes are proposed where conventional ones
    (−9, 99, …) stand apart from all other values.

    Parameters
    ----------
    frame
        The table.
    codebook
        What its file says about it.
    progress
        Told of every column.
    looking
        Which personal data are looked for in texts and labels, in how many values, and how many must hold them.

    Returns
    -------
    tuple of Guess
        In column order.

    Examples
    --------
    >>> frame = pl.DataFrame({"email": ["a@example.org", "b@example.org"], "age": [31, 45]})
    >>> for guess in profile(frame, Codebook()):
    ...     print(guess.name, guess.variable.role, guess.variable.kind, "-", guess.reason)
    email identifier text - its values have the form of e-mail addresses
    age key integer - its name is that of something that others may know; whole numbers
    """
    facts = []
    for number, name in enumerate(frame.columns):
        progress(f"looking at {name}", number / len(frame.columns))
        facts.append(facts_of(_as_whole(frame, name, codebook), name, codebook, looking))
    drafts = [first(BY_FORM, f) for f in facts]
    if not codebook.with_role(Role.RECORD):
        scores = [record_score(f) if d is None else 0.0 for f, d in zip(facts, drafts, strict=True)]
        best = max(scores, default=0.0)
        if best > 0:
            drafts[scores.index(best)] = Seeming(Role.RECORD, "each record has a value of its own", best > 1)
    _only_one(facts, drafts, Role.HOUSEHOLD, Seeming(Role.IDENTIFIER, "another id of a household or family"))
    _only_one(facts, drafts, Role.PERSON, Seeming(Role.IDENTIFIER, "another id of people"))
    _only_one(facts, drafts, Role.WEIGHT, Seeming(Role.OTHER, "another sampling weight; it leaves", leaves=True))
    seeming = [draft or first(BY_NAME, f) or _untold(f) for f, draft in zip(facts, drafts, strict=True)]
    return tuple(_guess(f, one) for f, one in zip(facts, _of_one_scale(facts, seeming), strict=True))


def _as_whole(frame: Columns, name: str, codebook: Codebook) -> Columns:
    """The column, as whole numbers where gaps alone made it one of decimals: kinds do not hang on gaps."""
    column = frame.get_column(name)
    known = codebook[name] if name in codebook else Variable()
    if not column.dtype.is_float() or known.kind is not None or not Facts(column, Variable()).whole:
        return frame
    return column.fill_nan(None).cast(pl.Int64, strict=False).to_frame()


def _of_one_scale(facts: Sequence[Facts], seeming: Sequence[Seeming]) -> list[Seeming]:
    """What columns seem to be, where the items of one scale have one role: that of most of them."""
    items: dict[tuple[str, Kind, frozenset[object]], list[int]] = {}
    for i, (f, one) in enumerate(zip(facts, seeming, strict=True)):
        if (stem := _ITEM.fullmatch(f.name)) is not None and one.role in _OF_ITEMS and f.few(_ITEM_VALUES):
            items.setdefault((stem[1], f.kind, frozenset(f.distinct.to_list())), []).append(i)
    found = list(seeming)
    for members in (each for each in items.values() if len(each) > _FEWEST_ITEMS):
        most = Counter(found[i].role for i in members).most_common(1)[0][0]  # of as many the first one's
        example = next(found[i] for i in members if found[i].role == most)
        for i in members:
            if found[i].role != most:
                found[i] = replace(example, reason="like the other items of its scale", certain=False)
    return found


def seeming_kind(column: pl.Series, variable: Variable) -> tuple[Kind, str] | None:
    """The kind that would be proposed for whole numbers by themselves, and why, where they look like no amounts.

    Parameters
    ----------
    column
        Its values.
    variable
        What is known of it.

    Examples
    --------
    >>> kind, why = seeming_kind(pl.Series("region", range(1, 183)), Variable())
    >>> str(kind), why
    ('categorical', 'its name is that of a code')
    >>> seeming_kind(pl.Series("income", range(1, 183)), Variable())
    """
    f = facts_of(column.to_frame(), column.name, Codebook({column.name: variable}))
    if f.kind != Kind.INTEGER:
        return None
    guess = _guess(f, first(BY_FORM, f) or first(BY_NAME, f) or _untold(f))
    kind = guess.variable.kind
    return None if kind is None or kind in NUMERIC_KINDS else (kind, why_codes(f) or guess.reason)


def _only_one(facts: Sequence[Facts], drafts: list[Seeming | None], role: Role, others: Seeming) -> None:
    """Leave a role to the column that is known to have it, else to the first, but a weight of people goes first."""
    found = [i for i, d in enumerate(drafts) if d is not None and d.role == role]
    known = [i for i in found if facts[i].variable.role == role]
    best = known or sorted(found, key=lambda i: facts[i].named(r"households?|hh|famil(?:y|ies)"))[:1]
    for i in found:
        if i not in best:
            drafts[i] = others


def _untold(f: Facts) -> Seeming:
    """What no rule speaks of: a number may be known to somebody."""
    if f.kind in NUMERIC_KINDS:
        return Seeming(Role.KEY, "nothing tells its role: numbers like these may be known to others")
    known = f.kind in (Kind.CATEGORICAL, Kind.ORDINAL)
    return Seeming(Role.OTHER, "nothing tells its role: write key if others may know it" if known else "")


_ITEM = re.compile(r"(.*?\D)\d+[a-z]?")
"""A name that ends in a number: what stands before it is the stem."""
_OF_ITEMS = (Role.KEY, Role.SENSITIVE, Role.OUTCOME, Role.OTHER)
_ITEM_VALUES, _FEWEST_ITEMS = 12, 2
_SCALES: tuple[tuple[str, ...], ...] = (
    ("none", "mild", "moderate", "severe"),
    ("never", "rarely", "sometimes", "often", "always"),
    ("never", "former", "current"),
    ("very low", "low", "medium", "high", "very high"),
    ("strongly disagree", "disagree", "neutral", "agree", "strongly agree"),
    ("very poor", "poor", "fair", "good", "very good", "excellent"),
    ("small", "medium", "large"),
    ("first", "second", "third", "fourth"),
    ("none", "primary", "secondary", "tertiary"),
)
_CASES: tuple[Callable[[str], str], ...] = (str.lower, str.capitalize, str.title, str.upper)
_BAND = r"(?i)(?:under|over|up to|<|>|<=|>=|≤|≥)? ?\d+ ?(?:(?:-|–|to) ?\d+|\+|and over|or more|and under)? ?(?:years)?"


def _order(f: Facts) -> tuple[str, ...] | None:
    """The scale of words that the categories belong to; empty for bands of numbers; None for neither."""
    if not f.text or f.kind != Kind.CATEGORICAL or len(f.distinct) < 2:
        return None
    found = set(f.distinct.cast(pl.String).to_list())
    for scale in _SCALES:
        for case in _CASES:
            cased = tuple(case(word) for word in scale)
            if found <= set(cased):
                return cased
    bands = f.sample.str.contains(r"\d ?(?:-|–|to) ?\d").mean()
    return () if f.looks(_BAND) and isinstance(bands, float) and bands >= 0.5 else None


_KIND_REASONS = {
    Kind.CONTINUOUS: "numbers with decimal places",
    Kind.INTEGER: "whole numbers",
    Kind.CATEGORICAL: "few different values",
    Kind.ORDINAL: "categories with an order",
    Kind.DATE: "dates",
    Kind.TEXT: "many different texts",
    Kind.GEOGRAPHIC: "places",
}


def _kind_reason(f: Facts, kind: Kind) -> str:
    if kind == Kind.TEXT and not f.text:
        return "values of a type that is left as it is"
    if f.labelled and kind == Kind.CATEGORICAL:
        return "every value has a label"
    if kind == Kind.CONTINUOUS and f.dtype.is_float() and f.whole:
        return "whole numbers of a decimal type"
    return _KIND_REASONS[kind]


def _guess(f: Facts, draft: Seeming) -> Guess:
    """Put role and kind together, with one sentence for both."""
    open_kind = f.variable.kind is None and draft.kind is None
    kind = f.variable.kind or draft.kind or f.kind
    update: dict[str, object] = {"role": draft.role, "kind": kind}
    reasons = [draft.reason] if draft.reason else []
    order = _order(f) if open_kind else None
    codes = why_codes(f) if open_kind and kind in NUMERIC_KINDS and draft.role in _MAY_BE_CODES else None
    if order is not None:
        update |= {"kind": Kind.ORDINAL, "order": order}
        why = "words of a known scale" if order else "bands of numbers; give their order"
        reasons.append(f"its categories are {why}")
    elif codes is not None:
        kind = update["kind"] = Kind.CATEGORICAL
        reasons.append(f"{codes}; an amount would be kind {f.kind}")
    elif open_kind and not f.values.is_empty():
        reasons.append(_kind_reason(f, kind))
    if f.proposed:
        reasons.append("usual missing codes stand apart from the other values")
    if kind in NUMERIC_KINDS and draft.role in _AMOUNTS and _from_zero(f):
        update["range"] = (0, None)
    if draft.role in (Role.KEY, Role.OTHER) and kind in (Kind.CATEGORICAL, Kind.ORDINAL) and looks_private(f):
        update["sensitive"] = True
        reasons.append("its name is that of something to be kept private too")
    told = {Kind.GEOGRAPHIC: "postcode", Kind.DATE: "date"}.get(kind)
    by_form = draft.certain and draft.role == Role.IDENTIFIER
    if held := [k for k in f.found if not by_form and in_words([k]) not in draft.reason and k != told]:
        reasons.append(f"some texts hold {in_words(held)}")
    variable = f.variable.model_copy(update=update)
    certain = draft.certain and not f.proposed
    why = "; ".join(reasons) or "its kind is given"
    return Guess(f.name, variable, why, certain, draft.leaves, f.found, f.found_in_labels, draft.scheme)


def _from_zero(f: Facts) -> bool:
    """Whether nobody said what its range is, and no value is negative."""
    return f.variable.range is None and f.dtype.is_numeric() and not f.values.is_empty() and f.low >= 0
