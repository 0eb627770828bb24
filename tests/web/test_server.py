"""Sockets that listen. What processes do is tested with `sfumato serve`."""

import socket

import pytest

from sfumato.errors import DataError, FileError
from sfumato.web.server import address, listening, refuse_open


def test_it_listens_at_once():
    with listening("127.0.0.1", 0) as made:
        told = address(made, "127.0.0.1")
        assert told == f"http://127.0.0.1:{made.getsockname()[1]}"
        with socket.create_connection(made.getsockname()):
            pass


def test_a_port_that_is_taken():
    with listening("127.0.0.1", 0) as made, pytest.raises(FileError, match="Cannot listen"):
        listening("127.0.0.1", made.getsockname()[1])
    with pytest.raises(FileError, match="Cannot listen"):
        listening("192.0.2.1", 0)


def test_addresses_of_the_other_kind():
    class Socket:
        def getsockname(self):
            return ("::1", 8750, 0, 0)

    assert address(Socket(), "::1") == "http://[::1]:8750"


@pytest.mark.parametrize(("host", "hosts"), [("127.0.0.1", ()), ("::1", ()), ("localhost", ()), ("0.0.0.0", ("a.b",))])
def test_what_may_be_served(host, hosts):
    refuse_open(host, hosts)


@pytest.mark.parametrize("host", ["0.0.0.0", "10.0.0.1", "::", "gate.example.org"])
def test_nothing_is_open_that_has_no_name(host):
    with pytest.raises(DataError, match="hosts"):
        refuse_open(host, ())
