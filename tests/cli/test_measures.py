import json

from sfumato.measures.registry import figures


def test_every_measure_in_json(sfumato):
    told = json.loads(sfumato("measures", "--json").stdout)["measures"]
    assert [m["name"] for m in told] == list(figures())
    for measure in told:
        assert list(measure) == ["name", "title", "what", "needs", "form", "forms", "better", "published"]
        said = figures()[measure["name"]]
        assert [measure[key] for key in ("title", "what", "form", "better", "published")] == [
            said.title,
            said.what,
            said.form,
            said.better,
            said.published,
        ]
    needs = {m["name"]: m["needs"] for m in told}
    assert needs["l_distinct"] == ["table", "keys", "strata", "sensitive"]
    assert needs["ci_overlap"] == ["pair", "model"]


def test_one_measure(sfumato):
    assert [m["name"] for m in json.loads(sfumato("measures", "risk2", "--json").stdout)["measures"]] == ["risk2"]
    shown = " ".join(sfumato("measures", "quantile").stdout.split())
    assert "The value that the stated share of records lies below." in shown
    assert "Published not at all" in shown


def test_every_measure_on_the_screen(sfumato):
    done = sfumato("measures")
    first = [line.split()[:1] for line in done.stdout.splitlines()]
    assert all([name] in first for name in figures())
    assert "Risk: finding a person's record" in done.stdout
    assert done.stderr == ""


def test_a_measure_that_there_is_not(sfumato):
    done = sfumato("measures", "k")
    assert (done.returncode, done.stdout) == (2, "")
    assert "k_anonymity" in done.stderr
