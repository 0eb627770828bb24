r"""Control and bidirectional characters in names and texts: written `\u202E` wherever people read them.

Such a character is not seen where it stands, and may turn the order of the letters around it, move the cursor of a
terminal or end a line. Plans have it in double quotes, where YAML reads `\u202E` as the character again.
"""

from __future__ import annotations

import re
import shlex

__all__ = ["has_unseen", "seen", "shell_word"]

_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\uffff\ud800-\udfff]"
)
"""Control codes, ends of lines, marks of direction, what has no width but for the joiners that some scripts need, and
halves of characters."""
_IN_LINES = re.compile("[\n\t]")
_OF_PYTHON = re.compile(r"(?<!\\)\\(?:u([0-9a-f]{4})|x([01][0-9a-f]|7f))")
"""How Python writes such characters in quotes."""


def has_unseen(text: str) -> bool:
    r"""Whether a text holds such a character, or ends of lines.

    Examples
    --------
    >>> has_unseen("age"), has_unseen("age\u202e")
    (False, True)
    """
    return _UNSEEN.search(text) is not None


def seen(text: str, *, lines: bool = False) -> str:
    r"""A text with such characters written out.

    Parameters
    ----------
    text
        A name, or a text with names in it, some perhaps in the quotes of Python.
    lines
        Whether it is a text of several lines, whose ends are kept.

    Examples
    --------
    >>> seen("age\u202e"), seen("There is no column 'age\\u202e'.")
    ('age\\u202E', "There is no column 'age\\u202E'.")
    >>> seen("a\nb"), seen("a\nb", lines=True)
    ('a\\u000Ab', 'a\nb')
    """

    def written(found: re.Match[str]) -> str:
        return found[0] if lines and _IN_LINES.fullmatch(found[0]) else f"\\u{ord(found[0]):04X}"

    text = _UNSEEN.sub(written, text)
    if "\\" not in text:
        return text
    return _OF_PYTHON.sub(lambda found: f"\\u{(found[1] or found[2]).upper():0>4}", text)


def shell_word(text: str) -> str:
    r"""A text as one word of a command line; with such characters written out as Bash and Zsh read them.

    Examples
    --------
    >>> shell_word("my plan.yaml"), shell_word("age\u202e")
    ("'my plan.yaml'", "$'age\\u202E'")
    """
    if not has_unseen(text):
        return shlex.quote(text)
    quoted = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"$'{_UNSEEN.sub(lambda found: f'{chr(92)}u{ord(found[0]):04X}', quoted)}'"
