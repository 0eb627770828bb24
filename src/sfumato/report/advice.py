"""Findings in plain words: the risk in one paragraph, what was lost in one paragraph, and what to try.

A figure is called high or large by these conventions, each said where it is used:

- linking: 1 in 11 (0.09) is what the European Medicines Agency and Health Canada ask of clinical data that are
  published; 1 in 5 (0.2) is usual for data under a contract.
- coefficients: one standard error is as much as another sample of the same size would move them.
- groups: fewer than 5 alike is the field's most used lower bound.

Works on the custodian's findings and on published ones (`sfumato.report.external`); says nothing that they do not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from sfumato.data.disclosure import Disclosure
from sfumato.data.finding import Finding, Findings
from sfumato.plan.limits import unmeasured
from sfumato.report.remedy import DIVERSE, RECODE, Aim, Methods, sampled

__all__ = ["Advice", "advice", "percent"]

_PUBLIC_LINKAGE, _CONTRACT_LINKAGE = 0.09, 0.2
_FEW_ALIKE = 5
_U_CERTAIN = 0.25
"""U of tables that can be told apart with certainty."""


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
    """

    risk: str
    loss: str
    to_try: tuple[str, ...]


def advice(findings: Findings, disclosure: Disclosure | None = None, *, published: bool = False) -> Advice:
    """Say in plain words what findings mean and what to try.

    Parameters
    ----------
    findings
        From `protect`, `risk` or `compare`; any part of them will do.
    disclosure
        What the release tells: remedies are those of the methods that it names, and a sample is said to be one.
        Without it the methods are guessed from the measures.
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
    >>> found = Findings((Finding("l_distinct", variable="smoker", group="overall", value=1.0, baseline=2.0),))
    >>> advice(found).to_try[0][:45]
    'Everyone in at least one group has the same s'
    """
    fraction = sampled(disclosure)
    methods = Methods(disclosure, "additive" if findings.select("h_rank") else "averaged")
    risk = [s for s in (_alike(findings), _hidden(findings, fraction), *(say(findings) for say in _RISK)) if s]
    loss = [said for say in _LOSS if (said := say(findings))]
    return Advice(
        risk=" ".join([*risk, _CAVEAT]) if risk else "No risk was measured, so nothing can be said about it.",
        loss=" ".join(loss) if loss else "No loss was measured, so nothing can be said about it.",
        to_try=tuple(_to_try(_of_those_in_it(findings, fraction), methods, published)),
    )


_CAVEAT = (
    "Each figure holds for the attack it names and for no other; none of them shows that nobody can be recognised."
)


def percent(share: float) -> str:
    """A share in words.

    Examples
    --------
    >>> percent(0.0426), percent(0.00004), percent(1.0), percent(0.9996)
    ('4.3%', 'less than 0.1%', '100%', 'nearly 100%')
    """
    if 0 < share < 0.001:
        return "less than 0.1%"
    if 0.999 <= share < 1:
        return "nearly 100%"
    return f"{100 * share:.2g}%" if share < 0.1 else f"{100 * share:.0f}%"


def _with_value(findings: Findings, *measures: str, group: str | None = None) -> list[Finding]:
    """Lines of the first of `measures` that has any with a figure."""
    for measure in measures:
        lines = [f for f in findings.select(measure) if f.value is not None and (group is None or f.group == group)]
        if lines:
            return lines
    return []


def _value(line: Finding) -> float:
    return 0.0 if line.value is None else line.value


def _worst(lines: list[Finding]) -> Finding:
    return max(lines, key=_value)


def _without_protection(line: Finding) -> str:
    return f" (without protection: {percent(line.baseline)})" if line.baseline is not None else ""


# Sentences on the risk.


def _smallest(findings: Findings) -> list[Finding]:
    """Lines that hold the size of the smallest group; that of all groups together is their mean size."""
    return _with_value(findings, "k_anonymity") or [f for f in _with_value(findings, "class_size") if f.group]


def _alike(findings: Findings) -> str | None:
    lines = _smallest(findings)
    if not lines:
        return None
    k = min(_value(line) for line in lines)
    if k < 2:
        return (
            "Somebody who knows a person's categories may find that person at once: at least one record is alone with "
            "its combination of categories."
        )
    few = f", which is few: {_FEW_ALIKE} is the most used lower bound" if k < _FEW_ALIKE else ""
    return (
        "Somebody who knows no more of a person than the categories cannot tell the record from the others of its "
        f"group; the smallest group holds at least {k:.0f} records{few}."
    )


