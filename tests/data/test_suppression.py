from sfumato.data.suppression import Suppression


def test_shares_are_of_what_stood_before_the_first_step():
    both = Suppression(of=10) + Suppression(records=2, of=10) + Suppression(records=1, cells={"a": 3}, of=8)
    assert both == Suppression(3, {"a": 3}, 10)
    assert (Suppression() + Suppression(cells={"a": 1}, of=4)).records is None
