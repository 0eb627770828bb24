"""The plan as it is being written, the studio's only state: stale edits are refused, and all can be undone."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

from sfumato.data.files.atomic import replacing
from sfumato.errors import FileError
from sfumato.plan.editing.differing import Place, differing
from sfumato.plan.editing.history import History, etag
from sfumato.plan.plan import Plan
from sfumato.web.problems import Problem
from sfumato.web.studio.beside import Beside, folders, steps_of

__all__ = ["Planned", "stands_alone"]

_MOST_LINES = 40


def stands_alone(plan: Plan) -> bool:
    """Whether a plan names no file that could change while its text stays."""
    return not folders(plan) and not any(step.files for step in steps_of(plan))


class Planned:
    """A plan's text with its history, kept in a file where that was agreed to.

    Parameters
    ----------
    text
        Where it begins.
    base
        The folder that files which the plan names are looked for in.
    private
        A folder for files that are made for the plan, as long as it is kept nowhere.
    """

    def __init__(self, text: str, base: Path, private: Path | None = None) -> None:
        self._history = History(text)
        self._first = text
        self._known = {etag(text): text}
        self._lock = threading.RLock()
        self._parsed: dict[str, Plan] = {}
        self._base, self._private = base, private
        self.beside = Beside()
        """Files that are made for the plan, where its text would be too long."""
        self.asked = False
        """Whether it was asked if the plan should be kept in a file."""
        self.kept: Path | None = None
        """The file that every edit is written to."""
        self.not_kept = ""
        """Why it is not kept there any more, until it is kept again."""
        self.given = False
        """Whether it came from a file, and was not drafted."""
        self._bytes: set[bytes] = set()

    @property
    def touched(self) -> bool:
        """Whether somebody wrote it: it was given, or changed since it was drafted."""
        return self.given or self.can_undo or self.can_redo

    def follow(self, before: Planned) -> None:
        """Take the place of a plan of the same file: kept in a file where that one was."""
        self.asked, self.kept, self.not_kept = before.asked, before.kept, before.not_kept
        self._bytes |= before._bytes
        self._save_or_say()

    @property
    def text(self) -> str:
        """As it is now."""
        return self._history.text

    @property
    def etag(self) -> str:
        """Of the text."""
        return self._history.etag

    @property
    def can_undo(self) -> bool:
        """Whether there is anything to undo."""
        return self._history.can_undo

    @property
    def can_redo(self) -> bool:
        """Whether there is anything to redo."""
        return self._history.can_redo

    @property
    def base(self) -> Path:
        """The folder that files which the plan names are looked for in."""
        return self._base_of(self.plan)

    def _base_of(self, plan: Plan) -> Path:
        return self._home if self.beside.named(plan) else self._base

    @property
    def _home(self) -> Path:
        """Where files that are made for the plan lie."""
        if self.kept is not None:
            return self.kept.parent
        return self._base if self._private is None else self._private

    @property
    def plan(self) -> Plan:
        """The plan that the text is."""
        return self.parsed(self.text)

    def parsed(self, text: str) -> Plan:
        """A text as a plan that lies where this one does.

        Raises
        ------
        PlanError
            It is none.
        """
        with self._lock:
            if (found := self._parsed.get(text)) is None:
                found = Plan.from_yaml(text, self._base)
                if self.beside.named(found):
                    found = found.beside(Plan.from_yaml("sfumato: 1", self._home))
                elif stands_alone(found):
                    self._parsed = {**dict(list(self._parsed.items())[-3:]), text: found}
            return found

    def change(self, seen: str | None, edit: Callable[[str], str]) -> str:
        """Write what an edit makes of the text, if whoever edits has seen the text as it is.

        Where the file that it is kept in cannot be written, the change counts all the same, and `not_kept` says so.

        Parameters
        ----------
        seen
            The tag of the text that was seen.
        edit
            Gives the new text; what it raises is passed on, and the text stays.

        Returns
        -------
        str
            The new tag.

        Raises
        ------
        Problem
            428 without a tag; 409 with what changed since, where it is not that of the text.
        PlanError
            The new text is no plan.
        """
        if seen is None:
            raise Problem(428, "Say which text is changed: If-Match with the ETag of /api/plan.")
        with self._lock:
            if seen not in (self.etag, "*"):
                raise self._stale(seen)
            new = edit(self.text)
            self._lay(self.parsed(new))
            self._history.write(new)
            return self._written()

    def undo(self) -> str:
        """Go back by one text, and give its tag.

        Raises
        ------
        Problem
            409 where there is none.
        """
        return self._gone(self._history.undo, "There is nothing to undo.")

    def redo(self) -> str:
        """Go forward again by one text, and give its tag.

        Raises
        ------
        Problem
            409 where none was undone.
        """
        return self._gone(self._history.redo, "There is nothing to redo.")

    def keep(self, path: Path) -> None:
        """Write the text to a file, now and after every edit.

        Raises
        ------
        Problem
            409 where the file holds what this studio neither read nor wrote; 507 where it cannot be written.
        """
        with self._lock:
            self._refuse_foreign(path)
            self.beside.lay(self.beside.named(self.plan), path.parent)
            self.kept = path
            self._save()
            self.not_kept = ""

    def wrote(self, path: Path) -> bool:
        """Whether a file holds what this studio read or wrote, so that it may be written over."""
        try:
            return path.read_bytes() in self._bytes
        except OSError:
            return False

    def take(self, path: Path) -> None:
        """Go on with the plan of a file, and keep it there.

        Raises
        ------
        PlanError
            It is none; the text stays.
        """
        Plan.load(path)  # with the command line's sentences
        content = path.read_bytes()
        with self._lock:
            self.change("*", lambda _: content.decode("utf-8-sig"))
            self.read_from(content)
            self.given = True
            self.keep(path)

    @property
    def changes(self) -> list[Place]:
        """What differs from the first text, as it was drafted or opened."""
        return differing(self._first, self.text)

    def read_from(self, content: bytes) -> None:
        """Take the bytes of a file for read: they may be written over."""
        self._bytes.add(content)

    def _gone(self, step: Callable[[], bool], otherwise: str) -> str:
        with self._lock:
            if not step():
                raise Problem(409, otherwise)
            return self._written()

    def _written(self) -> str:
        self._known[self.etag] = self.text
        self._lay(plan := self.plan)
        self._save_or_say()
        self.beside.tidy(self.beside.named(plan))
        return self.etag

    def _lay(self, plan: Plan) -> None:
        """Write the files that were made for a plan: where it is kept, and where they stay if that ends."""
        names = self.beside.named(plan)
        others = any(step.files for step in steps_of(plan)) or len(folders(plan)) > len(names)
        if names and others and self._home.resolve() != self._base.resolve():
            raise Problem(
                409,
                "A tree of this size goes into a file beside the plan, where the other files are that it names. Let "
                "the plan be kept there first, below its text.",
            )
        for home in {self._home, self._private or self._home} if names else ():
            home.mkdir(mode=0o700, exist_ok=True)
            self.beside.lay(names, home)

    def _save_or_say(self) -> None:
        """Save it where it is kept; if that fails it is asked anew where to."""
        try:
            self._save()
        except Problem as error:
            self.not_kept, self.asked = error.detail, False

    def _save(self) -> None:
        if self.kept is None:
            return
        self._refuse_foreign(self.kept)
        content = self.text.encode("utf-8")
        try:
            with replacing(self.kept) as temporary:
                temporary.write_bytes(content)
        except (OSError, FileError):
            name, self.kept = self.kept.name, None
            raise Problem(
                507,
                f"{name!r} cannot be written, so the plan is not kept in a file any more. Make room, or download it.",
            ) from None
        self._bytes.add(content)

    def _refuse_foreign(self, path: Path) -> None:
        try:
            there = path.read_bytes()
        except FileNotFoundError:
            return
        except OSError as error:
            self.kept = None
            raise Problem(
                507, f"{path.name!r} cannot be read ({error.strerror}), so the plan is not kept in a file. Download it."
            ) from None
        if there not in self._bytes:
            self.kept = None
            raise Problem(
                409,
                f"{path.name!r} holds a plan that this studio neither read nor wrote: it is left as it is, and the "
                "plan is not kept in a file any more. Download it, or move that file away.",
            )

    def _stale(self, seen: str) -> Problem:
        """What changed since somebody saw the text."""
        before = self._known.get(seen)
        more: dict[str, object] = {"etag": self.etag}
        if before is not None:
            places = differing(before, self.text)
            lines = [
                f"{sign}{line}" for at in places for sign, part in (("-", at.gone), ("+", at.new)) for line in part
            ]
            more["changed"] = lines[:_MOST_LINES]
        return Problem(409, "The plan was changed elsewhere since you saw it: look at it again.", more)
