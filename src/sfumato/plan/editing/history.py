"""What a plan's text was: undo and redo, and a tag by which a stale edit is told."""

from __future__ import annotations

import hashlib

__all__ = ["History", "etag"]


def etag(text: str) -> str:
    """The SHA-256 of a text, quoted as HTTP's entity tags are. Comments count, unlike in `Plan.digest`.

    Examples
    --------
    >>> etag("")
    '"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"'
    """
    return f'"{hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()}"'


class History:
    """A text, every text that it was before, and those that were undone. It ends only with the memory.

    It is of one plan and one process, and takes no locks: whoever lets several write guards it.

    Parameters
    ----------
    text
        The first text.

    Examples
    --------
    >>> history = History("a: 1")
    >>> history.write("a: 2")
    >>> history.undo(), history.text, history.undo(), history.redo(), history.text
    (True, 'a: 1', False, True, 'a: 2')
    """

    def __init__(self, text: str) -> None:
        self._texts = [text]
        self._at = 0

    @property
    def text(self) -> str:
        """The text as it is now."""
        return self._texts[self._at]

    @property
    def etag(self) -> str:
        """The tag of the text as it is now."""
        return etag(self.text)

    @property
    def can_undo(self) -> bool:
        """Whether there is a text before."""
        return self._at > 0

    @property
    def can_redo(self) -> bool:
        """Whether a text was undone."""
        return self._at + 1 < len(self._texts)

    def write(self, text: str) -> None:
        """Take a new text. What was undone is gone; the text as it is already changes nothing."""
        if text != self.text:
            self._texts[self._at + 1 :] = [text]
            self._at += 1

    def undo(self) -> bool:
        """Go back by one text; False where there is none."""
        self._at -= (able := self.can_undo)
        return able

    def redo(self) -> bool:
        """Go forward again by one text; False where none was undone."""
        self._at += (able := self.can_redo)
        return able
