"""The shape that hidden numbers have unless another is chosen."""

from sfumato.inference.covariates.shape import MOST_PARTS, Shape


def test_one_normal_without_a_penalty():
    assert Shape().parts == 1 <= MOST_PARTS
    assert Shape().size is None
    assert not Shape().bends
