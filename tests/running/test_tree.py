import subprocess

import pytest

from tests.running.tree import UNKNOWN, added_files, commit, commits_since, tree_hash


@pytest.fixture
def repository(tmp_path):
    def git(*arguments):
        done = subprocess.run(["git", *arguments], cwd=tmp_path, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    git("init", "-q", "-b", "main")
    git("config", "user.name", "Somebody")
    git("config", "user.email", "somebody@example.org")
    (tmp_path / ".gitignore").write_text("ignored\n")
    (tmp_path / "old.py").write_text("1\n")
    git("add", "-A")
    git("commit", "-q", "-m", "one")
    return tmp_path, git


def test_a_clean_tree_has_the_hash_that_git_gives_it(repository):
    root, git = repository
    assert tree_hash(root) == git("rev-parse", "HEAD^{tree}")


def test_what_is_changed_or_new_counts_and_what_is_ignored_does_not(repository):
    root, git = repository
    clean = tree_hash(root)
    (root / "ignored").write_text("x")
    assert tree_hash(root) == clean
    (root / "new.py").write_text("x")
    new = tree_hash(root)
    (root / "old.py").write_text("2\n")
    assert len({clean, new, tree_hash(root)}) == 3
    assert git("status", "--porcelain").splitlines() == ["M old.py", "?? new.py"]  # the index is as it was


def test_a_folder_of_no_repository_has_no_hash(tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert tree_hash(tmp_path) == UNKNOWN
    assert added_files(tmp_path) == frozenset()


def test_files_that_a_change_adds(repository):
    root, git = repository
    base = commit(root)
    (root / "committed.py").write_text("x")
    (root / "old.py").write_text("2\n")
    git("add", "-A")
    git("commit", "-q", "-m", "two")
    (root / "untracked.py").write_text("x")
    assert added_files(root, base) == {"committed.py", "untracked.py"}
    assert commits_since(root, base) == 1
    assert commits_since(root, "0" * 40) is None
