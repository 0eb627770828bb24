"""The codebook as a page."""


def test_variables_and_levels_are_shown_and_no_count(come):
    page = come("ann").see("/pages/datasets")
    assert page.heading == "Datasets"
    assert "region@area" in page.words
    assert "North, South" in page.words
    assert "300" not in page.words


def test_a_data_set_whose_file_changed_is_told_and_others_stay(come, world):
    ann = come("ann")
    (world.folder / "ward.csv").write_text("id,sex\n1,f\n")
    assert "changed or is gone" in ann.see("/pages/datasets").words
