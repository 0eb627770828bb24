import random

from sfumato.plan.editing.differing import Place, differing


def test_places_are_told_in_the_order_of_the_second_text():
    assert differing("a\nb\nc\nd\n", "a\nx\nc\nd\ne\n") == [Place(2, ("b",), ("x",)), Place(5, (), ("e",))]
    assert differing("a\nb\n", "b\n") == [Place(1, ("a",), ())]
    assert differing("a\r\nb\r\n", "a\nb\n") == []


def test_what_is_told_makes_one_text_the_other():
    draw = random.Random(5)
    for _ in range(200):
        before, after = (["".join(draw.choices("ab", k=2)) for _ in range(draw.randrange(9))] for _ in range(2))
        made, at = [], 0
        for place in differing("\n".join(before), "\n".join(after)):
            same = place.line - 1 - len(made)
            made += [*(before or [""])[at : at + same], *place.new]
            at += same + len(place.gone)
        assert [*made, *(before or [""])[at:]] == (after or [""])
