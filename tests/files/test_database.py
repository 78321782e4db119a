"""The database of a stream: what is lost is said, and a file of a stranger is refused."""

import json
import os
import re
import signal
import sqlite3
import sys
import zlib
from contextlib import closing

import numpy as np
import pytest

import adatron
from adatron import IncrementalSVC
from adatron.files import ModelFileError
from adatron.files.database import Database, Record, is_database, model_in
from adatron.files.source import Piped

RECORDS = [Record(n, "ä", 2 * n, f"0.{n},1") for n in range(5, 9)]
MODEL = b"the model" * 1000


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "m.adatron"
    with Database(path) as database:
        database.write(MODEL)
        for record in RECORDS:
            database.append(record)
        database.commit()
    return path


def found(path, number=4):
    with Database(path) as database:
        return database.records(number)


def changed(path, *statements, rows=()):
    """Let a stranger change the database, and add rows."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)
        for row in rows:
            connection.execute("INSERT INTO lines VALUES (?, ?, ?)", row)


def test_records_beyond_what_the_model_knows(path):
    assert found(path) == (RECORDS, "")
    assert found(path, 6) == (RECORDS[2:], "")
    assert found(path, 8) == ([], "")
    assert model_in(path) == MODEL
    with Database(path) as database:
        assert database.model == MODEL
        database.write(MODEL[1:])
    assert found(path) == ([], "")
    assert model_in(Piped("name", path.read_bytes())) == MODEL[1:]


def test_what_was_not_written_is_not_there(path):
    with Database(path) as database:
        database.append(Record(9, "ä", 1, "1,2,1"))
    assert found(path) == (RECORDS, "")


def test_a_large_model_takes_several_rows(path):
    large = np.random.default_rng(0).bytes(2**24 + 1)
    with Database(path) as database:
        database.write(large)
    assert model_in(path) == large
    with pytest.raises(ModelFileError, match="there is room for 1000"):
        model_in(path, max_bytes=1000)


def test_what_is_deleted_leaves_the_file_and_its_folder(path):
    rng = np.random.default_rng(0)
    secrets = [rng.bytes(16).hex() for _ in range(200)]
    with Database(path) as database:
        for number, secret in enumerate(secrets, 9):
            database.append(Record(number, "-", number, secret * int(rng.integers(1, 300))))
        database.write("".join(secrets).encode() * 50)
        for secret in secrets[::2]:
            database.append(Record(1000 + len(secret), "-", 1, secret))
            database.write(b"")
        held = path.read_bytes()
        assert not any(secret.encode() in held for secret in secrets)
        assert list(path.parent.iterdir()) == [path]


def test_what_is_lost_is_said(path):
    changed(path, "DELETE FROM lines WHERE number IN (6, 7)")
    assert found(path) == ([RECORDS[0], RECORDS[3]], "records 6 to 7 of 5 to 8 missing")
    changed(path, "DELETE FROM lines WHERE number = 5")
    assert found(path)[1] == "records 5 to 7 of 5 to 8 missing"
    assert found(path, 7) == (RECORDS[3:], "")  # the model has the others
    changed(path, "UPDATE lines SET record = replace(record, '8', '9')")
    assert found(path) == ([], "records 5 to 8 of 5 to 8 missing")


def with_checksum(number, payload):
    return number, payload, zlib.crc32(payload, number & 0xFFFFFFFF)


VALUES = [[], {}, 5, None, "text", ["-", 1], ["-", 1, "1,2", 5], ["-", 1, None], [5, 1, "1,2,1"]]
VALUES += [["-", line, "1,2,1"] for line in (-1, 2**70, 1.5, True, "1")]


@pytest.mark.parametrize("payload", [*(json.dumps(one).encode() for one in VALUES), b"[" * 100_000 + b"]" * 100_000])
def test_a_row_that_is_no_record_is_damage(payload, path):
    changed(path, rows=[with_checksum(9, payload)])
    assert found(path) == (RECORDS, "records 9 of 5 to 9 missing")


def test_a_number_that_no_stream_reaches_is_damage(path):
    changed(path, rows=[with_checksum(2**53 + 1, b'["-", 1, "1,2,1"]')])
    assert found(path) == (RECORDS, f"records 9 to {2**53 + 1} of 5 to {2**53 + 1} missing")


FOREIGN = [
    ["PRAGMA application_id = 3"],
    ["PRAGMA user_version = 2"],
    ["CREATE TABLE more (a)"],
    ["CREATE VIEW more AS SELECT 1"],
    ["DROP TABLE model", "CREATE VIEW model AS SELECT 0 AS part, randomblob(1000000000) AS bytes"],
    ["DROP TABLE lines"],
    [
        "DROP TABLE lines",
        "CREATE TABLE lines (number INTEGER PRIMARY KEY, record BLOB, checksum CHECK (abs(checksum)))",
    ],
    ["CREATE TRIGGER t AFTER DELETE ON lines BEGIN INSERT INTO lines VALUES (1, 1, 1); END"],
    ["CREATE INDEX i ON lines (checksum)"],
    ["PRAGMA journal_mode = WAL"],
    ["UPDATE model SET bytes = 5"],
]


@pytest.mark.parametrize("statements", FOREIGN, ids=lambda one: one[-1][:30])
def test_another_database_is_refused(statements, path):
    changed(path, *statements)
    before = path.read_bytes()
    for act in (model_in, lambda path: Database(path).model):
        with pytest.raises(ModelFileError, match=f"{re.escape(str(path))}: (it is a|the database is damaged)"):
            act(path)
    assert path.read_bytes() == before


def test_damaged_bytes_are_refused_or_harmless(path):
    """Whatever is flipped: a sentence, the same content, or a record is missed. The model has a digest of its own."""
    data, rng = path.read_bytes(), np.random.default_rng(0)
    for _ in range(150):
        damaged = bytearray(data)
        for at in rng.integers(len(data), size=int(rng.integers(1, 30))):
            damaged[at] ^= 1 << int(rng.integers(8))
        path.write_bytes(damaged[: int(rng.choice([len(data), rng.integers(len(data))]))])
        if not is_database(path):
            continue
        try:
            with Database(path) as database:
                records, lost = database.records(4)
                assert len(database.model) <= len(damaged)
        except ModelFileError:
            continue
        assert all(record in RECORDS for record in records)
        assert lost or records == RECORDS[: len(records)]


def test_a_journal_that_names_another_file_is_not_followed(path, tmp_path):
    """SQLite would delete that file."""
    victim = tmp_path / "victim"
    victim.write_text("")
    name = str(victim).encode()
    ending = name + len(name).to_bytes(4, "big") + sum(name).to_bytes(4, "big") + bytes.fromhex("d9d505f920a163d7")
    path.with_name("m.adatron-journal").write_bytes(bytes(512) + (1).to_bytes(4, "big") + ending)
    for act in (model_in, Database):
        with pytest.raises(ModelFileError, match="it is not the journal of a stream"):
            act(path)
    assert victim.exists()


def test_one_process_learns_and_others_read(path):
    with Database(path) as database:
        with pytest.raises(ModelFileError, match="another `adatron stream` is learning"):
            Database(path)
        database.append(Record(9, "-", 1, "1,2,1"))
        assert model_in(path) == MODEL
        database.write(MODEL[2:])
    assert model_in(path) == MODEL[2:]
    Database(path).__exit__(None, None, None)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills a fork")
def test_a_killed_process_has_it_no_longer(path):
    child = os.fork()
    if child == 0:
        database = Database(path)
        database.append(Record(9, "-", 1, "1,2,1"))
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    assert found(path) == (RECORDS, "")


def test_one_that_was_never_begun_goes(tmp_path):
    with Database(tmp_path / "m") as database:
        assert database.is_new
        assert (tmp_path / "m").exists()
    assert not list(tmp_path.iterdir())


def test_another_file_in_its_place_stays(path):
    with Database(path) as database:
        path.with_name("other").write_bytes(b"another")
        path.with_name("other").replace(path)
        for act in (lambda: database.append(Record(9, "-", 1, "1,2,1")), database.commit):
            with pytest.raises(ModelFileError, match="it was moved, replaced or changed"):
                act()
    assert path.read_bytes() == b"another"


def test_a_model_file_becomes_a_database(tmp_path):
    path = tmp_path / "m.adatron"
    model = IncrementalSVC().fit([[0.0], [1.0]], [0, 1])
    adatron.save(model, path)
    path.chmod(0o600)
    before = path.read_bytes()
    with Database(path) as database:
        assert database.model == before
    assert (path.stat().st_mode & 0o777) in (0o600, 0o666)  # Windows knows no others
    loaded = adatron.load(path)
    np.testing.assert_array_equal(loaded.ids_, model.ids_)
    assert loaded.files_ == [str(path)]
    with pytest.raises(ModelFileError, match=r"it is the database of a stream.*save to another file"):
        adatron.save(model, path)


@pytest.mark.skipif(sys.platform == "win32", reason="limits of resources are POSIX's")
def test_a_full_disk_leaves_the_records_before(path):
    import resource

    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        with Database(path) as database:
            resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size, limits[1]))
            database.append(Record(9, "-", 1, "1,2,1" * 10_000))
            with pytest.raises(OSError, match="Errno"):
                database.commit()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, before)
    assert found(path) == (RECORDS, "")
