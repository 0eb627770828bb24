from xml.etree import ElementTree

import pytest

from tests.running.junit import JUnit


def cases(path):
    return ElementTree.parse(path).getroot().findall("testsuite/testcase")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "junit.xml"


@pytest.fixture
def made(path):
    made = JUnit(path, "tests")
    yield made
    made.close()


def test_it_is_whole_after_every_result(made, path):
    assert cases(path) == []
    made.add("tests/a/test_x.py::test_one[a-b]", 0.25, "passed")
    made.add("tests/a/test_x.py::test_two", 1.0, "failed", "assert 1 == 2", "all of it")
    assert len(cases(path)) == 2
    made.add("tests/a/test_x.py::test_three", 0.0, "skipped", "without java: none")
    one, two, three = cases(path)
    assert (one.get("classname"), one.get("name"), one.get("time")) == ("tests.a.test_x", "test_one[a-b]", "0.250")
    assert (two.find("failure").get("message"), two.find("failure").text) == ("assert 1 == 2", "all of it")
    assert three.find("skipped").get("message") == "without java: none"


def test_what_xml_may_not_hold_is_no_end_of_it(made, path):
    made.add("t.py::test[\x00<&\"']", 0.0, "failed", "\x1b[31m <&", "\ud800 ]]> </testsuite>")
    (one,) = cases(path)
    assert one.get("name").endswith("<&\"']")
    assert one.find("failure").text.endswith("]]> </testsuite>")
