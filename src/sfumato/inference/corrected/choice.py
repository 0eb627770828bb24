"""Which method a fit takes by itself, and what is said where it cannot take `corrected`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sfumato.errors import DataError
from sfumato.inference.corrected.obstacles import CORRECTED, Obstacle
from sfumato.inference.problem import Problem

__all__ = ["Choice", "Method", "choose"]

Method = Literal["auto", "corrected", "ml", "bayes", "naive"]

_ASSUMED = {
    "linear": "errors that are independent of the hidden values; standard errors allow for errors of unequal variance",
    "poisson": "counts with a negative binomial distribution",
}


@dataclass(frozen=True)
class Choice:
    """How a model is fitted.

    Parameters
    ----------
    method
        The method.
    fallen
        Whether it is a likelihood because `corrected` cannot take a column: `linear` models then have robust standard
        errors, counts the negative binomial likelihood.
    notes
        What a reader should know of it.
    """

    method: Literal["corrected", "ml", "bayes", "naive"]
    fallen: bool = False
    notes: tuple[str, ...] = ()


def choose(problem: Problem, family: str, method: Method, found: Obstacle | None, grouped: bool) -> Choice:
    """Choose the method, or refuse the one that was asked for.

    Parameters
    ----------
    problem
        The model with its data.
    family
        Of the model.
    method
        As asked for.
    found
        What `corrected` cannot take of the model.
    grouped
        Whether groups have random effects.

    Raises
    ------
    DataError
        Where `corrected` cannot take the model, and was asked for or is the only method of the family.
    """
    if method == "corrected":
        if family not in CORRECTED:
            raise DataError(
                f"Method `corrected` is for families {', '.join(CORRECTED)}; `{family}` takes `ml`, which is also what "
                "`auto` takes for it."
            )
        if grouped:
            raise DataError("Method `corrected` takes no random effects. Leave out `group`, or use method `ml`.")
        if found is not None:
            raise DataError(f"Method `corrected` cannot take this model: {found}. {_way_out(family)}")
        return Choice("corrected")
    if method != "auto":
        return Choice(method)
    hidden = problem.discrete or problem.continuous or not problem.outcome.exact
    if family not in CORRECTED or not (hidden or not problem.outcome.counts):
        return Choice("ml")
    if found is None and not grouped:
        return Choice("corrected")
    if family == "cox":
        remedy = "Method `corrected` leaves such records out." if found and found.gaps else _way_out(family)
        raise DataError(f"Family `cox` cannot take this model: {found}. {remedy}")
    why = f"{found}, which `corrected` cannot take" if found else "Random effects are none that `corrected` takes"
    assumed = _ASSUMED[family] if not grouped else "normal errors and random effects"
    return Choice("ml", not grouped, (f"{why}: method `ml` was taken, which assumes {assumed}.",))


def _way_out(family: str) -> str:
    if family == "cox":
        return "Leave the column out of the formula, or use method `naive`."
    return "Use method `ml`, which assumes more, or leave the column out of the formula."
