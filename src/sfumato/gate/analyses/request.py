"""What is asked of the analysis server, in one canonical form: reordered terms and other spellings are one request."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from sfumato.data.formula import Factor, Formula, Term, parse_formula
from sfumato.errors import DataError
from sfumato.gate.analyses.kind import Kind
from sfumato.gate.analyses.registry import kind_of
from sfumato.gate.analyses.values import is_number, node_of, sides, values_of
from sfumato.gate.content import Where, checked_where
from sfumato.gate.margin import FIRST, Margin, Node, canonical_json
from sfumato.gate.records import Records

__all__ = ["Request", "read_analysis"]

_OPTIONS = ("probability", "complete_cases", "positive", "protected")
_PROBABILITY = re.compile(r"0?\.\d{1,3}")


@dataclass(frozen=True)
class Request:
    """An analysis of one version of the data.

    Parameters
    ----------
    kind
        What is asked for.
    formula
        With terms in one order, and factors written plainly.
    where
        By node, the groups whose records it is about.
    version
        Of the data.
    event, cluster
        Variables beside the formula.
    complete
        Variables that must be known of a record, in rising order: those of the model, and more where a project fixes
        them.
    probability
        Of a quantile, as a fraction.
    positive
        The code of a binary response that counts as 1; empty for the later one.
    protected
        Whether noise is wanted though an exact answer may be had.
    """

    kind: Kind
    formula: Formula
    where: Mapping[Node, tuple[str, ...]] = field(default_factory=dict)
    version: str = FIRST
    event: str = ""
    cluster: str = ""
    complete: tuple[str, ...] = ()
    probability: str = ""
    positive: str = ""
    protected: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """All that it is made of, the response first: variables, and levels as `variable@level`."""
        more = [name for name in (self.event, self.cluster) if name]
        return tuple(dict.fromkeys((*self.formula.columns, *more)))

    @property
    def covariates(self) -> tuple[str, ...]:
        """What its terms are made of."""
        return self.formula.columns[1:]

    def to_plain(self) -> dict[str, Any]:
        """The canonical form, for JSON."""
        optional = {
            "event": self.event,
            "cluster": self.cluster,
            "probability": self.probability,
            "positive": self.positive,
        }
        return {
            "kind": self.kind.name,
            "formula": str(self.formula),
            "where": self.plain_where,
            "complete": list(self.complete),
            **{name: value for name, value in optional.items() if value},
        }

    @property
    def plain_where(self) -> list[list[Any]]:
        """Groups by node, for JSON."""
        return [[node.variable, node.level, list(groups)] for node, groups in sorted(self.where.items())]

    @property
    def text(self) -> str:
        """The canonical form as JSON, without its version."""
        return canonical_json(self.to_plain()).decode()

    @property
    def scope_text(self) -> str:
        """What says which records it is about, as JSON."""
        return canonical_json({"complete": list(self.complete), "where": self.plain_where}).decode()

    def protected_by(self, noise: str) -> Margin:
        """What is remembered of an answer with noise: the request, and the variance of its standardised score."""
        return Margin((), "", "", self.version, noise, self.text)

    @classmethod
    def from_fit(cls, margin: Margin) -> Request:
        """Read what `protected_by` remembers."""
        return cls.from_plain(json.loads(margin.fit), margin.version)

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any], version: str) -> Request:
        """Read what `to_plain` wrote."""
        return cls(
            kind_of(plain["kind"]),
            parse_formula(plain["formula"]),
            {Node(variable, level): tuple(groups) for variable, level, groups in plain["where"]},
            version,
            plain.get("event", ""),
            plain.get("cluster", ""),
            tuple(plain["complete"]),
            plain.get("probability", ""),
            plain.get("positive", ""),
        )


def read_analysis(
    records: Records,
    kind: str,
    formula: str,
    where: Where | None = None,
    version: str | None = None,
    event: str | None = None,
    cluster: str | None = None,
    options: Mapping[str, Any] | None = None,
) -> Request:
    """Bring a request into its canonical form, and refuse what the codebook alone shows to be none.

    Parameters
    ----------
    records
        The data; their values are not looked at.
    kind
        Name of a kind of analysis.
    formula
        Names are variables, or levels in backticks: `` `age@band10` ``.
    where
        By node, the groups whose records it is about.
    version
        The newest where it is None.
    event
        The variable that says who had the event, for `survival` and `cox`.
    cluster
        The variable that says who belongs together, for `mixed`.
    options
        `probability` of a quantile; `complete_cases`: `model`, `project` (known in all variables of the data) or a list
        of variables; `positive`: the code of a binary response that counts as 1; `protected`: true for an answer with
        noise in any case.

    Raises
    ------
    DataError, FormulaError
        Unknown names, a formula outside the grammar, what does not fit the kind.
    """
    wanted = kind_of(kind)
    chosen = dict(options or {})
    if unknown := sorted(set(chosen) - set(_OPTIONS)):
        raise DataError(f"There is no option {', '.join(map(repr, unknown))}. Options: {', '.join(_OPTIONS)}.")
    newest = version or records.versions[-1]
    if newest not in records.versions:
        raise DataError(f"There is no version {newest!r}. Versions: {', '.join(records.versions)}.")
    parsed = _canonical(parse_formula(formula), records)
    groups = checked_where(_known_nodes(where or {}, records), records)
    request = Request(
        wanted,
        parsed,
        groups,
        newest,
        _beside(wanted, "event", event),
        _beside(wanted, "cluster", cluster),
        probability=_probability(wanted, chosen.get("probability")),
        positive=str(chosen.get("positive", "")),
        protected=chosen.get("protected", False) is True and wanted.shape == "fit",
    )
    for name in request.names:
        _refuse_unknown(name, records)
    _refuse_misfit(request, records)
    return _with_complete(request, chosen.get("complete_cases", "model"), records)


def _canonical(formula: Formula, records: Records) -> Formula:
    """Terms in one order, main effects first; `C(x)` is `x` where x is no number anyway."""
    terms = {_plain_term(term, records) for term in formula.terms}
    kinds: dict[str, bool] = {}
    for term in terms:
        for factor in term:
            if kinds.setdefault(factor.name, factor.categorical) != factor.categorical:
                raise DataError(
                    f"{factor.name!r} stands in the formula both as a number and as categories. Choose one."
                )
    order = sorted(terms, key=lambda term: (len(term), [str(factor) for factor in term]))
    return Formula(formula.response, tuple(order), formula.intercept)


def _plain_term(term: Term, records: Records) -> Term:
    plain = [Factor(one.name, one.categorical and is_number(one.name, False, records), one.power) for one in term]
    return tuple(sorted(plain, key=str))


def _known_nodes(where: Where, records: Records) -> dict[Node, Sequence[str]]:
    for node in where:
        _refuse_unknown(str(node), records)
        if node.variable not in records.structure.codes:
            raise DataError(f"{node.variable!r} has no codes: what an analysis is about is said by groups.")
    return dict(where)


def _refuse_unknown(name: str, records: Records) -> None:
    node = node_of(name)
    structure = records.structure
    if "@" in name and not node.level:
        raise DataError(f"{name!r} names no level: leave the @ out.")
    if node.variable not in structure.codes and node.variable not in records.numbers:
        known = ", ".join(dict.fromkeys((*structure.variables, *records.numbers)))
        raise DataError(f"There is no variable {node.variable!r}. Variables: {known}.")
    if node.level and (node.variable, node.level) not in structure.levels:
        own = [level for variable, level in sorted(structure.levels) if variable == node.variable]
        raise DataError(f"{node.variable!r} has no level {node.level!r}. Its levels: {', '.join(own) or 'none'}.")


def _beside(kind: Kind, what: str, given: str | None) -> str:
    if what in kind.needs and not given:
        raise DataError(f"{kind.title} needs `{what}`: the name of a variable.")
    if what not in kind.needs and given:
        raise DataError(f"{kind.title} takes no `{what}`.")
    return given or ""


def _probability(kind: Kind, given: Any) -> str:
    if "probability" not in kind.needs:
        if given is not None:
            raise DataError(f"{kind.title} takes no `probability`.")
        return ""
    text = "0.5" if given is None else f"{given:.3f}" if isinstance(given, float) else str(given)
    if not _PROBABILITY.fullmatch(text) or not 0.01 <= float(text) <= 0.99:
        raise DataError("`probability` is a number from 0.01 to 0.99 with at most three decimals.")
    return str(Fraction(text))


def _with_complete(request: Request, wanted: Any, records: Records) -> Request:
    """Which variables must be known of a record."""
    own = {node_of(name).variable for name in request.names}
    if wanted == "project":
        own |= {*records.structure.variables, *records.numbers}
    elif isinstance(wanted, list | tuple) and all(isinstance(one, str) for one in wanted):
        for name in wanted:
            _refuse_unknown(name, records)
        own |= {node_of(name).variable for name in wanted}
    elif wanted != "model":
        raise DataError("`complete_cases` is model, project, or a list of variables.")
    return replace(request, complete=tuple(sorted(own)))


def _refuse_misfit(request: Request, records: Records) -> None:
    """What the codebook alone shows not to fit the kind."""
    kind, name = request.kind, request.formula.response
    if request.positive and kind.response != "binary":
        raise DataError(f"{kind.title} takes no `positive`.")
    if kind.name == "chi2" and len(request.formula.terms) != 1:
        raise DataError("A test of independence is of two variables: a ~ b.")
    if kind.name == "mixed" and request.cluster in request.formula.columns:
        raise DataError("The clusters of a model with random intercepts are no other part of it.")
    if kind.name == "correlation" and not _one_number(request, records):
        raise DataError("A correlation is of two numbers: y ~ x.")
    if kind.name in ("t", "mean", "boxes") and not _groups_alone(request, records, at_least=kind.name == "t"):
        raise DataError(
            f"{kind.title} takes {'one variable with two groups' if kind.name == 't' else 'one factor or 1'}."
        )
    if kind.name in ("quantile", "histogram") and request.formula.terms:
        raise DataError(f"{kind.title} takes `~ 1`: choose records by `where`.")
    if not request.formula.intercept and kind.name not in ("linear", "logistic", "probit", "poisson"):
        raise DataError(f"{kind.title} has an intercept, or none by its nature: leave `0 +` out.")
    if kind.response in ("number", "count", "time") and not is_number(name, False, records):
        raise DataError(f"{kind.title} needs numbers before ~: {name!r} holds none.")
    if kind.response == "category":
        _refuse_numbers(request, records)
    for binary in ([name] if kind.response == "binary" else []) + ([request.event] if request.event else []):
        sides(binary, request, records)


def _refuse_numbers(request: Request, records: Records) -> None:
    if any(len(term) > 1 or term[0].power > 1 for term in request.formula.terms):
        raise DataError(f"{request.kind.title} takes variables with + between, no products and powers.")
    for name in request.names:
        if node_of(name).variable not in records.structure.codes:
            raise DataError(f"{name!r} has no codes: take a level of bands, if it has one.")


def _one_number(request: Request, records: Records) -> bool:
    terms = request.formula.terms
    return len(terms) == 1 and len(terms[0]) == 1 and terms[0][0].power == 1 and _numeric(terms[0], records)


def _numeric(term: Iterable[Factor], records: Records) -> bool:
    return all(is_number(one.name, one.categorical, records) for one in term)


def _groups_alone(request: Request, records: Records, *, at_least: bool) -> bool:
    terms = request.formula.terms
    if not terms:
        return not at_least
    if len(terms) > 1 or len(terms[0]) > 1 or _numeric(terms[0], records):
        return False
    return not at_least or len(values_of(terms[0][0].name, records)) == 2
