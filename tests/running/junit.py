"""Results as XML that is whole after every one of them: what ends the document is written over by the next."""

from __future__ import annotations

import re
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

__all__ = ["JUnit"]

_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML may not hold, escaped or not."""
_END = b"</testsuite></testsuites>\n"


class JUnit:
    """A file in the form that JUnit began and that every service of continuous integration reads."""

    def __init__(self, path: Path, name: str) -> None:
        self._file = path.open("wb")
        self._file.write(
            f'<?xml version="1.0" encoding="utf-8"?>\n<testsuites><testsuite name={_value(name)}>\n'.encode()
        )
        self._end()

    def add(self, test: str, seconds: float, outcome: str, reason: str = "", text: str = "") -> None:
        """One test: `passed`, `failed` or `skipped`; `text` is all that is said of a failure."""
        place, _, name = test.partition("::")
        case = f"<testcase classname={_value(place.removesuffix('.py').replace('/', '.'))} name={_value(name or place)}"
        case += f' time="{seconds:.3f}"'
        if outcome == "passed":
            case += "/>\n"
        elif outcome == "skipped":
            case += f"><skipped message={_value(reason)}/></testcase>\n"
        else:
            case += f"><failure message={_value(reason)}>{escape(_clean(text))}</failure></testcase>\n"
        self._file.seek(-len(_END), 2)
        self._file.write(case.encode())
        self._end()

    def _end(self) -> None:
        self._file.write(_END)
        self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _clean(text: str) -> str:
    return _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)


def _value(text: str) -> str:
    return quoteattr(_clean(text))
