"""Why something is not given, in plain words: what the criterion means, and what can be done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["DECISIONS", "OFFERS", "Reason", "reasons"]


@dataclass(frozen=True)
class Reason:
    """A criterion in words.

    Parameters
    ----------
    name
        As the gate tells it.
    title
        In a few words.
    meaning
        What it asks.
    advice
        What to do.
    """

    name: str
    title: str
    meaning: str
    advice: str


DECISIONS = {"granted": "Granted", "refused": "Refused", "undecided": "Not decided yet"}
OFFERS = {"coarser": "Coarser", "smaller": "Smaller", "perturbed": "With noise", "analysis": "A model"}
_COARSER = "Ask with coarser levels or with fewer variables."
_WORDS = {
    "interval": (
        "Small groups would be known too closely",
        "With all that you, or those who may come to know it from you, were told before, this would tell too closely "
        "how many people are in a small group.",
        _COARSER,
    ),
    "attribution": (
        "A sensitive trait would be given away",
        "With what is known already, this would tell of a group of people what they have, or have not.",
        "Leave the sensitive variable out, or cross it with fewer or coarser variables.",
    ),
    "dominance": (
        "One person would weigh too much in a sum",
        "A few people make up most of a sum, so that their values could be worked out closely.",
        "Ask for the counts alone, or by coarser levels.",
    ),
    "extremes": (
        "A sum would give single values away",
        "All of a group have the least or the largest value, which their sum would tell of each of them.",
        "Ask for the counts alone, or by coarser levels.",
    ),
    "sums": (
        "The sum tells as much as its own table would",
        "Sums of a variable with few different values tell who has which, and that table would not be given.",
        "Ask for the variable by a coarser level instead of its sum.",
    ),
    "sap": (
        "Taking known people away would find zeros",
        "Somebody who knows a few people of a table could subtract them and learn what all others have.",
        _COARSER,
    ),
    "noise": (
        "The budget of noise is used up",
        "All noisy answers together would tell too much about one person.",
        "What was given already can be had again. Ask a steward whether the budget may be larger.",
    ),
    "public": (
        "It would take too much from others",
        "A table for everybody limits what can still be given to researchers, and the rule for the public says no.",
        "Ask for a table of fewer or coarser variables.",
    ),
    "version": (
        "The version is too near an earlier one",
        "So few people came or went that tables of both versions would tell about them.",
        "Wait until more has changed, and add the version then.",
    ),
    "scope": (
        "Another analysis was made of almost the same people",
        "The two would differ by a few people, and their difference would tell about these.",
        "Use the same groups as before, or `complete cases: project`, which fixes the people once.",
    ),
    "residual_df": (
        "Too few people for this model",
        "There must be ten more people than coefficients.",
        "Use a simpler model, or fewer restrictions.",
    ),
    "parameters": (
        "Too many coefficients for so few people",
        "A model may have one coefficient for every three people at most.",
        "Use a simpler model, or coarser levels.",
    ),
    "levels": (
        "A level of the model has too few people",
        "Every level, on each side of a response with two values, needs more people than a small group has.",
        "Use coarser levels, or leave the variable out.",
    ),
    "model": (
        "The model cannot be fitted",
        "Its estimates do not exist, or cannot be told apart: covariates may determine one another or the response.",
        "Leave a term out.",
    ),
    "steward": ("A steward refused it", "It could not be proved safe, and a steward decided against it.", _COARSER),
    "known": ("It is known already", "It follows from what was given before.", ""),
    "exception": ("By exception", "Two stewards gave it though it was not proved safe.", ""),
}


def reasons(names: Sequence[str]) -> list[Reason]:
    """Criteria in words.

    Examples
    --------
    >>> [one.title for one in reasons(["interval"])]
    ['Small groups would be known too closely']
    """
    plain = ("A rule of the policy is not met", "The policy asks for it.", _COARSER)
    return [Reason(name, *_WORDS.get(name, plain)) for name in names]
