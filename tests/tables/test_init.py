"""The door to tables: what it offers, and what a star import leaves alone."""

import builtins

import sfumato as sf


def test_a_star_import_leaves_the_builtin_round_alone():
    assert "protect" in sf.tables.__all__
    assert not [name for name in sf.tables.__all__ if hasattr(builtins, name)]
    assert "round" in dir(sf.tables)
    assert sf.tables.round is not builtins.round
