"""Configurations: what is taken, and what is refused with its line and without a secret."""

import pytest

from sfumato.errors import DataError, FileError
from sfumato.gate.config import TableSource, read_config

GOOD = """gate: 1
store: sqlite:///gate.db
secret_file: key
datasets:
  ward:
    versions: {v1: ward.csv, v2: {url: "sqlite:///w.db", table: ward}}
    record: id
    variables: {hiv: {role: sensitive}}
    levels: {age: {band10: bands.csv}}
    never: [{sex: M, pregnant: true, parity: 1}]
policies:
  research: {interval: {count: 4, width: 10}}
"""


def written(folder, text):
    path = folder / "gate.yaml"
    path.write_text(text)
    return path


def test_what_the_notes_write_is_read(tmp_path):
    config = read_config(written(tmp_path, GOOD))
    ward = config.datasets["ward"]
    assert config.store_url == f"sqlite:///{tmp_path.resolve() / 'gate.db'}"
    assert config.path("key") == tmp_path.resolve() / "key"
    assert list(ward.versions) == ["v1", "v2"]
    assert isinstance(ward.versions["v2"], TableSource)
    assert ward.never == ({"sex": "M", "pregnant": "true", "parity": "1"},)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("gate: 1", "gate: 2", "gate"),
        ("sqlite:///gate.db", "mysql://gate.db", "postgresql://"),
        ("secret_file: key\n", "", "secret_file"),
        ("    record: id\n", "", "record"),
        ("policies:", "colour: red\npolicies:", "colour"),
        ("width: 10", "width: 4", "5 or more"),
        ("{interval: {count: 4, width: 10}}", "{}", "give everything away"),
        ("  ward:", "  'wa rd':", "letters"),
        ("{count: 4,", "{count: 4", "not YAML"),
    ],
)
def test_what_is_wrong_is_said(tmp_path, old, new, said):
    assert old in GOOD
    with pytest.raises(DataError, match=said) as error:
        read_config(written(tmp_path, GOOD.replace(old, new, 1)))
    assert "gate.yaml" in str(error.value)


def test_passwords_of_stores_are_shown_nowhere(tmp_path):
    secret = "hush-hush"
    text = GOOD.replace("sqlite:///gate.db", f"postgresql://gate:{secret}@host/gate")
    assert secret not in repr(read_config(written(tmp_path, text)))
    with pytest.raises(DataError) as error:
        read_config(written(tmp_path, text.replace("postgresql", "mysql")))
    assert secret not in str(error.value)


def test_no_such_file(tmp_path):
    with pytest.raises(FileError, match="nosuch"):
        read_config(tmp_path / "nosuch.yaml")


@pytest.mark.parametrize(
    ("server", "told"),
    [
        ("{hosts: ['http://gate.example.org']}", "a host is a name"),
        ("{hosts: ['*']}", "a host is a name"),
        ("{hosts: ['gate.example.org:443']}", "a host is a name"),
        ("{oidc: {issuer: 'http://login.example.org', client_id: gate}}", "an issuer is https"),
        ("{oidc: {issuer: 'https://login.example.org?x=1', client_id: gate}}", "an issuer is https"),
        ("{oidc: {issuer: 'https://login.example.org'}}", "client_id"),
        ("{oidc: {issuer: 'https://login.example.org', client_id: gate, client_secret: x}}", "client_secret"),
        ("{port: 1}", "port"),
    ],
)
def test_how_it_is_served_is_read_strictly(tmp_path, server, told):
    path = written(tmp_path, f"{GOOD}server: {server}\n")
    with pytest.raises(DataError, match=told):
        read_config(path)


def test_cookies_go_over_https_where_there_are_hosts(tmp_path):
    assert not read_config(written(tmp_path, GOOD)).server.secure
    path = written(tmp_path, f"{GOOD}server: {{hosts: [Gate.example.org]}}\n")
    assert read_config(path).server.hosts == ("gate.example.org",)
    assert read_config(path).server.secure
