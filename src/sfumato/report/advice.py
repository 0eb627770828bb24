"""Findings in plain words: the risk in one paragraph, what was lost in one paragraph, and what to try.

The sentences, and when a figure is called high or large, stand with each measure (`Measure.say`, `Measure.complain`,
and the conventions of `sfumato.measures.saying`). Works on the custodian's findings and on published ones
(`sfumato.report.external`); says nothing that they do not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sfumato.data.disclosure import Disclosure
from sfumato.data.finding import Findings
from sfumato.measures.measure import Complaint, Measure
from sfumato.measures.registry import figure, measures
from sfumato.measures.saying import listed, percent
from sfumato.measures.subject import EVERYTHING, RELEASED, WIDE
from sfumato.measures.units import of_units
from sfumato.plan.limits import unmeasured
from sfumato.report.remedy import Edit, Methods, sampled
from sfumato.report.report import Report, StepDone

__all__ = ["Advice", "advice", "advice_on"]


@dataclass(frozen=True)
class Advice:
    """Plain words on a set of findings.

    Parameters
    ----------
    risk
        The risk in one paragraph, each part under its attack and beside its baseline.
    loss
        What was lost, in one paragraph.
    to_try
        What could be changed in the plan, most pressing first; limits that are exceeded come before the rest.
    high
        Risks that are high by the conventions of the field although no limit speaks of them.
    """

    risk: str
    loss: str
    to_try: tuple[str, ...]
    high: tuple[str, ...] = ()
    edits: tuple[tuple[Edit, ...], ...] = ()
    """Of each sentence of `to_try`, the changes that can be made by setting one parameter of a step."""

    @property
    def told(self) -> tuple[tuple[bool, str], ...]:
        """Both paragraphs, each with whether anything was measured that it could speak of."""
        return (self.risk != _NO_RISK, self.risk), (self.loss != _NO_LOSS, self.loss)


def advice_on(report: Report) -> Advice:
    """Say what a report's findings mean; of an external one without what is kept back, and without what to try.

    Of an undecided release it does not say how to meet a limit: to decide what is known comes first.
    """
    said = advice(report.findings, report.disclosure, steps=report.steps, published=not report.internal)
    return said if report.internal and report.verdict != "undecided" else replace(said, to_try=(), edits=())


def advice(
    findings: Findings,
    disclosure: Disclosure | None = None,
    *,
    steps: Sequence[StepDone] = (),
    published: bool = False,
) -> Advice:
    """Say in plain words what findings mean and what to try.

    Parameters
    ----------
    findings
        From `protect`, `risk` or `compare`; any part of them will do.
    disclosure
        What the release tells: remedies are those of the methods that it names, and a sample is said to be one.
        Without it the methods are guessed from the measures.
    steps
        The plan's steps as they were run: what they have already is not proposed.
    published
        Whether the findings are those of an external report, in which a limit without a figure is one whose figures
        are kept back (rather than one that could not be measured).

    Returns
    -------
    Advice

    Notes
    -----
    Each sentence holds under the attack that it names. None of them says that people cannot be recognised.

    Examples
    --------
    >>> from sfumato.data.finding import Finding
    >>> found = Findings((Finding("l_distinct", variable="smoker", group="keys", value=1.0, baseline=2.0),))
    >>> advice(found).to_try[0][:45]
    'Everyone in at least one group has the same s'
    """
    told = Findings(tuple(f for f in findings if f.group not in WIDE or f.ok is not None), findings.notes)
    fraction = sampled(disclosure)
    methods = Methods(disclosure, "additive" if findings.select("h_rank") else "averaged", tuple(steps))
    risk = [*_said(told, fraction, of_risk=True), *_of_all_that_leaves(findings)]
    loss = list(_said(told, fraction, of_risk=False))
    complaints = [(m, c) for m in measures().values() for c in m.complain(told, fraction)]
    tried = tuple(_to_try(findings, methods, [c for _, c in complaints], published))
    return Advice(
        risk=" ".join([*risk, _CAVEAT]) if risk else _NO_RISK,
        loss=" ".join(loss) if loss else _NO_LOSS,
        to_try=tuple(sentence for sentence, _ in tried),
        high=tuple(c.text for m, c in complaints if c.urgent and not _limited(findings, m)),
        edits=tuple(tuple(dict.fromkeys(edits)) for _, edits in tried),
    )


BY_ALL_THAT_LEAVES = (
    "The limit on {name} is exceeded only for somebody who knows all that leaves as it was, and the true values of "
    "what was masked: if nobody outside can know some of these columns, say so in the plan (`unknown`, with the "
    "reason)."
)
OF_UNITS = (
    "The limit on {name} is exceeded for somebody who knows all rows of a {unit}: leave out the id that joins them, "
    "exchange unusual households with others (swap_households), or make coarser what is known of them."
)
_NO_RISK = "No risk was measured, so nothing can be said about it."
_NO_LOSS = "No loss was measured, so nothing can be said about it."
_CAVEAT = (
    "Each figure holds for the attack it names and for no other; none of them shows that nobody can be recognised."
)


def _said(findings: Findings, fraction: float, *, of_risk: bool) -> Iterator[str]:
    for measure in measures().values():
        if measure.of_risk == of_risk and (sentence := measure.say(findings, fraction)):
            yield sentence


def _of_all_that_leaves(findings: Findings) -> Iterator[str]:
    """How many people are alone by all columns that leave as they were: most plans bound their keys alone."""
    alone = {f.group: f.value for f in findings.select("uniques_sample") if f.value is not None and f.attack is None}
    if RELEASED in alone:
        yield f"By all columns that leave as they were {percent(alone[RELEASED])} of the people are alone."
    if EVERYTHING in alone:
        known = "these" if RELEASED in alone else "all columns that leave as they were"
        yield f"By {known} and by what is said to be unknown {percent(alone[EVERYTHING])} of the people are alone."


def _limited(findings: Findings, measure: Measure) -> bool:
    return any(f.measure in measure.names and f.ok is not None for f in findings)


_Tried = tuple[str, list[Edit]]


def _to_try(findings: Findings, methods: Methods, complaints: Sequence[Complaint], published: bool) -> Iterator[_Tried]:
    """Limits that do not hold, then figures that are bad; each remedy is given once for each measure."""
    failing = [f for f in findings if f.ok is False]
    unknown = [f for f in failing if unmeasured(f) and not published]
    seen = set()
    for name in dict.fromkeys(f.measure for f in failing if f not in unknown):
        own = [f for f in failing if f.measure == name and f not in unknown]
        for unit in dict.fromkeys(f.attack for f in own if of_units(f)):
            yield OF_UNITS.format(name=name, unit=unit), []
        own = [f for f in own if not of_units(f)]
        if not own:
            continue
        columns = dict.fromkeys(f.variable for f in own)
        if all(f.group in WIDE for f in own):
            yield BY_ALL_THAT_LEAVES.format(name=name), []
        remedies: dict[str, list[Edit]] = {}
        for column in columns:
            remedy, edits = _remedy(name, methods, column)
            remedies.setdefault(remedy, []).extend(edits)
        for remedy, found in remedies.items():
            seen.add(remedy)
            yield f"The limit on {name} is exceeded: {remedy}.", found
    for name in dict.fromkeys(f.measure for f in unknown):
        yield (
            f"The limit on {name} could not be measured: check its variable, group, at and attack, and whether any "
            "step gives this measure something to look at.",
            [],
        )
    for texts, remedy, found in _bad(methods, complaints):
        if remedy not in seen:
            seen.add(remedy)
            yield f"{texts}: {remedy}.", found


def _remedy(name: str, methods: Methods, column: str | None) -> tuple[str, tuple[Edit, ...]]:
    aim = figure(name).aim
    if aim is None:
        return "change the step that this measure looks at, or reconsider the limit", ()
    return methods.remedy(aim, column), methods.edits(aim, column)


def _bad(methods: Methods, complaints: Sequence[Complaint]) -> Iterator[tuple[str, str, list[Edit]]]:
    """What is bad, with its remedy; columns that share a complaint and a remedy are told of together."""
    together: dict[tuple[str, str], list[str]] = {}
    edits: dict[tuple[str, str], list[Edit]] = {}
    for c in complaints:
        # That most categories stay is how exchanging at random works: nobody can tell which.
        if c.variable is not None and methods.kind(c.variable) == "misclassified":
            continue
        text = c.text if c.variable is None else c.text.replace(c.variable, "{}", 1)
        key = text, methods.remedy(c.aim, c.variable)
        together.setdefault(key, []).append(c.variable or "")
        edits.setdefault(key, []).extend(methods.edits(c.aim, c.variable))
    for (text, remedy), names in together.items():
        yield text.replace("{}", listed(names), 1) if names[0] else text, remedy, edits[text, remedy]
