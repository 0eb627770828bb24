"""What a text file is written in: its encoding and its delimiter."""

from __future__ import annotations

import codecs
import csv
import io
import re
from itertools import islice

from sfumato.errors import FileError

__all__ = ["DELIMITERS", "decode", "divides_below", "sniff_delimiter"]

DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar"}

_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_CANDIDATES = (
    "cp1252 cp1250 cp1251 cp1253 cp1254 cp1257 iso8859_2 iso8859_15 koi8_r mac_roman shift_jis gb18030 big5 euc_kr"
)
_USUAL = "cp1252"
_CHUNK = 1 << 20


def decode(data: bytes, encoding: str | None = None) -> tuple[bytes, str, bool]:
    """Give a file's text as UTF-8 without a byte order mark, the name of its encoding, and whether that is certain.

    The encoding is the one given; else the one that a byte order mark tells; else UTF-8 where every byte fits; else
    UTF-16 where every second byte of many is zero; else the best guess of charset-normalizer, Windows-1252 where that
    is as good as any or no language is recognised. A guess may be wrong, above all with few letters beyond ASCII.

    Parameters
    ----------
    data
        The whole file.
    encoding
        Any name that Python knows.

    Raises
    ------
    FileError
        An encoding that is unknown or does not fit; a file that is no text.

    Examples
    --------
    >>> decode("größe".encode("utf-16"))[1]
    'utf-16-le'
    """
    mark, told = next(((bom, name) for bom, name in _BOMS if data.startswith(bom)), (b"", None))
    name = encoding or told or _guess(data)
    body = data
    if told is not None and _same(name, told):
        name, body = told, data[len(mark) :]
    if _same(name, "utf-8"):
        text = _valid_utf8(body)
    else:
        try:
            text = body.decode(name).removeprefix("\ufeff").encode()
        except LookupError:
            raise FileError(f"There is no encoding {name!r}. Try utf-8, utf-16, cp1252 or latin-1.") from None
        except ValueError:
            text = None
    if text is None:
        raise FileError(f"The file holds bytes that are no text in {name}. State its encoding, for instance cp1252.")
    if b"\0" in text:
        raise FileError("The file is binary, or in another encoding than stated: it holds zero bytes.")
    return text, name, encoding is not None or told is not None or name.startswith("utf")


def _same(name: str | None, other: str | None) -> bool:
    if name is None or other is None:
        return False
    try:
        first, second = codecs.lookup(name).name, codecs.lookup(other).name
    except LookupError:
        return False
    return first.replace("-sig", "") == second or (first == "utf-16" and second.startswith("utf-16"))


def _valid_utf8(data: bytes) -> bytes | None:
    """Give the bytes if they are UTF-8. Checked in pieces, so that no second copy of the text is held."""
    if data.isascii():
        return data
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, len(data), _CHUNK):
            decoder.decode(data[start : start + _CHUNK])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return None
    return data


def _guess(data: bytes) -> str:
    head = data[:4096]
    if b"\0" in head:
        half = max(len(head) // 2, 1)
        if head[1::2].count(0) > 0.4 * half and head[::2].count(0) < 0.1 * half:
            return "utf-16-le"
        if head[::2].count(0) > 0.4 * half and head[1::2].count(0) < 0.1 * half:
            return "utf-16-be"
        return "utf-8"
    if _valid_utf8(data) is not None:
        return "utf-8"
    return _guess_code_page(data)


def _guess_code_page(data: bytes) -> str:
    """Guess by the lines that hold more than ASCII; they are what tells code pages apart."""
    from charset_normalizer import from_bytes

    telling = re.finditer(rb"[^\r\n]*[\x80-\xff][^\r\n]*", data)
    sample = b"\n".join(match.group()[:1000] for match in islice(telling, 200))
    guesses = from_bytes(sample, cp_isolation=_CANDIDATES.split())
    best = guesses.best()
    if best is None or not best.coherence:  # No language was recognised.
        return _USUAL
    level = [g for g in guesses if (g.chaos, g.coherence) == (best.chaos, best.coherence)]
    usual = any(_USUAL in (g.encoding, *g.could_be_from_charset) for g in level)
    return _USUAL if usual else str(best.encoding)


def sniff_delimiter(text: str) -> str:
    """Find the delimiter of a delimited text by its first lines.

    It is the one that divides the header into several fields and most lines into equally many; where several do, the
    one with most fields, and a comma only after the others, as commas stand in numbers and sentences too.

    Parameters
    ----------
    text
        The beginning of the file, in whole lines.

    Examples
    --------
    >>> sniff_delimiter("id;height\\n1;1,75\\n2;1,80\\n")
    ';'
    """
    scores = {sign: _score(text, sign) for sign in (";", "\t", "|", ",")}
    best = max(scores, key=lambda sign: scores[sign])
    if scores[best][1]:
        return best
    return next((sign for sign in (",", ";", "\t", "|") if sign not in text), ",")


def divides_below(text: str, most: int = 20) -> bool:
    """Tell whether lines below the first are divided into several fields, though the first is not or otherwise.

    A single comma in each line does not count: it may be part of a number or of a sentence.

    Parameters
    ----------
    text
        The beginning of the file, in whole lines.
    most
        How many lines may stand above the table.

    Examples
    --------
    >>> divides_below("A report\\n\\nid;age\\n1;31\\n2;45\\n"), divides_below("x\\n1,5\\n2,5\\n")
    (True, False)
    """
    if any(_score(text, sign)[1] for sign in DELIMITERS):
        return False
    lines = [line for line in text.splitlines() if line.strip()]
    for start in range(1, min(most, len(lines) - 2) + 1):
        rest = "\n".join(lines[start : start + 100])
        scores = {sign: _score(rest, sign) for sign in DELIMITERS}
        if any(share >= 0.9 and width > (2 if sign == "," else 1) for sign, (share, width) in scores.items()):
            return True
    return False


def _score(text: str, delimiter: str) -> tuple[float, int]:
    """Give the share of lines that have as many fields as the header, and how many these are."""
    try:
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if row]
    except csv.Error:
        return (0.0, 0)
    width = len(rows[0]) if rows else 0
    alike = sum(len(row) == width for row in rows[1:])
    if width < 2 or (len(rows) > 1 and not alike):
        return (0.0, 0)
    return (alike / max(len(rows) - 1, 1), width)