def _hidden(findings: Findings, fraction: float) -> str | None:
    """What the best of the attackers finds among noisy records, beside the k of groups that would hide as well.

    Figures of a sample count the chance that the target is in it: that is said, and judged is what is found of those
    who are in it, since taking part is often known.
    """
    lines = _hidden_lines(findings)
    if not lines:
        return None
    known = _of_those_in_it(findings, fraction)
    line = _worst(_hidden_lines(known))
    found = _value(line)
    k = f", as a group of {1 / found:.0f} alike would be by a single guess" if 0 < found <= 0.5 else ""
    text = f"Of people whose true values are known, {percent(found)} are found by the best of the attackers{k}"
    if fraction < 1:
        text = (
            "Of people whose true values are known, but who may or may not be in the file (sampled "
            f"{percent(fraction)}), {percent(_value(_worst(lines)))} are found by the best of the attackers; of those "
            f"who are known to be in the file {percent(found)}{k}"
        )
    apart = [f for f in known.select("h_rank", attack="worst", at=0.0) if f.group in ("decile 10", "worst")]
    if apart and _value(_worst(apart)) > 2 * found:
        text += f"; of those who stand apart from the others, {percent(_value(_worst(apart)))}"
    return f"{text}. {_judged([line])}"


def _of_those_in_it(findings: Findings, fraction: float) -> Findings:
    """The findings with the h-rank of targets who are in the file, where it is a sample."""
    if fraction == 1:
        return findings
    lines = (
        replace(f, value=min(1.0, f.value / fraction)) if f.measure == "h_rank" and f.value is not None else f
        for f in findings
    )
    return Findings(tuple(lines), findings.notes)


def _hidden_lines(findings: Findings) -> list[Finding]:
    """Who is found at once in the whole file."""
    lines = findings.select("h_rank", group="all", at=0.0)
    return [f for f in lines if f.attack == "worst" and f.value is not None] or [
        f for f in lines if f.value is not None
    ]


def _readable(findings: Findings) -> str | None:
    lines = [f for f in _with_value(findings, "attribute_posterior") if _value(f) > (f.baseline or 0) + 0.05]
    if not lines:
        return None
    line = _worst(lines)
    return (
        f"The true category of {line.variable} can be told from the noisy record for {percent(_value(line))} "
        f"({percent(line.baseline or 0.0)} by guessing the most frequent one)."
    )


def _linkage(findings: Findings) -> str | None:
    """What the best of the attackers find who link by nearest record, and by assignment with the same knowledge."""
    nearest, together = _with_value(findings, "linkage_nearest"), _with_value(findings, "linkage_one_to_one")
    if not nearest and not together:
        return None
    worst = _worst(nearest or together)
    overall = worst.group in (None, "overall")
    together = [f for f in together if (f.group in (None, "overall")) == overall]
    said = []
    if nearest:
        undo = "undoing the restored spread and " if worst.group == "unscaled" else ""
        said.append(f"{_found(worst)} found by {undo}taking the nearest released record")
    if together:
        said.append(f"{_found(_worst(together))} found by assigning the records of very many people at once")
    known = "exact original values" if overall else "exact original values and group"
    return f"Of people whose {known} are known, {', and '.join(said)}. {_judged(nearest + together)}"


def _found(line: Finding) -> str:
    return f"{percent(_value(line))}{_without_protection(line)} are"


def _judged(lines: list[Finding]) -> str:
    highest = _value(_worst(lines))
    if highest > _CONTRACT_LINKAGE:
        return "This is high: 20% is a usual bound for data under a contract, 9% for data that are published."
    if highest > _PUBLIC_LINKAGE:
        return "This is below the 20% that is usual for data under a contract, above the 9% for published data."
    return "This is below the 9% that is a usual bound for published data."


def _close(findings: Findings) -> str | None:
    first, second = _with_value(findings, "risk1"), _with_value(findings, "risk2")
    if not first:
        return None
    line = _worst(first)
    text = (
        f"{_capital(percent(_value(line)))} of the records have a released value so close to the original that "
        f"somebody who sees it comes near the truth{_without_protection(line)}"
    )
    if second:
        text += (
            f", and {percent(_value(_worst(second)))} have besides no other released record near that could hide them"
        )
    return text + "."


def _same(findings: Findings) -> str | None:
    names = _homogeneous(findings)
    if not names:
        return None
    return (
        f"In at least one group everyone has the same {_and(names)}, so whoever knows that a person is in that group "
        "learns it without finding the record."
    )


