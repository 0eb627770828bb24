from tests.docs.typed import errors, module_of

PAGE = """A page.

```python
count: int = 1
```

```pycon
>>> print(
...     count
... )
1
>>> count < None  # it is tried when it runs
False

```

```python
double: str = count
```
"""


def test_lines_keep_their_numbers():
    source, checked = module_of(PAGE)
    assert source.splitlines()[3:10] == ["count: int = 1", "", "", "", "print(", "    count", ")"]
    assert checked == {4, 18}


def test_a_wrong_type_is_told_by_page_and_line(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    (told,) = errors([page], "--cache-dir", str(tmp_path / "types"))
    assert told.startswith(f"{page}:18: error: Incompatible types in assignment")
