"""The editor of a model: a formula that is built from variables, and its family."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sfumato.data.formula import parse_formula
from sfumato.data.roles import IDS, Role
from sfumato.errors import FormulaError, SfumatoError
from sfumato.web.studio.describing import described
from sfumato.web.studio.studio import Studio

__all__ = ["FAMILIES", "LONGEST", "built", "chosen", "intended", "modelled", "term"]

FAMILIES = (("", "as suits the outcome"), ("linear", "linear"), ("logistic", "logistic"), ("probit", "probit"))
"""Of the intended model, by which releases are judged."""
LONGEST = 10_000
"""Characters of a formula that are taken."""
_NOT_MODELLED = (*IDS, Role.IDENTIFIER, Role.WEIGHT)


def term(name: str) -> str:
    """A column as a formula names it.

    Examples
    --------
    >>> term("age"), term("body mass")
    ('age', '`body mass`')
    """
    return name if name.isidentifier() else f"`{name}`"


def built(response: str, covariates: Sequence[str]) -> str:
    """The formula of an outcome that is explained by others; empty without an outcome.

    Examples
    --------
    >>> built("ill", ["age", "body mass"]), built("ill", [])
    ('ill ~ age + `body mass`', 'ill ~ 1')
    """
    return f"{term(response)} ~ {' + '.join(map(term, covariates)) or '1'}" if response else ""


def chosen(formula: str) -> tuple[str, list[str]]:
    """The outcome of a formula, and the variables that stand in it by themselves; nothing of one that is none.

    Examples
    --------
    >>> chosen("ill ~ age + C(sex) + age:C(sex)")
    ('ill', ['age', 'sex'])
    """
    try:
        read = parse_formula(formula)
    except FormulaError:
        return "", []
    return read.response, [one[0].name for one in read.terms if len(one) == 1 and one[0].power == 1]


def modelled(studio: Studio) -> list[str]:
    """The variables that a model may have: those that say of people what could be estimated."""
    named = [one.name for one in described(studio) if one.variable.role not in _NOT_MODELLED]
    return [name for name in named if "`" not in name and "\n" not in name]  # no formula can name others


def intended(studio: Studio, model: str, family: str) -> dict[str, Any]:
    """The intended model as options of a task, with the family that suits its outcome where none was chosen.

    Parameters
    ----------
    studio
        Whose plan says what the outcome is.
    model
        As it was typed; empty: the one that `protect` takes by itself.
    family
        As it was chosen.
    """
    formula = model.strip()[:LONGEST] or None
    if formula is None or family in dict(FAMILIES[1:]):
        return {"model": formula, "family": family if family in dict(FAMILIES[1:]) else None}
    try:
        outcome = parse_formula(formula).response
        kinds = {one.name: one.variable.numeric for one in described(studio)}
    except SfumatoError:  # whoever fits it says what is wrong
        return {"model": formula, "family": None}
    return {"model": formula, "family": "linear" if kinds.get(outcome, True) else "logistic"}