def _homogeneous(findings: Findings) -> list[str]:
    lines = [f for f in _with_value(findings, "l_distinct") if _value(f) < 2]
    return list(dict.fromkeys(f.variable or "sensitive value" for f in lines))


def _kept(findings: Findings) -> str | None:
    lines = [f for f in _with_value(findings, "unchanged") if _value(f) > 0]
    if not lines:
        return None
    line = _worst(lines)
    return f"Of the values of {line.variable or 'the columns'}, {percent(_value(line))} are exactly what they were."


_RISK: tuple[Callable[[Findings], str | None], ...] = (_linkage, _readable, _close, _same, _kept)


# Sentences on the loss.


def _told_apart(findings: Findings) -> str | None:
    lines = _with_value(findings, "u_trees", "u_interactions", "u_main")
    if not lines:
        return None
    share = _value(lines[0]) / _U_CERTAIN
    could = "clearly could" if share > 0.25 else "could to some extent" if share > 0.04 else "hardly could"
    return (
        f"A computer program that had to tell released records from original ones {could}: it scored "
        f"{_value(lines[0]):.2g}, where 0 is guessing and {_U_CERTAIN} is certainty."
    )


def _moved(findings: Findings) -> str | None:
    lines = _with_value(findings, "delta")
    if not lines:
        return None
    most = _worst(lines)
    if _value(most) == 0:
        return "No value was moved."
    text = f"{_capital(percent(_value(most)))} of the spread of {most.variable or 'a column'} comes from the protection"
    return text + (" and less than that in every other column." if len(lines) > 1 else ".")


def _model(findings: Findings) -> str | None:
    lines = _with_value(findings, "standardised_difference")
    if not lines:
        return None
    most = _worst(lines)
    d = _value(most)
    meaning = (
        "more than chance alone would move it in another sample of the same size"
        if d > 1
        else "well within what another sample of the same size would give"
        if d <= 0.5
        else "about what another sample of the same size would give"
    )
    return (
        f"In the model that was fitted to both tables, the coefficient that moved most ({most.variable}) moved by "
        f"{d:.2g} of its standard errors, {meaning}."
    )


def _impossible(findings: Findings) -> str | None:
    names = _more_impossible(findings)
    if not names:
        return None
    return f"Some released values of {_and(names)} are impossible ones, outside the range that was given."


def _more_impossible(findings: Findings) -> list[str]:
    lines = [f for f in _with_value(findings, "out_of_range") if _value(f) > (f.baseline or 0.0)]
    return [f.variable or "a column" for f in lines]


_LOSS: tuple[Callable[[Findings], str | None], ...] = (_told_apart, _moved, _model, _impossible)


# What to try.

_REMEDY: dict[str, Aim | str] = {
    "h_rank": Aim.FURTHER,
    "attribute_posterior": Aim.READ,
    "attribute_nearest": DIVERSE,
    "attribute_alike": DIVERSE,
    "k_anonymity": RECODE,
    "class_size": RECODE,
    "l_distinct": DIVERSE,
    "t_equal": DIVERSE,
    "risk1": Aim.FURTHER,
    "risk2": Aim.FURTHER,
    "interval_disclosure": Aim.FURTHER,
    "linkage_nearest": Aim.FURTHER,
    "linkage_one_to_one": Aim.FURTHER,
    "unchanged": Aim.KEPT,
    "out_of_range": Aim.BOUNDS,
    "delta": Aim.GENTLER,
    "il1s": Aim.GENTLER,
    "standardised_difference": Aim.GENTLER,
    "ci_overlap": Aim.GENTLER,
    "u_main": Aim.TABLES,
    "u_interactions": Aim.GENTLER,
    "u_trees": Aim.GENTLER,
    "mean": Aim.MEANS,
    "sd": Aim.SPREAD,
    "quantile": Aim.GENTLER,
    "correlation": Aim.GENTLER,
}


def _to_try(findings: Findings, methods: Methods, published: bool) -> Iterator[str]:
    """Limits that do not hold, then figures that are bad; each remedy is given once for each measure."""
    failing = [f for f in findings if f.ok is False]
    unknown = [f for f in failing if unmeasured(f) and not published]
    seen = set()
    for measure in dict.fromkeys(f.measure for f in failing if f not in unknown):
        columns = dict.fromkeys(f.variable for f in failing if f.measure == measure and f not in unknown)
        for remedy in dict.fromkeys(_remedy(_REMEDY.get(measure), methods, column) for column in columns):
            seen.add(remedy)
            yield f"The limit on {measure} is exceeded: {remedy}."
    for measure in dict.fromkeys(f.measure for f in unknown):
        yield (
            f"The limit on {measure} could not be measured: check its variable, group, at and attack, and whether any "
            "step gives this measure something to look at."
        )
    for complaint, remedy in _bad(findings, methods):
        if remedy not in seen:
            seen.add(remedy)
            yield f"{complaint}: {remedy}."


