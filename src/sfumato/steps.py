"""The steps of a plan as Python values: `sf.steps.Centroids(columns=["age"], k=3)`.

Every registered method is here under its class name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sfumato.methods.anonymise.method import Anonymise as Anonymise
    from sfumato.methods.centroids.method import Centroids as Centroids
    from sfumato.methods.coarsen_date import CoarsenDate as CoarsenDate
    from sfumato.methods.coarsen_postcode import CoarsenPostcode as CoarsenPostcode
    from sfumato.methods.complete_cases import CompleteCases as CompleteCases
    from sfumato.methods.count_text import CountText as CountText
    from sfumato.methods.derive import Derive as Derive
    from sfumato.methods.drop import Drop as Drop
    from sfumato.methods.impute import Impute as Impute
    from sfumato.methods.map_text import MapText as MapText
    from sfumato.methods.merge_rare import MergeRare as MergeRare
    from sfumato.methods.noise.method import Noise as Noise
    from sfumato.methods.pram.method import Pram as Pram
    from sfumato.methods.pseudonymise import Pseudonymise as Pseudonymise
    from sfumato.methods.recode import Recode as Recode
    from sfumato.methods.redact import Redact as Redact
    from sfumato.methods.sample import Sample as Sample
    from sfumato.methods.shuffle.method import Shuffle as Shuffle
    from sfumato.methods.suppress_cells import SuppressCells as SuppressCells
    from sfumato.methods.suppress_strata import SuppressStrata as SuppressStrata
    from sfumato.methods.swap.method import Swap as Swap
    from sfumato.methods.swap_households.method import SwapHouseholds as SwapHouseholds
    from sfumato.methods.synthesise.method import Synthesise as Synthesise
    from sfumato.methods.to_grid import ToGrid as ToGrid
    from sfumato.methods.to_line import ToLine as ToLine
    from sfumato.methods.to_polygon import ToPolygon as ToPolygon
    from sfumato.methods.top_code import TopCode as TopCode
    from sfumato.methods.truncate_code import TruncateCode as TruncateCode
    from sfumato.methods.typify import Typify as Typify


def _classes() -> dict[str, Any]:
    from sfumato.methods.registry import methods

    return {method.__name__: method for method in methods().values()}


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return sorted(_classes())
    try:
        return _classes()[name]
    except KeyError:
        raise AttributeError(f"there is no step {name!r}; steps: {', '.join(sorted(_classes()))}") from None


def __dir__() -> list[str]:
    return sorted(_classes())
