"""Roles and kinds: what a variable is for the people in the data, and what its values are."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["IDS", "NOT_LEARNT", "NUMERIC_KINDS", "Kind", "Role"]


class Role(StrEnum):
    """What a variable means for disclosure. The literature's words stand beside ours.

    Examples
    --------
    >>> Role("key") is Role.KEY
    True
    """

    IDENTIFIER = "identifier"
    """Direct identifier: name, full address, health number. Must not leave."""
    KEY = "key"
    """Indirect (quasi-)identifier: age, postcode, height; an intruder may know it."""
    SENSITIVE = "sensitive"
    """What an intruder must not learn: diagnosis, income."""
    OUTCOME = "outcome"
    """A response variable of the analyses that the release is meant for."""
    OTHER = "other"
    """Not identifying."""
    WEIGHT = "weight"
    """Sampling weight."""
    HOUSEHOLD = "household"
    """Id of the cluster that a record belongs to."""
    PERSON = "person"
    """Id of the person whom several records are about: classes and thresholds then count persons."""
    RECORD = "record"
    """The record's id: what random draws are keyed on and tables are joined on."""


class Kind(StrEnum):
    """What the values of a variable are.

    Examples
    --------
    >>> Kind.INTEGER in NUMERIC_KINDS
    True
    """

    CONTINUOUS = "continuous"
    INTEGER = "integer"
    CATEGORICAL = "categorical"
    ORDINAL = "ordinal"
    DATE = "date"
    TEXT = "text"
    GEOGRAPHIC = "geographic"


NUMERIC_KINDS = frozenset({Kind.CONTINUOUS, Kind.INTEGER})
"""Kinds whose values may be averaged."""
IDS = (Role.RECORD, Role.PERSON, Role.HOUSEHOLD)
"""Roles of ids: of records, and of those to whom several records belong."""
NOT_LEARNT = frozenset({Role.IDENTIFIER, *IDS, Role.WEIGHT})
"""Roles of what says who somebody is, or how many others: nothing that could be learnt of a person."""
