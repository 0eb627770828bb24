"""What a delimited text file is written in: delimiter, decimal sign and encoding."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass, replace

import polars as pl
import polars.selectors as cs

from sfumato.data.files.decimals import Decimal

__all__ = ["USUAL", "Dialect", "registered"]


@dataclass(frozen=True)
class Dialect:
    """What a delimited text file is written in.

    Parameters
    ----------
    delimiter
        The sign between two fields.
    decimal
        The sign before decimal places.
    encoding
        Its name as registered with IANA, where it is registered.

    Examples
    --------
    >>> Dialect(";", ",", "windows-1252").given()
    {'delimiter': ';', 'decimal': ',', 'encoding': 'windows-1252'}
    """

    delimiter: str = ","
    decimal: Decimal = "."
    encoding: str = "utf-8"

    def given(self) -> dict[str, str | None]:
        """The options with which such a file is read again.

        A decimal point is left to be found, as usual: stated, it would make numbers of texts such as `1,234`.
        """
        return {
            "delimiter": self.delimiter,
            "decimal": "," if self.decimal == "," else None,
            "encoding": None if self.encoding == "utf-8" else self.encoding,
        }

    def holding(self, frame: pl.DataFrame) -> Dialect:
        """The same for a table with these names and texts: in UTF-8, where the encoding lacks one of their letters.

        Examples
        --------
        >>> german = Dialect(";", ",", "iso-8859-1")
        >>> german.holding(pl.DataFrame({"town": ["Köln"]})) == german
        True
        >>> german.holding(pl.DataFrame({"age": ["≥ 65"]})).encoding
        'utf-8'
        """
        if self.encoding == "utf-8":
            return self
        texts = frame.select(cs.string(), cs.categorical(), cs.enum()).cast(pl.String)
        try:
            for some in (frame.columns, *(column.drop_nulls().unique().to_list() for column in texts)):
                "\n".join(some).encode(self.encoding)
        except UnicodeError:
            return replace(self, encoding="utf-8")
        return self


USUAL = Dialect()
"""What is written where no delimited text file was read."""


def registered(encoding: str) -> str:
    """The name of an encoding that other programs know, of one that Python knows.

    UTF-16 is written with a mark that tells the order of its bytes, so its name does not.

    Examples
    --------
    >>> registered("cp1252"), registered("latin-1"), registered("utf-16-le"), registered("utf8")
    ('windows-1252', 'iso-8859-1', 'utf-16', 'utf-8')
    """
    name = codecs.lookup(encoding).name
    if name.startswith("utf-16"):
        return "utf-16"
    name = re.sub(r"^cp(125[0-8])$", r"windows-\1", name)
    name = re.sub(r"^iso8859-", "iso-8859-", name)
    return {"mac-roman": "macintosh", "euc_kr": "euc-kr", "utf-8-sig": "utf-8"}.get(name, name)
