"""Files for the commands that change values, and what every refusal must be like."""

from pathlib import Path

from tests.e2e.command import sfumato

SECRET_VALUE = "50171"
"""A value that no message may print."""

FILES = {
    "t.csv": "sex,town,count\nTotal,Total,50171\nf,Total,9\nm,Total,50162\nTotal,a,50163\nTotal,b,8\n"
    "f,a,7\nf,b,2\nm,a,50156\nm,b,6\n",
    "fractions.csv": f"sex,count\nTotal,{SECRET_VALUE}.5\nf,{SECRET_VALUE}.5\nm,0\n",
    "hidden.csv": f"sex,count,status\nTotal,{SECRET_VALUE},s\nf,,u\nm,,x\n",
    "not_additive.csv": f"sex,count,status\nTotal,{SECRET_VALUE},s\nf,9,s\nm,11,s\n",
    "negative.csv": f"sex,pay,status\nTotal,8,s\nf,{SECRET_VALUE},s\nm,-50163,s\n",
    "text.csv": "sex,count\nTotal,20\nf,many\nm,11\n",
    "short_key": "abc",
}


def folder_of(made: Path, more: dict[str, str]) -> Path:
    """A folder of the files."""
    for name, text in (FILES | more).items():
        (made / name).write_text(text)
    (made / "folder").mkdir()
    (made / "key").write_bytes(bytes(range(32)))
    return made


def run(folder, *arguments, status=0):
    done = sfumato("table", *arguments, cwd=folder)
    assert done.returncode == status, done.stderr
    return done


def refused(folder, arguments, words):
    """In words, with the remedy, without a value, and nothing is written or changed."""
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    done = run(folder, *arguments, status=2)
    assert not done.stdout
    for word in words:
        assert word in done.stderr
    assert SECRET_VALUE not in done.stderr
    assert "Traceback" not in done.stderr
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def told_anywhere(folder, texts):
    """Which of some texts stand in a file of the folder."""
    written = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    return [text for text in texts if text.encode() in written]
