"""Small tables of classes, and what is said of them worked out record by record in plain Python."""

from collections import Counter, defaultdict

import polars as pl
from hypothesis import strategies as st

from sfumato.data.codebook import Codebook, Variable
from sfumato.engines.polars import PolarsDataset

ORDER = ("low", "mid", "high", "top")
BOOK = Codebook({"ill": Variable(role="sensitive", kind="ordinal", order=ORDER)})
BY = ("a", "b")

records = st.lists(
    st.tuples(st.sampled_from([1, 2, None]), st.sampled_from(["x", "y", None]), st.sampled_from([*ORDER, None])),
    min_size=1,
    max_size=14,
)
"""Records of two keys and a sensitive value; None is missing."""


def table(rows):
    schema = {"a": pl.Int64, "b": pl.String, "ill": pl.String}
    return PolarsDataset(pl.DataFrame(rows, schema=schema, orient="row"), BOOK)


def sizes(rows):
    """Records of each class."""
    return Counter(row[:2] for row in rows)


def distributions(rows):
    """Shares of the values in each class, and in the whole table; missing values take no part."""
    groups = defaultdict(Counter)
    for *keys, value in rows:
        if value is not None:
            groups[tuple(keys)][value] += 1
    whole = sum(groups.values(), Counter())
    return [_shares(group) for group in groups.values()], _shares(whole), list(groups.values())


def _shares(counts):
    total = sum(counts.values())
    return {value: n / total for value, n in counts.items()}
