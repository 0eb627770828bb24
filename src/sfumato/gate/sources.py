"""The files of a gate's data sets: what they hold, and whether they are still what they were."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.data.files import read_table
from sfumato.data.files.atomic import replacing
from sfumato.data.kinds import sniff_kinds
from sfumato.draws import Draws
from sfumato.engines.postgresql_session import Place
from sfumato.engines.postgresql_table import PostgresTable
from sfumato.errors import DataError, DataStopped, FileError, MissingExtra
from sfumato.gate.config import Config, DatasetConfig, TableSource
from sfumato.gate.dependences.found import Dependence, digests
from sfumato.gate.dependences.words import chance_problems
from sfumato.gate.derived import Columns, Described, Version
from sfumato.gate.margin import canonical_json
from sfumato.gate.reading import read_levels, records_of
from sfumato.gate.records import Records
from sfumato.release.secret import Secret

__all__ = ["Sources", "codebook_hashes", "copied", "database_table", "sha256_of"]

COPIES = "gate-data"
"""The folder, beside the configuration, of tables that were copied from a database."""


def sha256_of(path: Path) -> str:
    """SHA-256 of a file.

    Raises
    ------
    FileError
        It cannot be read.
    """
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        raise FileError(f"The data file {path.name!r} cannot be read.") from None


def codebook_hashes(config: Config, dataset: DatasetConfig) -> dict[str, Any]:
    """Hashes of what is said about a data set: of each level, of each cohort, and of all else.

    A level and a cohort keep their meaning once they are there: tables were given by them. What says nothing about
    missing values or about chance has no keys of these, as it had none before there were any.
    """
    levels = read_levels(dataset.levels, config.folder)
    later: dict[str, Any] = {"missing_told": _hash(sorted(dataset.missing_told))} if dataset.missing_told else {}
    if dataset.chance:  # its columns themselves: those that go later count again
        later["chance"] = [sorted(set(one.columns)) for one in dataset.chance]
    return {
        "levels": {f"{v}@{name}": _hash(group) for v, own in levels.items() for name, group in own.items()},
        "cohorts": {name: _hash(formula) for name, formula in dataset.cohorts.items()},
        "rows": _hash([dataset.record, dataset.count]),
        "never": _hash(list(dataset.never)),
        "variables": _hash(json.dumps({n: v.model_dump(mode="json") for n, v in dataset.variables.items()})),
        **later,
    }


def _hash(value: Any) -> str:
    return hashlib.sha256(canonical_json(value)).hexdigest()


def copied(config: Config, dataset: str, name: str, source: str | TableSource) -> tuple[str, str]:
    """The path of a version's file, and its hash; a table of a database is copied first.

    Parameters
    ----------
    config
        From whose folder files are seen.
    dataset, name
        Of the data set and of the version.
    source
        A path, or a table.

    Raises
    ------
    FileError, DataError
        What cannot be read.
    """
    if isinstance(source, TableSource):
        folder = config.path(COPIES)
        folder.mkdir(mode=0o700, exist_ok=True)
        path = f"{COPIES}/{dataset}-{name}.parquet"
        frame = database_table(config, source)
        with replacing(config.path(path)) as temporary:
            temporary.chmod(0o600)
            frame.write_parquet(temporary)
        return path, sha256_of(config.path(path))
    return str(source), sha256_of(config.path(source))


def database_table(config: Config, source: TableSource) -> pl.DataFrame:
    """All rows of a table of a database; nothing of its address is shown where it cannot be had."""
    schema, _, name = source.table.rpartition(".")
    if source.url.startswith("postgresql:"):
        opened = PostgresTable.open(Place(source.url, schema or "public", name))
        try:
            return pl.concat(list(opened.batches()))
        finally:
            opened.close()
    try:
        from sqlalchemy import MetaData, Table, create_engine, make_url, select
        from sqlalchemy.exc import NoSuchTableError, SQLAlchemyError
    except ImportError:  # pragma: no cover - tests have the extra
        raise MissingExtra("A table of a database", "server") from None
    address = make_url(source.url)
    if address.database:
        path = config.path(address.database)
        if not path.exists():
            raise FileError(f"There is no database {path.name!r}.")
        address = address.set(database=str(path))
    try:
        engine = create_engine(address)
        with engine.connect() as connection:
            table = Table(name, MetaData(), schema=schema or None, autoload_with=connection)
            frame = pl.read_database(select(table), connection, infer_schema_length=None)
        engine.dispose()
    except NoSuchTableError:
        raise DataError(f"The database has no table {source.table!r}.") from None
    except (SQLAlchemyError, pl.exceptions.PolarsError):
        raise FileError(f"The table {source.table!r} cannot be read from its database.") from None
    return frame


@dataclass
class _Seen:
    """What a file was when it was last looked at."""

    stamp: tuple[int, ...]
    sha256: str


@dataclass
class Sources:
    """The records of all data sets, read when they are first asked for.

    Parameters
    ----------
    config
        Where the files are, and what is said about them.
    seen
        Is shown the secret whenever it is read.
    """

    config: Config
    seen: Callable[[Secret], None] | None = None
    _books: dict[str, Codebook] = field(default_factory=dict, init=False, repr=False)
    _records: dict[str, tuple[tuple[Any, ...], Records]] = field(default_factory=dict, init=False, repr=False)
    _found: dict[str, tuple[Dependence, ...]] = field(default_factory=dict, init=False, repr=False)
    _seen: dict[str, _Seen] = field(default_factory=dict, init=False, repr=False)
    _hashes: dict[str, dict[str, Any]] = field(default_factory=dict, init=False, repr=False)

    def records(self, name: str, described: Described) -> Records:
        """The records of a data set, if its files are what they were.

        Parameters
        ----------
        name
            Of the data set.
        described
            What the ledger knows about it.

        Raises
        ------
        DataStopped
            A file, or what is said about it, changed: the data set stands still, others go on.
        """
        if name not in self.config.datasets or not described.versions:
            raise DataError(f"The configuration has no data set {name!r}, or it was not added: sfumato gate init")
        if self.hashes(name) != dict(described.codebook):
            raise DataStopped(
                f"What the configuration says about the data set {name!r} changed. Take it over with: sfumato gate init"
            )
        self._refuse_changed(name, described)
        kept = self._records.get(name)
        wanted = described.versions, described.confirmed
        if kept is None or kept[0] != wanted:
            kept = wanted, self._reread(name, described)
            self._refuse_changed(name, described, thoroughly=True)  # not while it was read either
            self._records[name] = kept
        return kept[1]

    def found(self, name: str, described: Described) -> tuple[Dependence, ...]:
        """All dependences that are found in a data set, whatever stewards say of them; most telling first.

        Raises
        ------
        DataStopped
            As `records`.
        """
        self.records(name, described)
        return self._found[name]

    def _reread(self, name: str, described: Described) -> Records:
        """Read a data set; what stewards called chance and is found no more, or otherwise, is none."""
        own = self.read(name, described.versions)
        self._found[name] = own.found
        lapsed = described.lapsed(digests(own.found))
        chance = [one for one in described.chance if one not in lapsed and not chance_problems([one], own.found)]
        return self.read(name, described.versions, chance) if chance else own

    def _refuse_changed(self, name: str, described: Described, *, thoroughly: bool = False) -> None:
        for version in described.versions:
            if not self.unchanged(version, thoroughly=thoroughly):
                raise DataStopped(
                    f"The file of the data set {name!r}, version {version.name!r}, changed or is gone: nothing is told "
                    "of it. Bring the file back; new data are a new version."
                )

    def hashes(self, name: str) -> dict[str, Any]:
        """Hashes of what the configuration says about a data set."""
        if name not in self._hashes:
            self._hashes[name] = codebook_hashes(self.config, self.config.datasets[name])
        return self._hashes[name]

    def unchanged(self, version: Version, *, thoroughly: bool = False) -> bool:
        """Whether a version's file is what it was; read again only where it was touched, or `thoroughly`."""
        path = self.config.path(version.path)
        try:
            stat = os.stat(path)
            stamp = stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns
            kept = self._seen.get(version.path)
            if thoroughly or kept is None or kept.stamp != stamp:
                kept = self._seen[version.path] = _Seen(stamp, sha256_of(path))
        except (OSError, FileError):
            return False
        return kept.sha256 == version.sha256

    def frames(self, name: str, versions: Sequence[Version]) -> list[tuple[str, pl.DataFrame, Codebook]]:
        """The tables of a data set, and what their files say about variables."""
        tables = [(version.name, read_table(self.config.path(version.path))) for version in versions]
        return [(own, table.frame, table.codebook) for own, table in tables]

    def read(self, name: str, versions: Sequence[Version], chance: Sequence[Columns] = ()) -> Records:
        """The records of some versions of a data set.

        Parameters
        ----------
        name
            Of the data set.
        versions
            Which.
        chance
            Columns that hang on one another by chance, as two stewards said; what one alone says, in `gate.yaml` too,
            is not heeded.
        """
        said = self.config.datasets[name]
        (first, frame, book), *more = self.frames(name, versions)
        for column in (said.record, said.count):
            if column is not None and column not in frame.columns:
                raise DataError(f"The data set {name!r} has no column {column!r}.")
        known = Codebook({**book, **said.variables})
        self._books[name] = sniff_kinds(
            frame.select(c for c in frame.columns if c not in (said.record, said.count)), known
        )
        return records_of(
            frame,
            known,
            count=said.count,
            record=said.record,
            levels=read_levels(said.levels, self.config.folder),
            never=said.never,
            cohorts=said.cohorts,
            missing_told=[one for one in said.missing_told if _is_number(one, frame, said)],
            versions=[(own, later) for own, later, _ in more],
            first=first,
            secret=self._secret(),
            chance=chance,
        )

    def codebook(self, name: str, described: Described) -> Codebook:
        """Roles and kinds of the variables of a data set, as they are said or told from its first version.

        Raises
        ------
        DataStopped
            As `records`.
        """
        self.records(name, described)
        return self._books[name]

    def _secret(self) -> bytes | None:
        """What noise and subsamples are drawn with; needed at once where a policy allows perturbed tables."""
        path = self.config.path(self.config.secret_file)
        if not path.exists() and all(policy.perturbed is None for policy in self.config.policies.values()):
            return None
        secret = Secret.find(path)
        if self.seen is not None:
            self.seen(secret)
        return secret.value

    def draws(self) -> Draws | None:
        """Draws from the gate's secret, where there is one."""
        value = self._secret()
        return None if value is None else Draws(value)

    def refuse_shared_people(self, name: str, version: Version, datasets: Mapping[str, Described]) -> None:
        """Refuse a version that has people of another data set.

        Raises
        ------
        DataError
            Record ids that are missing, or stand in both.
        """
        column = self.config.datasets[name].record
        if column is None:
            return
        own = self._ids(name, version, column)
        if own.null_count() or own.n_unique() < len(own):
            raise DataError(f"Record ids in {column!r} of the data set {name!r} are missing or stand twice.")
        for other, described in sorted(datasets.items()):
            said = self.config.datasets.get(other)
            if other == name or said is None or said.record is None:
                continue
            for one in described.versions:
                if own.is_in(self._ids(other, one, said.record).implode()).any():
                    raise DataError(
                        f"The data sets {name!r} and {other!r} have record ids in common: tables of both would add up. "
                        "Make it a version of the other one, or a cohort of it."
                    )

    def _ids(self, name: str, version: Version, column: str) -> pl.Series:
        [(_, frame, _)] = self.frames(name, [version])
        if column not in frame.columns:
            raise DataError(f"The data set {name!r} has no column {column!r} of record ids.")
        return frame[column].cast(pl.String)


def _is_number(name: str, frame: pl.DataFrame, said: DatasetConfig) -> bool:
    """Whether a variable may hold numbers; what is wrong with others is told with all that is wrong."""
    if name in (said.record, said.count):
        return False
    return name in said.cohorts or (name in frame.columns and frame[name].dtype.is_numeric())
