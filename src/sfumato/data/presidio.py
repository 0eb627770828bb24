"""The recognisers of Presidio that need no model of language, and never the network.

Presidio's own analyser wants a model (spaCy), which finds names as well, and lets its recogniser of e-mail addresses
download a list of domains. Here each recogniser is asked by itself, the British ones too, which are off by default. Web
addresses are left to sfumato's own pattern: Presidio's takes minutes for a text that is made to hold it up.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from typing import Any

import polars as pl

from sfumato.data.entities import KINDS, Entity, find, joined
from sfumato.errors import MissingExtra

__all__ = ["KINDS_OF_PRESIDIO", "find_more", "found_more", "need_presidio"]

_KINDS = {
    "EMAIL_ADDRESS": "email",
    "IP_ADDRESS": "ip",
    "PHONE_NUMBER": "phone",
    "UK_POSTCODE": "postcode",
    "UK_NHS": "nhs_number",
    "UK_NINO": "ni_number",
    "IBAN_CODE": "iban",
    "CREDIT_CARD": "card",
    "DATE_TIME": "date",
    "CRYPTO": "wallet",
    "MAC_ADDRESS": "mac",
    "UK_VEHICLE_REGISTRATION": "vehicle",
}
KINDS_OF_PRESIDIO = (*KINDS, *(kind for kind in _KINDS.values() if kind not in KINDS))
"""What can be found with Presidio: what is found without it, and more."""

_SURE = 0.3
"""The lowest score that counts; patterns below it hold only beside words that tell, which need a model."""
_PIECE, _OVERLAP = 1000, 200
"""Long texts are looked at in pieces, for some of the recognisers' patterns take time that grows with the square."""


def need_presidio() -> None:
    """Say how to install it where it is not there.

    Raises
    ------
    MissingExtra
        With the line.
    """
    if find_spec("presidio_analyzer") is None:
        raise MissingExtra("The engine presidio", "pii")


@cache
def _recognisers() -> tuple[Any, ...]:
    need_presidio()
    import tldextract
    from presidio_analyzer import predefined_recognizers as known

    domain = tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None)

    class Email(known.EmailRecognizer):  # type: ignore[misc]
        """Knows domains from the list that its library brings."""

        def validate_result(self, pattern_text: str) -> bool:
            """Whether it ends in a domain."""
            return bool(domain(pattern_text).fqdn)

    names = ("Ip", "CreditCard", "Iban", "Crypto", "MacAddress", "Date", "Nhs", "UkNino", "UkPostcode")
    others = (getattr(known, f"{name}Recognizer")() for name in (*names, "UkVehicleRegistration"))
    return (Email(), known.PhoneRecognizer(supported_regions=("GB",)), *others)


def find_more(text: str, kinds: Sequence[str] = KINDS_OF_PRESIDIO) -> list[Entity]:
    """Find what sfumato's own patterns and Presidio's recognisers find, as `sfumato.data.entities.find` gives it.

    Parameters
    ----------
    text
        Any text.
    kinds
        What to look for.

    Examples
    --------
    >>> find_more("wallet 1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2")
    [Entity(kind='wallet', start=7, end=41)]
    """
    own = find(text, [kind for kind in kinds if kind in KINDS])
    return joined([*own, *(entity for entity in _by_presidio(text) if entity.kind in kinds)])


def _by_presidio(text: str) -> Iterator[Entity]:
    for start in range(0, max(len(text) - _OVERLAP, 1), _PIECE - _OVERLAP):
        piece = text[start : start + _PIECE]
        for recogniser in _recognisers():
            for result in recogniser.analyze(piece, recogniser.supported_entities):
                if result.score >= _SURE and result.entity_type in _KINDS:
                    yield Entity(_KINDS[result.entity_type], start + result.start, start + result.end)


def found_more(texts: pl.Series, kinds: Sequence[str] = KINDS_OF_PRESIDIO) -> dict[str, list[Entity]]:
    """What is found in each different text of a column, as `sfumato.data.entities.found` gives it."""
    pairs = ((text, find_more(text, kinds)) for text in texts.drop_nulls().unique().sort())
    return {text: entities for text, entities in pairs if entities}
