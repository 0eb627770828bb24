def test_an_answer_is_given_again_to_whom_it_was_given(world):
    client = world.client("ann")
    answer = client.post("/datasets/ward/tables", json={"by": ["sex"]}).json()
    assert client.get(f"/decisions/{answer['id']}").json() == answer
    assert world.client("bob").get(f"/decisions/{answer['id']}").status_code == 404
    assert client.get("/decisions/nothing").status_code == 404
    assert world.client("eve").get(f"/decisions/{answer['id']}").status_code == 403
