import pytest

from sfumato.cli import anonymise, assess, protect
from sfumato.cli.demo import demo

pytestmark = pytest.mark.usefixtures("one_draw")


def test_a_plan_that_is_there_is_taken_as_it_is(monkeypatch, tmp_path, capsys):
    """Somebody may have changed it, as the demonstration asks them to."""
    plans = []
    monkeypatch.setattr(protect, "protect", lambda plan, **how: plans.append(plan.read_text()))
    monkeypatch.setattr(assess, "compare", lambda *files, **how: None)
    monkeypatch.setattr(anonymise, "anonymise", lambda *files, **how: None)
    demo(tmp_path, records=200)
    assert "\nsfumato: 1\n" in plans[0]
    (tmp_path / "plan.yaml").write_text("mine")
    demo(tmp_path, records=200)
    assert plans[1] == "mine"
    assert "plan.yaml is there already" in capsys.readouterr().err
