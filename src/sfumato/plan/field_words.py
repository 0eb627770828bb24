"""Words of the field and of other programs, and what they are called here: for whoever types them."""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches

__all__ = ["command_meant", "step_meant"]

_STEPS = {
    "centroids": "microaggregate microaggregation microaggregations mdav average averaging rmdmicroaggregation",
    "suppress_cells": "suppress suppression localsuppression localsuppress localsupp cellsuppression suppressvalues",
    "suppress_strata": "recordsuppression suppressrecords rowsuppression suppressrows",
    "recode": "globalrecode globalrecoding recoding generalise generalize generalisation generalization groupandrename "
    "band bands banding",
    "top_code": "topcode topcoding topbotcoding topbottomcoding topandbottomcoding bottomcode bottomcoding",
    "merge_rare": "merge mergecategories collapse collapsecategories",
    "noise": "addnoise noiseaddition additivenoise perturb perturbation",
    "pram": "postrandomisation postrandomization postrandomisationmethod postrandomizationmethod",
    "swap": "rankswap rankswapping swapping dataswapping exchange",
    "swap_households": "recordswap recordswapping targetedrecordswapping householdswapping",
    "shuffle": "shuffling datashuffling",
    "synthesise": "syn synthesize synthetic syntheticdata synthpop synthesis",
    "pseudonymise": "pseudonymize pseudonymisation pseudonymization hash tokenise tokenize",
    "impute": "imputation imputing knnimp hotdeck",
    "sample": "sampling subsample subsampling",
    "drop": "remove delete dropcolumns deletevariables",
    "redact": "redaction scrub",
    "coarsen_date": "coarsendates datecoarsening",
    "anonymise": "anonymize anonymisation anonymization kanonymity kanonymise kanonymize kanon localrecoding",
}
_COMMANDS = {
    "anonymise": "anonymize anonymisation anonymization kanonymity kanonymise kanonymize kanon kanonymization arx "
    "ldiversity tcloseness",
    "init": "createsdcobj create draft new start",
    "protect": "run apply release mask",
    "risk": "measurerisk individualrisk suda suda2 drisk uniques reidentification",
    "compare": "utility dutility informationloss utilitygen",
    "table protect": "secondarysuppression tauargus argus",
}
_BY_STEP = {word: step for step, words in _STEPS.items() for word in words.split()}
_BY_COMMAND = {word: command for command, words in _COMMANDS.items() for word in words.split()}


def step_meant(word: str, methods: Collection[str]) -> str | None:
    """The method that a word means, or that it is nearest to; None where there is none.

    Parameters
    ----------
    word
        What was given for a method.
    methods
        Names of the methods that there are.

    Examples
    --------
    >>> names = ["centroids", "suppress_cells", "top_code"]
    >>> [step_meant(word, names) for word in ("microaggregation", "localSuppression", "top-code", "xyz")]
    ['centroids', 'suppress_cells', 'top_code', None]
    """
    bare = _bare(word)
    named = next((name for name in methods if _bare(name) == bare), None) or _BY_STEP.get(bare)
    if named in methods:
        return named
    return next(iter(get_close_matches(word.lower(), methods, n=1, cutoff=0.7)), None)


def command_meant(word: str, methods: Collection[str]) -> str | None:
    """What a command that there is not means, as what to type; None where no word of the field is known.

    Parameters
    ----------
    word
        What was typed for a command.
    methods
        Names of the methods that there are.

    Examples
    --------
    >>> print(command_meant("k-anonymity", []), "or", command_meant("microaggregate", ["centroids"]))
    'sfumato anonymise' or the step 'centroids' of a plan (sfumato methods centroids)
    """
    bare = _bare(word)
    if bare in _BY_COMMAND:
        return f"'sfumato {_BY_COMMAND[bare]}'"
    step = next((name for name in methods if _bare(name) == bare), None) or _BY_STEP.get(bare)
    return f"the step {step!r} of a plan (sfumato methods {step})" if step in methods else None


def _bare(word: str) -> str:
    return "".join(c for c in word.lower() if c.isalnum())
