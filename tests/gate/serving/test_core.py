"""A store knows the secret that it was made with."""

import pytest

from sfumato.errors import DataError
from sfumato.gate.service import Gate


def test_another_secret_is_refused(configured, tmp_path):
    config = configured()
    key = tmp_path / "key"
    key.write_bytes(bytes(range(32)))
    Gate.init(config)
    with Gate.open(config):
        pass
    key.write_bytes(bytes(range(1, 33)))
    for enter in (Gate.open, Gate.init):
        with pytest.raises(DataError, match="secret is another one"):
            enter(config)
    key.write_bytes(bytes(range(32)))
    with Gate.open(config) as gate:
        assert gate.verify() == []


def test_a_store_without_one_takes_the_first_that_it_sees(configured, tmp_path):
    config = configured()
    Gate.init(config)
    with Gate.open(config):
        pass
    (tmp_path / "key").write_bytes(bytes(range(32)))
    with Gate.open(config):
        pass
    (tmp_path / "key").write_bytes(bytes(32))
    with pytest.raises(DataError, match="secret is another one"):
        Gate.open(config)


def test_a_secret_that_is_exchanged_while_it_runs(configured, tmp_path):
    config = configured(
        said="count: n",
        policies="{research: {interval: {count: 2, width: 4}, perturbed: {variance: 1}}, public: {preset: public}}",
    )
    (tmp_path / "key").write_bytes(bytes(range(32)))
    Gate.init(config)
    with Gate.open(config) as gate:
        (tmp_path / "key").write_bytes(bytes(32))
        with pytest.raises(DataError, match="secret is another one"):
            gate.codebook("ward")
