"""Small tables of classes, and what is said of them worked out record by record in plain Python."""

from collections import Counter, defaultdict

import polars as pl
from hypothesis import strategies as st

from sfumato.data.codebook import Codebook, Variable
from sfumato.engines.polars import PolarsDataset

ORDER = ("low", "mid", "high", "top")
BOOK = Codebook({"ill": Variable(role="sensitive", kind="ordinal", order=ORDER)})
BY = ("a", "b")


def keyed(rows):
    """The records that have a key."""
    return [row for row in rows if row[:2] != (None, None)]


records = st.lists(
    st.tuples(st.sampled_from([1, 2, None]), st.sampled_from(["x", "y", None]), st.sampled_from([*ORDER, None])),
    min_size=1,
    max_size=14,
).filter(lambda rows: bool(keyed(rows)))
"""Records of two keys and a sensitive value, None where missing; not all of them without any key."""


def table(rows):
    schema = {"a": pl.Int64, "b": pl.String, "ill": pl.String}
    return PolarsDataset(pl.DataFrame(rows, schema=schema, orient="row"), BOOK)


def sizes(rows):
    """Records of each class."""
    return Counter(row[:2] for row in keyed(rows))


def distributions(rows):
    """Shares of the values in each class, and in the whole table.

    Missing values take no part, unless a class has no other; in a table without values there is nothing.
    """
    groups = defaultdict(Counter)
    for *keys, value in keyed(rows):
        groups[tuple(keys)][value] += 1
    if not any(value is not None for group in groups.values() for value in group):
        return [], {}, []
    for group in groups.values():
        if len(group) > 1:
            group.pop(None, None)
    whole = sum(groups.values(), Counter())
    return [_shares(group) for group in groups.values()], _shares(whole), list(groups.values())


def _shares(counts):
    total = sum(counts.values())
    return {value: n / total for value, n in counts.items()}
