"""Probabilistic anonymisation: noise of known variance, which an analysis can take out again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.disclosure import Additive, Disclosed, Imputed
from sfumato.data.roles import Kind
from sfumato.methods.base import Stage, unit_problems
from sfumato.methods.checks import role_problems, strata_problems
from sfumato.methods.noise.adding import Adding
from sfumato.methods.noise.looking import Looking, dummy_column
from sfumato.methods.noise.parameters import NoiseParameters

__all__ = ["Noise"]

_NO_NUMBER = {
    Kind.DATE: "derive a number from it first (year, age)",
    Kind.TEXT: "drop it, or recode it to categories and use `pram`",
    Kind.GEOGRAPHIC: "use `pram`, or recode it to broader places",
}


class Noise(NoiseParameters):
    """Add random noise of disclosed strength to numbers, so that nobody can be sure whose record is whose.

    Protects against an intruder who knows values and looks for the record: the nearest released record is often
    somebody else's (`h_rank` measures how often not). It does not protect outliers that stand far from everybody
    (`grow` does), columns that it does not list, or a 0/1 value itself: at noise of variance 0.2 a threshold still
    tells 87% of them.

    Every draw is keyed on the secret, the record, the column, the strength and the true value: an equal release repeats
    it, so that there is nothing to average; another strength or a corrected value gets an independent one.

    Parameters
    ----------
    columns
        Numeric columns, 0/1 columns, codes, or categorical columns named in `dummies`; at most 64.
    share
        Variance of the noise as a share of the column's own (of its stratum with `by`): a number for all columns, or by
        column.
    variance
        Variance of the noise in the column's units squared, likewise.
    sd
        Standard deviation of the noise in the column's units, likewise. Every column needs one of the three, or
        `covariance`.
    covariance
        Covariance of the noise, a row for each of `columns`; in place of the three above.
    correlated
        Give the noise the correlations of the data. Slopes between noisy columns are then kept without correction, and
        the best attack gains.
    distribution
        `gaussian`, `laplace` (heavier tails) or `uniform` (bounded); the last two are independent between columns.
    clip
        `true`: released values of 0/1 columns outside [0, 1] are set to 0 or 1. Or `{column: [low, high]}`, null for an
        open side; never take the bounds from the data. Clipped noise is easier to attack.
    round_to
        What released values are multiples of. `auto`: the largest 1, 2 or 5 × 10^m that is not above a twentieth of the
        noise's sd, the least over strata. `input`: the decimal places of the column's values, whole numbers stay whole;
        where these are finer than 1/10,000 of the sd, or more than ten, as `auto`. A number; or `{column: …}`.
    by
        Categorical columns: `share`, `correlated` and `grow` then go by the stratum's own spread, and each stratum's
        strength is disclosed.
    min_stratum
        Fewest values in a stratum whose spread may be disclosed.
    draw_by
        `household`: all records of a household share the draw, so that differences within it stay, but for rounding.
        `person` is taken by itself for values that are the same in all records of a person, and refused for others.
    missing
        `keep`: null, NaN and missing codes stay as they are; `mean`, `median`: they are filled in and get noise like
        the rest.
    grow
        Robust distance from the median (in interquartile ranges / 1.349) from which on the noise's standard deviation
        grows in proportion, so that outliers are hidden too; 2 is a usual choice.
    dummies
        `{column: [all its categories]}`: the column gives way to one noisy 0/1 column for each, named
        `column=category`.
    preset
        `avraam2018`: share 0.1 for columns without a strength of their own, a variance given for 0/1 columns, clipped.

    References
    ----------
    Avraam, Boyd, Goldstein and Burton (2018), "A software package for the application of probabilistic anonymisation to
    sensitive individual-level data". Goldstein and Shlomo (2020), doi:10.2478/jos-2020-0005. Household draws and
    correlated noise: Kim (1986), Proceedings of the Section on Survey Research Methods, ASA, 370-374.

    Examples
    --------
    >>> Noise(columns=("bmi", "sex"), variance={"sex": 0.2}, preset="avraam2018").strength("bmi")
    ('share', 0.1)
    """

    @property
    def keeps_gaps(self) -> bool:
        """Unless gaps are filled in."""
        return self.missing == "keep"

    @property
    def changes(self) -> tuple[str, ...]:
        """The columns whose values it changes, and those that it makes."""
        made = (dummy_column(n, level) for n, levels in self.dummies.items() for level in levels)
        return (*self.columns, *made)

    def check(self, codebook: Codebook) -> list[str]:
        """Numbers or codes in `columns`, categories in `by`, and ids to key the draws on."""
        asked = self.model_copy(update={"dummies": {}})
        problems = super(NoiseParameters, asked).check(codebook) + unit_problems(self.name, codebook, self.draw_by)
        problems += role_problems(codebook, self.columns) + strata_problems(codebook, self.by)
        for n in (n for n in self.columns if n in codebook and n not in self.dummies):
            variable = codebook[n]
            if variable.kind in _NO_NUMBER:
                problems.append(
                    f"column {n!r} is {variable.kind}, and noise needs numbers: {_NO_NUMBER[variable.kind]}"
                )
            elif self.preset and variable.kind == Kind.CATEGORICAL and self.strength(n)[0] == "share":
                problems.append(f"column {n!r} is categorical: preset avraam2018 needs a variance for it")
            if self.grow is not None and variable.kind == Kind.CATEGORICAL:
                problems.append(f"column {n!r} is categorical: grow is for amounts")
        made = {dummy_column(n, level) for n, levels in self.dummies.items() for level in levels}
        problems += [f"dummies would make {n!r}, which is there already" for n in sorted(made & set(codebook))]
        return problems

    def describe(self, codebook: Codebook, states: tuple[Any, ...] = ()) -> Codebook:
        """Noisy codes are numbers; dummies stand in place of their column; what was filled in is not missing."""
        variables = {}
        steps: Mapping[str, float] = states[-1].steps if states else {}
        for n, variable in codebook.items():
            if n in self.dummies:
                for level in self.dummies[n]:
                    label = f"{variable.label or n}: {variable.labels.get(level, level)}"
                    noisy = variable.model_copy(update={**_AMOUNT, "missing": (), "label": label})
                    name = dummy_column(n, level)
                    variables[name] = noisy.in_multiples(steps.get(name))
            elif n in self.columns:
                update: dict[str, Any] = {**_AMOUNT, "missing": variable.missing if self.missing == "keep" else ()}
                step = self._step(n, variable, steps)
                if not self.stays_whole(n, step):
                    update["kind"] = Kind.CONTINUOUS
                variables[n] = variable.in_multiples(step).model_copy(update=update)
            else:
                variables[n] = variable
        return Codebook(variables)

    def _step(self, column: str, variable: Variable, steps: Mapping[str, float]) -> float | None:
        """The multiple of a column's released values; before the run, as far as it is told by the plan."""
        given = self.grid_of(column)
        planned = 1.0 if given == "input" and variable.kind == Kind.INTEGER else given
        return steps.get(column, planned if isinstance(planned, float) else None)

    def stage(self, codebook: Codebook, states: tuple[Any, ...]) -> Stage | None:
        """Look at spreads; then add, after a look at correlations where they are wanted."""
        match len(states):
            case 0:
                return Looking(self, codebook).stage()
            case 1:
                return Adding(self, codebook, states[0]).stage()
        return None

    def disclose(self, states: tuple[Any, ...]) -> tuple[Disclosed, ...]:
        """The covariance of the noise, for each stratum where so, and all that was done to the values after it."""
        said: list[Disclosed] = []
        if self.missing != "keep":
            said.append(Imputed(columns=self.columns, method=self.missing))
        parts: tuple[Additive, ...] = states[-1].disclosed
        return (*said, *parts)

    def notes(self, states: tuple[Any, ...]) -> tuple[str, ...]:
        """What each look had to say."""
        return tuple(dict.fromkeys(note for state in states if state is not None for note in state.notes))


_AMOUNT: dict[str, Any] = {"labels": {}, "order": (), "measure": None, "format": None}
