"""Deterministic anonymisation: each record becomes the centroid of its nearest neighbours within its stratum."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.data.disclosure import Averaged, Disclosed, Dropped, Imputed, Suppressed
from sfumato.kernels.grid import NO_GRID
from sfumato.methods.base import Stage, numeric_problems
from sfumato.methods.centroids.moments import DOMINATES, dominated
from sfumato.methods.centroids.parameters import CentroidParameters
from sfumato.methods.centroids.stages import Averaging, Preparing, Restoring, Stratifying, rebuilt
from sfumato.methods.checks import strata_problems
from sfumato.methods.drawn_grid import with_multiples

__all__ = ["Centroids"]


class Centroids(CentroidParameters):
    """Replace numbers by the centroid of a record's k nearest neighbours within its stratum, then restore the spread.

    Protects against an intruder who knows exact values of the columns and looks for them: hardly any value stays. It
    does not make the record unfindable: the released point lies near the true one, so that whoever knows true values
    and stratum links far more than one in k records (`linkage_nearest` measures it; `grouping="mdav"` lowers it). Nor,
    in one column or few, does it withstand somebody who takes the release for a system of equations (`reconstruction`
    measures it; `grouping="mdav"`, `blur`, more columns and a larger k lower it).
    Columns not listed stay as they are, and a category that is the same for a whole stratum is given away.

    Parameters
    ----------
    columns
        Continuous or integer columns to mask together, at most 64.
    by
        Categorical columns; neighbours are sought within each of their combinations.
    k
        Records in a centroid, the record itself included; at least 3.
    grouping
        `knn`: the k nearest of each record. Or disjoint groups of at least k (microaggregation), by `mdav`; by
        `variable`, which loses less; or, of one column, the `optimal` ones, which lose least. Which of equal records
        goes to which group is told by the record's keyed draw, and without a record column they share.
    ties
        What the last ring of equally distant neighbours does: `share` what remains of k, or count whole (`all`).
    distinct
        Count equal records once, so that twins do not map to themselves.
    rescale
        Restore each column's standard deviation over the whole table.
    recentre
        Restore each column's mean over the whole table.
    moments
        What is restored is `rounded` at random to a tenth of its standard error, so that two releases do not tell the
        value of a person whom only one of them holds, or `exact`, which tells it.
    min_stratum
        Smallest stratum, by default max(2k, k + 3): in a stratum of k everybody gets the same centroid.
    on_small
        What happens to smaller strata: an `error`; `merge` with the nearest; `suppress` their records; or
        `drop_variable`, which takes the last of `by` out of the release until all are large enough.
    max_suppressed
        Largest share of the records that `suppress` may leave out.
    clip
        `{column: [low, high]}`, null for an open side. Never take the bounds from the data.
    round_to
        `input`: to the decimal places of the column's values, integers stay integers; a number: to its multiples;
        `{column: number}`; or null. With `blur` a column that has too many decimals becomes multiples of about a
        thousandth of its sd, and null is refused.
    missing
        `keep`: a record's neighbours are those that have the columns it has, and what is missing stays so;
        `category`: only those with the same columns missing; `median`, `mean`: fill in; `drop`: leave records out.
    blur
        Normal noise on each centroid, its sd this share of the root mean square distance of the centroid's records from
        it, column by column; 0 to 1. It is keyed on the true values of these records: equal centroids stay equal, and
        a centroid that another release has too has the same noise there. It stands against somebody who solves the
        release for the values that it was made of, or subtracts an earlier one.
    block_size
        Most records that are searched together; larger strata are cut at medians.
    allow_small_k
        Let k = 2 through, which releases averages of pairs.
    preset
        `avraam2021`: the paper's settings for what is not given (rescaled, not re-centred, not rounded, moments exact,
        `min_stratum` is k).

    References
    ----------
    Avraam, Jones and Burton (2021), doi:10.21203/rs.3.rs-344334/v1. MDAV: Domingo-Ferrer and Torra (2005),
    doi:10.1007/s10618-005-0007-5. Variable groups: Domingo-Ferrer, Martínez-Ballesté, Mateo-Sanz and Sebé (2006),
    doi:10.1007/s00778-006-0007-0. Optimal ones: Hansen and Mukherjee (2003), doi:10.1109/TKDE.2003.1209020.

    Examples
    --------
    >>> Centroids(columns=("age", "fare"), by=("sex",), k=3, preset="avraam2021").min_stratum
    3
    """

    def check(self, codebook: Codebook) -> list[str]:
        """Numbers in `columns`, categories in `by`."""
        problems = super().check(codebook) + numeric_problems(codebook, self.columns)
        return problems + strata_problems(codebook, self.by)

    def stage(self, codebook: Codebook, states: tuple[Any, ...]) -> Stage | None:
        """Prepare, settle the strata, average, restore."""
        match len(states):
            case 0:
                return Preparing(self, codebook).stage()
            case 1:
                return Stratifying(self, codebook, states[0]).stage()
            case 2:
                return Averaging(self, codebook, *states).stage()
            case 3:
                return Restoring(self, codebook, *states).stage()
        return None

    def disclose(self, states: tuple[Any, ...]) -> tuple[Disclosed, ...]:
        """How values were averaged, and what became of missing values and small strata."""
        prepared, settled, _, restored = states
        said: list[Disclosed] = []
        if self.missing in ("median", "mean"):
            said.append(Imputed(columns=self.columns, method=self.missing))
        if self.missing == "drop":
            rule = "records with a missing value in any of these were left out"
            said.append(Suppressed(columns=self.columns, rule=rule))
        if settled.gone:
            rule = f"records in combinations of fewer than {self.min_stratum} were left out"
            said.append(Suppressed(columns=self.by, rule=rule))
        if left := tuple(n for n in self.by if n not in settled.by):
            said.append(Dropped(columns=left))
        on_grid = any(place < NO_GRID for place in prepared.decimals.values())
        rounded = on_grid if self.round_to == "input" else self.round_to is not None
        averaged = Averaged(
            columns=self.columns,
            by=settled.by,
            k=self.k,
            grouping=self.grouping,
            rescaled=self.rescale and restored.rescaled,
            recentred=self.recentre,
            rounded=restored.steps or rounded,
            clipped=self.clip is not None,
            blur=self.blur,
            merged=settled.merged,
            moments=self.moments,
            restored={n: moments for n, moments in restored.restored.items() if n not in (self.clip or {})},
        )
        return (*said, averaged)

    def describe(self, codebook: Codebook, states: tuple[Any, ...] = ()) -> Codebook:
        """What blurred numbers are multiples of."""
        return with_multiples(codebook, states[3].steps) if states else codebook

    def notes(self, states: tuple[Any, ...]) -> tuple[str, ...]:
        """What each stage had to say."""
        return tuple(note for state in states for note in state.notes)

    def warnings(self, states: tuple[Any, ...]) -> tuple[str, ...]:
        """Columns of which one value makes so much that another release would tell it."""
        found = [n for n, kept in states[3].kept.items() if dominated(kept)] if self.rescale or self.recentre else []
        if not found:
            return ()
        return (
            f"One value makes more than {DOMINATES:.0%} of the sum of squares of {', '.join(found)}, so that whoever "
            "gets a second release without that person reads it off the restored means and spreads to within a fifth "
            "or nearer. Cut such values off before this step, with a bound from outside the data: "
            f"{{do: top_code, columns: [{', '.join(found)}], at: ...}}; after it, clip with such bounds hides them in "
            "part.",
        )

    def reconstructions(self, states: tuple[Any, ...]) -> Mapping[str, Mapping[str, pl.Expr]]:
        """The centroids before rescaling: the scale can be found from columns on a lattice, so it protects nothing."""
        return {"unscaled": rebuilt(states[2])} if len(states) == 3 else {}