def _remedy(general: Aim | str | None, methods: Methods, column: str | None) -> str:
    if general is None:
        return "change the step that this measure looks at, or reconsider the limit"
    return general if isinstance(general, str) else methods.remedy(general, column)


def _bad(findings: Findings, methods: Methods) -> Iterator[tuple[str, str]]:
    """Figures that are bad by the conventions of this module, each with its remedy, most pressing first."""
    for find, general in _BAD_RISK:
        if complaint := find(findings):
            yield complaint, _remedy(general, methods, None)
    kept: dict[str, list[str]] = {}
    for line in _with_value(findings, "unchanged"):
        # That most categories stay is how exchanging at random works: nobody can tell which.
        if _value(line) > 0.1 and methods.kind(line.variable) != "misclassified":
            remedy = methods.remedy(Aim.KEPT, line.variable)
            kept.setdefault(remedy, []).append(line.variable or "the columns")
    for remedy, names in kept.items():
        yield f"Many values of {_and(names)} are exactly what they were", remedy
    for find, general in _BAD_LOSS:
        if complaint := find(findings):
            yield complaint, _remedy(general, methods, None)


def _bad_hidden(findings: Findings) -> str | None:
    lines = _hidden_lines(findings)
    high = lines and _value(_worst(lines)) > _CONTRACT_LINKAGE
    return "Many records are found by somebody who knows the true values" if high else None


def _bad_apart(findings: Findings) -> str | None:
    """Outliers whose h stays low although the rest is hidden."""
    lines = _hidden_lines(findings)
    apart = [f for f in findings.select("h_rank", attack="worst", at=0.0) if f.group in ("decile 10", "worst")]
    if not lines or not apart:
        return None
    far, all_ = _value(_worst(apart)), _value(_worst(lines))
    return "People who stand apart from the others are hidden worse" if far > max(_PUBLIC_LINKAGE, 2 * all_) else None


def _bad_alike(findings: Findings) -> str | None:
    lines = _smallest(findings)
    few = lines and min(_value(line) for line in lines) < _FEW_ALIKE
    return "Some groups of people with equal categories are very small" if few else None


def _bad_same(findings: Findings) -> str | None:
    names = _homogeneous(findings)
    return f"Everyone in at least one group has the same {_and(names)}" if names else None


def _bad_linkage(findings: Findings) -> str | None:
    lines = _with_value(findings, "linkage_nearest") + _with_value(findings, "linkage_one_to_one")
    high = lines and _value(_worst(lines)) > _CONTRACT_LINKAGE
    return "Many records are found by somebody who knows the exact original values" if high else None


def _bad_close(findings: Findings) -> str | None:
    high = [f for m, bound in (("risk1", 0.05), ("risk2", 0.01)) for f in _with_value(findings, m) if _value(f) > bound]
    return "Many released values lie close to the originals" if high else None


def _bad_loss(findings: Findings) -> str | None:
    if any(_value(f) > 0.1 for f in _with_value(findings, "delta")):
        return "Values were moved far"
    if any(_value(f) > 1 for f in _with_value(findings, "standardised_difference")):
        return "A coefficient moved by more than its standard error"
    return None


def _bad_range(findings: Findings) -> str | None:
    names = _more_impossible(findings)
    return f"Some values of {_and(names)} are impossible" if names else None


_BAD_RISK: tuple[tuple[Callable[[Findings], str | None], Aim | str], ...] = (
    (_bad_alike, RECODE),
    (_bad_hidden, Aim.FURTHER),
    (_bad_apart, Aim.APART),
    (_bad_same, DIVERSE),
    (_bad_linkage, Aim.FURTHER),
    (_bad_close, Aim.FURTHER),
)
_BAD_LOSS: tuple[tuple[Callable[[Findings], str | None], Aim], ...] = (
    (_bad_range, Aim.BOUNDS),
    (_bad_loss, Aim.GENTLER),
)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _and(names: list[str]) -> str:
    """Names as a list in words, each once."""
    names = list(dict.fromkeys(names))
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
