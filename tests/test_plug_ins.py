import json
import os
import shlex
import subprocess
import sys
import warnings
from importlib.metadata import EntryPoint
from types import SimpleNamespace

import pytest

from sfumato import plug_ins
from sfumato.errors import PlugInError, SfumatoWarning
from sfumato.measures import registry
from sfumato.plug_ins import Entries, Failed, load

MODULE = """
from sfumato.methods.base import Method

class Loud(Method):
    pass

NOTHING = 3
"""


def entry(name, value, package):
    made = EntryPoint(name, value, "sfumato.methods")
    return made._for(SimpleNamespace(name=package))


@pytest.fixture
def bring(monkeypatch, tmp_path):
    """Have packages bring entries; gives what is loaded of them."""
    (tmp_path / "loud_of_test.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)

    def brought(*entries):
        monkeypatch.setattr(plug_ins, "entry_points", lambda group: entries)
        load.cache_clear()
        return load("sfumato.methods", lambda one: None if isinstance(one, type) else "it is no Method")

    yield brought
    load.cache_clear()


def test_two_packages_with_one_name_are_refused_by_theirs(bring):
    said = "Two packages bring a method 'loud': aloud and louder. Uninstall one of them."
    with pytest.raises(PlugInError) as refused:
        bring(entry("loud", "loud_of_test:Loud", "louder"), entry("loud", "os:path", "aloud"))
    assert str(refused.value) == said
    with pytest.raises(PlugInError, match="shadow and sfumato"):
        bring(entry("noise", "sfumato.methods.noise:Noise", "sfumato"), entry("noise", "loud_of_test:Loud", "shadow"))


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("no_such_module_of_test:X", "ModuleNotFoundError"),
        ("loud_of_test:Gone", "AttributeError"),
        ("loud_of_test:NOTHING", "it is no Method"),
    ],
)
def test_what_cannot_be_loaded_is_left_out_and_told(bring, value, reason):
    with pytest.warns(SfumatoWarning) as told:
        loaded = bring(entry("bad", value, "broken"), entry("loud", "loud_of_test:Loud", "louder"))
    assert list(loaded.found) == ["loud"]
    assert loaded.failed == {"bad": Failed("broken", "bad", reason)}
    assert [str(one.message) for one in told] == [f"'bad' of the package 'broken' was left out: {reason}"]


def test_one_is_loaded_when_it_is_asked_for(bring, monkeypatch):
    given = entry("bad", "no_such_module_of_test:X", "broken"), entry("loud", "loud_of_test:Loud", "louder")
    monkeypatch.setattr(plug_ins, "entry_points", lambda group: given)
    monkeypatch.delitem(sys.modules, "loud_of_test", raising=False)
    found = Entries("sfumato.methods", lambda one: None)
    assert found.packages == {"bad": "broken", "loud": "louder"}
    assert "loud_of_test" not in sys.modules
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert found.one("loud").__name__ == "Loud"
        assert found.one("none_of_test") is None
    with pytest.warns(SfumatoWarning, match="'bad' of the package 'broken' was left out: ModuleNotFoundError") as told:
        assert found.one("bad") is None
    assert len(told) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # it is told once
        assert found.one("bad") is None
        assert list(found.all().failed) == ["bad"]


def test_figures_of_one_name_are_refused(monkeypatch):
    every = registry.measures()
    twice = {"k_anonymity": every["k_anonymity"], "mine": every["k_anonymity"]}
    made = SimpleNamespace(found=twice, packages={"k_anonymity": "sfumato", "mine": "theirs"}, failed={})
    monkeypatch.setattr(registry, "load", lambda *_: made)
    with pytest.raises(PlugInError, match=r"bring a figure '\w+': theirs and sfumato"):
        registry.measures.__wrapped__()


def installed(folder, group, lines, module="raise ValueError('4711 is a value of the data')\n"):
    """The environment in which a package is there, as pip leaves it."""
    site = folder / "site"
    info = site / "broken-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[sfumato.{group}]\n{lines}\n")
    (site / "broken_of_test.py").write_text(module)
    further = [where] if (where := os.environ.get("PYTHONPATH")) else []
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(site), *further])}


def run(environment, *arguments, more=""):
    command = f"{shlex.join([sys.executable, '-m', 'sfumato', *map(str, arguments)])} {more}"
    return subprocess.run(["sh", "-c", command], env=environment, capture_output=True, text=True)


LOUD = "import os\nos.write(1, b'a banner\\n')\nfrom sfumato.methods.drop import Drop\n"


@pytest.mark.slow
def test_what_a_library_writes_to_descriptor_1_is_not_in_the_data(tmp_path):
    under = installed(tmp_path, "methods", "loud = broken_of_test:Drop", LOUD)
    told = run(under, "methods", "--json")
    assert (told.returncode, told.stderr) == (0, "a banner\n")
    assert "loud" in [one["name"] for one in json.loads(told.stdout)["methods"]]
    told = run(under, "methods", "--json", more="2>&-")
    assert (told.returncode, told.stderr) == (0, "")
    assert json.loads(told.stdout)["failed"] == []


@pytest.mark.slow
def test_a_broken_package_stops_only_what_needs_it(tmp_path):
    under = installed(tmp_path, "methods", "bad = broken_of_test:Bad")
    told = run(under, "methods", "--json")
    assert told.returncode == 0
    assert json.loads(told.stdout)["failed"] == [{"package": "broken", "entry": "bad", "reason": "ValueError"}]
    assert told.stderr == "sfumato: 'bad' of the package 'broken' was left out: ValueError\n"
    (tmp_path / "data.csv").write_text("a,b\n1,2\n2,3\n")
    (tmp_path / "plan.yaml").write_text("sfumato: 1\nvariables:\n  a: {role: key}\nsteps:\n  - {do: bad}\n")
    files = [tmp_path / name for name in ("plan.yaml", "data.csv", "release")]
    other = tmp_path / "other.yaml"
    other.write_text(files[0].read_text().replace("{do: bad}", "{do: drop, columns: [b]}"))
    done = run(under, "protect", other, files[1], "--out", files[2], "--dry-run")
    assert done.returncode == 0
    assert "broken" not in done.stderr
    refused = run(under, "protect", *files[:2], "--out", files[2], "--dry-run")
    assert refused.returncode == 2
    assert "'bad' of the package 'broken' was left out: ValueError" in refused.stderr
    assert "4711" not in told.stderr + refused.stderr


@pytest.mark.slow
def test_a_name_of_ours_is_not_taken(tmp_path):
    under = installed(tmp_path, "measures", "k_anonymity = sfumato.measures.risk.below_k:MEASURE")
    refused = run(under, "measures")
    assert refused.returncode == 2
    said = "Two packages bring a measure 'k_anonymity': broken and sfumato. Uninstall one of them."
    assert refused.stderr == f"sfumato: {said}\n"


def test_ours_are_all_loaded():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load.cache_clear()
        assert registry.failed_measures() == {}
