"""The door to tables: what it offers, and what a star import leaves alone."""

import builtins

import sfumato as sf


def test_a_star_import_leaves_the_builtin_round_alone():
    held = {}
    exec("from sfumato.tables import *", held)
    assert "protect" in held
    assert held.get("round", builtins.round) is builtins.round
    assert "round" in dir(sf.tables)
    assert sf.tables.round is not builtins.round
