import hashlib
import struct
from decimal import Decimal

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from sfumato.draws import Draws, Purpose, bits, plain, units, written
from sfumato.errors import DataError, SecretError

SECRET = bytes(range(32))
NOISE = Purpose("noise", "bmi", "0.1")


def test_known_answer():
    """Computed once with the OpenSSL command line: dgst -sha256 -mac HMAC for the subkey, enc -aes-256-ecb for blocks.

    If this fails, releases made by an earlier version cannot be made again.
    """
    words = Draws(SECRET).words(units([1, -1]), NOISE, bits([0.0, 1.5]))
    expected = bytes.fromhex("1f9e37e33a14d79afed919eaacec9639a5f70d8d5027c3dce86ef5529e1273cc")
    assert words.astype("<u8").tobytes() == expected


def test_a_text_id_is_its_truncated_hash():
    # printf 'S-0042' | sha256sum
    assert units(["S-0042"])[0] == int.from_bytes(bytes.fromhex("d888adf97971856a"), "little")


EQUAL = [
    [np.array([7, -3]), np.array([7.0, -3.0], dtype=np.float32), np.array(["7", "-3"]), [7, "-3"]],
    [np.array([2**64 - 1], dtype=np.uint64), ["18446744073709551615"]],
    [np.array([True, False]), [1, 0], ["1", "0"]],
]


@pytest.mark.parametrize("same", EQUAL)
def test_ids_and_values_that_are_equal_key_equal_draws_whatever_their_type(same):
    for key in (units, bits):
        words = [key(np.array(v, dtype=object) if isinstance(v, list) else v).tolist() for v in same]
        assert all(w == words[0] for w in words)


@pytest.mark.parametrize("text", ["007", "7.0", "-0", "+7", "7 ", "", "٧", "1e3", "18446744073709551616", "S-0042"])
def test_other_texts_stay_texts(text):
    hashed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")
    assert units([text])[0] == bits([text])[0] == hashed
    assert plain(text) == text


def test_a_32_bit_float_is_the_number_that_its_shortest_decimal_writes():
    x = np.array([0.1, 1e-30, -2.5, 123456789.0, np.nan], dtype=np.float32)
    assert (bits(x) == bits([0.1, 1e-30, -2.5, 123456790.0, np.nan])).all()


def test_ids_are_written_alike_where_their_units_are():
    alike = [pl.Series([7, -3, None]), pl.Series([7.0, -3.0, None], dtype=pl.Float32), pl.Series(["7", "-3", None])]
    alike.append(pl.Series([Decimal("7.00"), Decimal("-3"), None]))
    assert [written(s).to_list() for s in alike] == [["7", "-3", None]] * 4
    assert all((units(s.drop_nulls()) == units([7, -3])).all() for s in alike)
    assert written(pl.Series(["007", "7.0"])).to_list() == ["007", "7.0"]


def test_encoding_of_units_and_values():
    assert units([-1])[0] == 2**64 - 1
    assert units(np.array([3.0]))[0] == 3
    assert bits([1.5])[0] == struct.unpack("<Q", struct.pack("<d", 1.5))[0]
    assert bits([-0.0])[0] == bits([0])[0] == 0


@pytest.mark.parametrize("ids", [[1.5], [float("nan")], ["a", None]])
def test_ids_that_are_missing_or_not_whole_are_refused(ids):
    with pytest.raises(DataError, match="whole numbers or text"):
        units(np.array(ids, dtype=object) if None in ids else ids)


def test_a_short_secret_is_refused_without_showing_it():
    with pytest.raises(SecretError, match="16 bytes") as caught:
        Draws(b"hunter2")
    assert "hunter2" not in str(caught.value)
    assert "hunter2" not in repr(Draws(b"hunter2hunter2hunter2"))


@given(st.permutations(range(20)), st.integers(1, 19))
def test_neither_order_nor_partition_matters(order, cut):
    draws, ids = Draws(SECRET), units(np.arange(20))
    whole = draws.normal(ids, NOISE)
    parts = np.concatenate([draws.normal(ids[order[:cut]], NOISE), draws.normal(ids[order[cut:]], NOISE)])
    assert (parts == whole[order]).all()


@pytest.mark.parametrize(
    "other",
    [
        Purpose("pram", "bmi", "0.1"),
        Purpose("noise", "height", "0.1"),
        Purpose("noise", "bmi", "0.2"),
        Purpose("noise", "bmi", "0.1", 1),
        Purpose("noise", "bm", "i0.1"),
    ],
)
def test_another_purpose_gives_independent_draws(other):
    ids = units(np.arange(20_000))
    first, second = Draws(SECRET).normal(ids, NOISE), Draws(SECRET).normal(ids, other)
    # 5 standard errors of a correlation of zero
    assert abs(np.corrcoef(first, second)[0, 1]) < 5 / np.sqrt(20_000)


def test_a_corrected_value_gets_another_draw():
    draws, ids = Draws(SECRET), units([7])
    assert draws.normal(ids, NOISE, bits([1.0])) != draws.normal(ids, NOISE, bits([1.1]))


def test_another_secret_changes_every_draw():
    ids = units(np.arange(1000))
    assert not (Draws(SECRET).words(ids, NOISE) == Draws(SECRET[::-1]).words(ids, NOISE)).any()


def test_distributions():
    """p-values of a fixed secret: below 1e-4 would be a fault, not bad luck."""
    draws, ids = Draws(SECRET), units(np.arange(200_000))
    u, e = draws.uniform(ids, NOISE), draws.normal(ids, NOISE)
    assert u.min() > 0
    assert u.max() < 1
    assert stats.kstest(u, "uniform").pvalue > 1e-4
    assert stats.kstest(e, "norm").pvalue > 1e-4
    assert stats.chisquare(np.bincount(draws.integers(ids, NOISE, 7), minlength=7)).pvalue > 1e-4
    assert abs(np.corrcoef(u[1:], u[:-1])[0, 1]) < 5 / np.sqrt(len(u))


def test_integers_have_no_modulo_bias():
    """With high = 3 · 2^61, a plain modulo would give the lowest third twice as often: 1/2 in place of 1/3."""
    high = 3 * 2**61
    drawn = Draws(SECRET).integers(units(np.arange(30_000)), NOISE, high)
    assert abs((drawn < high // 3).mean() - 1 / 3) < 5 * np.sqrt(2 / 9 / 30_000)
    assert drawn.min() >= 0


def test_permutation_belongs_to_the_units():
    draws, ids = Draws(SECRET), units(np.arange(50))
    order = draws.permutation(ids, NOISE)
    assert sorted(order) == list(range(50))
    shuffled = ids[::-1]
    assert (shuffled[draws.permutation(shuffled, NOISE)] == ids[order]).all()


def test_float_ids_that_floats_cannot_tell_apart_are_refused():
    with pytest.raises(DataError, match=r"2\^53"):
        units(np.array([1e19, 2e19]))
