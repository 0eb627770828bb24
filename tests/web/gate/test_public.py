def test_nothing_is_public_at_first(world):
    assert world.client().get("/public").json() == {"items": [], "next": None}
