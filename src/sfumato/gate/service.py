"""The gate as it runs: it decides, remembers and proves, over a store that several processes may share."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from sfumato.errors import DataError, MissingExtra
from sfumato.gate.backup import write_backup
from sfumato.gate.config import Config
from sfumato.gate.derived import Described, State
from sfumato.gate.log import Log
from sfumato.gate.policy import Policy
from sfumato.gate.serving.asking import Answer
from sfumato.gate.serving.budgeting import Budget, Budgeting
from sfumato.gate.serving.core import COMMAND_LINE, Release, Settled
from sfumato.gate.serving.describing import Describing
from sfumato.gate.serving.doors import Doors, Login, Token, Visitor
from sfumato.gate.serving.mending import log_started, repaired
from sfumato.gate.serving.people import People
from sfumato.gate.serving.remaking import Remaking
from sfumato.gate.serving.restoring import Restored, restored
from sfumato.gate.serving.standing import stood
from sfumato.gate.serving.stewarding import Waiting
from sfumato.gate.serving.surveying import Surveying
from sfumato.gate.serving.trying import Tried, Trying
from sfumato.gate.serving.verifying import Verifying, verify_file
from sfumato.gate.serving.versions import Added, Versions
from sfumato.gate.world import PUBLIC

if TYPE_CHECKING:
    from sfumato.gate.store.store import Store

__all__ = [
    "Added",
    "Answer",
    "Budget",
    "Gate",
    "Login",
    "Release",
    "Restored",
    "Settled",
    "Token",
    "Tried",
    "Visitor",
    "Waiting",
    "verify_file",
]


class Gate(Remaking, Budgeting, People, Versions, Verifying, Describing, Trying, Surveying, Doors):
    """What may be told to whom: decided with proofs and remembered.

    Parameters are not given here: `Gate.init` makes a store or brings it up to date, `Gate.open` opens one.

    Notes
    -----
    Every grant but an exception rests on a proof for all who may come to know it. What is decided outside a transaction
    is written only if nothing that it depends on has changed; else it is decided again. Entry, knowledge, release and
    the answer for a key are kept together or not at all, and the answer leaves when they are.

    It does not protect against who can write to the store or the data files: it shows what they changed (`verify`), and
    a cut end shows by the head that every release states.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sfumato.gate.config import read_config
    >>> from sfumato.gate.margin import Margin, Node
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "ward.csv").write_text("A,B,n\\n1,1,2\\n1,2,3\\n2,1,3\\n2,2,0\\n")
    >>> _ = (folder / "gate.yaml").write_text(
    ...     "gate: 1\\nstore: sqlite:///gate.db\\nsecret_file: key\\n"
    ...     "datasets: {ward: {versions: {v1: ward.csv}, count: n}}\\n"
    ...     "policies: {research: {interval: {count: 2, width: 4}}}\\n"
    ... )
    >>> config = read_config(folder / "gate.yaml")
    >>> _ = Gate.init(config)
    >>> with Gate.open(config) as gate:
    ...     _ = gate.add_user("ann", None, "analyst", "research")
    ...     first = gate.ask("ann", "ward", Margin.of([Node("A")]))
    ...     second = gate.ask("ann", "ward", Margin.of([Node("B")]))
    ...     first.release.rows, second.decision, gate.verify()
    ([['1', 5], ['2', 3]], 'refused', [])
    """

    @classmethod
    def init(cls, config: Config, *, by: str = COMMAND_LINE) -> list[Added]:
        """Make the store or bring it to the newest revision, and take over what the configuration has.

        Policies that the store has stay as they are there; see `other_policies`. What the configuration calls chance is
        proposed, and counts once a second steward confirmed it.

        Parameters
        ----------
        config
            The configuration.
        by
            Who does it: a steward, where not the command line.

        Returns
        -------
        list of Added
            What was taken over of the data sets, in order.

        Raises
        ------
        DataError
            What cannot be taken over, of all data sets: a level or a cohort that changed, another file for a version
            that there is, a version that is too near an earlier one, `chance` of what was not found.
        MissingExtra
            Without the packages of the extra `server`.
        """
        store = _store().make(config.store_url)
        try:
            store.log = _begun(store, config.log_path)
            with store.writing([]) as writer:
                writer.public()
            gate = cls(config, store, stood(store))
            for name in sorted(config.datasets):  # before anything is written
                gate._refuse_unnamed(name, by)
            for name, policy in sorted(_policies(config).items()):
                if name not in gate._state.policies:
                    gate.set_policy(name, policy)
            return gate._all_taken_over(by)
        finally:
            store.close()

    @classmethod
    def open(cls, config: Config) -> Gate:
        """Open a gate whose store is there.

        Raises
        ------
        DataError, FileError
            There is no store, it is of another version or was made with another secret, or cannot be reached; its log
            is missing, it was set back behind that, or what it holds does not follow from its entries.
        MissingExtra
            Without the packages of the extra `server`.
        """
        store = _store().open(config.store_url)
        try:
            store.log = Log.open(config.log_path)
            return cls(config, store, stood(store))
        except BaseException:
            store.close()
            raise

    @classmethod
    def look(cls, config: Config) -> Gate:
        """Open a gate to look for what is wrong with it: it can be verified, and nothing is asked of it or written."""
        store = _store().open(config.store_url)
        try:
            return cls(config, store, State())
        except BaseException:
            store.close()
            raise

    @classmethod
    def repair(cls, config: Config) -> list[str]:
        """Write what follows from the entries in place of what is stored: see `repaired`."""
        with closing(_store().open(config.store_url)) as store:
            store.log = Log.open(config.log_path)
            return repaired(store)

    @classmethod
    def start_log(cls, config: Config, reason: str, by: str = COMMAND_LINE) -> tuple[int, str]:
        """Begin a log where there is none: see `log_started`."""
        with closing(_store().open(config.store_url)) as store:
            return log_started(store, config.log_path, reason, by)

    @classmethod
    def restore(cls, config: Config, folder: Path) -> Restored:
        """Put the store back from a backup, with the log's later entries: see `restored`."""
        return restored(config, folder, _store().make, lambda store, state: cls(config, store, state))

    def backup(self, out: Path) -> None:
        """Write store, log, configuration, levels and hashes of the data into a folder; no secret is in it.

        Parameters
        ----------
        out
            A folder that is not there yet; nobody but its owner can read it. A store in PostgreSQL is not in it: see
            `sfumato.gate.backup.dump_line`.

        Raises
        ------
        FileError
            The folder is there, or cannot be written.
        """
        self._catch_up()
        write_backup(self.config, out, self._catch_up, self._state.datasets)

    def close(self) -> None:
        """Let go of the store."""
        self.store.close()

    def __enter__(self) -> Gate:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _all_taken_over(self, by: str) -> list[Added]:
        """Take over what the configuration says of each data set; what is wrong with some is told together."""
        if by != COMMAND_LINE:
            self._refuse_no_steward(self._state, by)
        out: list[Added] = []
        wrong: list[DataError] = []
        for name in sorted(self.config.datasets):
            try:
                out += self.take_over(name, by=by)
            except DataError as error:
                wrong.append(error)
        if len(wrong) == 1:
            raise wrong[0]
        if wrong:
            raise DataError(" ".join(map(str, wrong)))
        return out

    def datasets(self) -> dict[str, Described]:
        """Data sets and their versions, as the ledger knows them."""
        self._catch_up()
        return dict(self._state.datasets)

    def other_policies(self) -> list[str]:
        """Policies that the configuration has otherwise than they are in force: `gate policy` sets them."""
        self._catch_up()
        known = self._state.policies
        return sorted(name for name, policy in self.config.policies.items() if known[name][1] != policy)


def _begun(store: Store, path: Path) -> Log:
    """The log of a gate that is brought up; a new store's is begun."""
    with store.seeing() as view:
        new = not view.head()[0]
    return Log.begin(path) if new and not path.exists() else Log.open(path)


def _policies(config: Config) -> dict[str, Policy]:
    """Those of the configuration, with one for the public."""
    return {PUBLIC: Policy(preset=PUBLIC), **config.policies}


def _store() -> Any:
    try:
        import sqlalchemy as sqlalchemy
    except ImportError:  # pragma: no cover - tests have the extra
        raise MissingExtra("The gate's store", "server") from None
    from sfumato.gate.store.store import Store

    return Store
