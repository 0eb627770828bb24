"""Plans in every style of YAML: a value is written at random, with the lines that each of its parts has."""

from __future__ import annotations

import json
import random

WORDS = (
    "Age",
    "Fare paid",
    "no",
    "1",
    "a: b",
    "- x",
    "# none",
    "Größe",
    "x # y",
    "",
    "off",
    "'",
    '"',
    "é\u202e",
    "null",
)


def plan(draw: random.Random) -> dict:
    """A value like a plan's, of which only the form matters here."""
    value = {
        "sfumato": 1,
        "title": text(draw),
        "variables": {f"v {i}" if draw.random() < 0.3 else f"v{i}": variable(draw) for i in range(draw.randrange(4))},
        "steps": [step(draw, i) for i in range(draw.randrange(5))],
        "limits": [{"measure": f"m{i}", "at_least": draw.randrange(9)} for i in range(draw.randrange(3))],
    }
    for key in ("title", "variables", "limits", "steps"):
        if draw.random() < 0.1:
            del value[key]
    return value


def text(draw: random.Random) -> str:
    """A text, some of several lines."""
    return draw.choice([*WORDS, "two\nlines\n", "one\n\nother", "long " * 5 + "words"])


def variable(draw: random.Random) -> dict:
    """What is said of a variable."""
    full = {
        "role": draw.choice(["key", "other"]),
        "label": text(draw),
        "labels": {1: "yes", 2: text(draw)},
        "range": [0, None],
    }
    return {key: part for key, part in full.items() if draw.random() < 0.6}


def step(draw: random.Random, i: int) -> dict:
    """A step."""
    full = {"k": draw.randrange(2, 9), "columns": [text(draw) for _ in range(draw.randrange(4))], "formula": text(draw)}
    full |= {"map": {"a": {"b": [True, 0.5, None]}}}
    return {"do": f"s{i}", **{key: part for key, part in full.items() if draw.random() < 0.6}}


class Writer:
    """Writes a value line by line.

    Attributes: `text`, and `lines`: by path the first and the last line (from 0), comments above not among them.
    """

    def __init__(self, draw: random.Random, value: dict) -> None:
        self.draw = draw
        self.eol = draw.choice(["\n", "\r\n"])
        self.step = draw.choice([1, 2, 4])
        self.remarks = draw.choice([0, 0.3])
        self.flowing = draw.choice([0.1, 0.5, 0.9])
        self.counted = 0
        self.out: list[str] = ["---"] if draw.random() < 0.2 else []
        self.lines: dict[tuple, tuple[int, int]] = {}
        self.brackets: set[tuple] = set()
        self.mapping(value, 0, ())
        self.text = self.eol.join(self.out) + (self.eol if draw.random() < 0.8 else "")

    def remark(self, before: str = "") -> str:
        self.counted += 1
        return f"{before}# remark {self.counted}: - [x] {{"

    def above(self, indent: int) -> None:
        while self.draw.random() < self.remarks:
            if self.draw.random() < 0.2:
                self.out.append("")
            self.out.append(self.remark(" " * indent))

    def beside(self) -> str:
        return self.remark("  ") if self.draw.random() < self.remarks else ""

    def mapping(self, value: dict, indent: int, path: tuple, lead: str | None = None) -> None:
        for key, part in value.items():
            if lead is None:
                self.above(indent)
            first = len(self.out)
            head = (" " * indent if lead is None else lead) + self.scalar(key, key=True) + ":"
            lead = None
            self.part(part, head, indent, (*path, key))
            self.lines[*path, key] = first, len(self.out) - 1

    def part(self, value, head: str, indent: int, path: tuple) -> None:
        """What follows a colon or a dash."""
        if isinstance(value, dict | list) and value and self.draw.random() > self.flowing:
            listed = isinstance(value, list)
            if head.endswith("-"):  # an item that begins beside its dash
                lead = head + " " * self.step
                if not listed:
                    self.mapping(value, len(lead), path, lead)
                    return
                self.out.append(head + self.beside())
                self.sequence(value, len(head) - 1 + self.step, path)
                return
            self.out.append(head + self.beside())
            if listed:
                self.sequence(value, indent + self.draw.choice([0, self.step]), path)
            else:
                self.mapping(value, indent + self.step, path)
            return
        if isinstance(value, str) and "\n" in value and value.strip() and self.draw.random() < 0.6:
            chomp = "" if value.endswith("\n") else "-"
            self.out.append(f"{head} |{chomp}")
            column = (len(head) - len(head.lstrip(" -"))) + self.step + 1
            self.out += [" " * column + line if line else "" for line in value.removesuffix("\n").split("\n")]
            if self.draw.random() < 0.3:
                self.out.append("")
            return
        if value is None and self.draw.random() < 0.5:
            self.out.append(head + self.beside())
            return
        if isinstance(value, dict | list):
            self.brackets.add(path)
        self.out.append(f"{head} {self.flow(value)}{self.beside()}")

    def sequence(self, value: list, indent: int, path: tuple) -> None:
        for i, part in enumerate(value):
            self.above(indent)
            first = len(self.out)
            self.part(part, " " * indent + "-", indent, (*path, i))
            self.lines[*path, i] = first, len(self.out) - 1

    def flow(self, value) -> str:
        """A value in one line, or in brackets over several."""
        comma = self.draw.choice([", ", ",", " , "])
        if isinstance(value, dict | list) and value:
            parts = (
                [f"{self.scalar(k, key=True)}: {self.flow(v)}" for k, v in value.items()]
                if isinstance(value, dict)
                else [self.flow(v) for v in value]
            )
            end = "," if self.draw.random() < 0.1 else ""
            return (
                "{}"[0] + comma.join(parts) + end + "}"
                if isinstance(value, dict)
                else "[" + comma.join(parts) + end + "]"
            )
        return {dict: "{}", list: "[]"}.get(type(value)) or self.scalar(value)

    def scalar(self, value, *, key: bool = False) -> str:
        if not isinstance(value, str):
            return json.dumps(value)
        plain = value.replace(" ", "").isalnum() and value.isascii() and not value.isdigit() and value.strip() == value
        if plain and value not in ("null", "true", "") and self.draw.random() < 0.6:
            return value
        if "\n" not in value and "\u202e" not in value and self.draw.random() < 0.5:
            return "'" + value.replace("'", "''") + "'"
        return json.dumps(value, ensure_ascii=self.draw.random() < 0.5)
