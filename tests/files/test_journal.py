"""Journals that were damaged: what is lost is said, and a record that a crash cut off is not one."""

import os
import signal
from itertools import pairwise

import numpy as np
import pytest

from adatron.files import ModelFileError
from adatron.files.journal import Journal, Record, read_journal

NAME = "0123456789abcdef"
RECORDS = [Record(n, "ä", 2 * n, f"0.{n},1") for n in range(5, 9)]


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "m.adatron.journal"
    with Journal(path) as journal:
        journal.clear(NAME)
        for record in RECORDS:
            journal.append(record)
    return path


def found(path, number=4):
    return read_journal(path, NAME, number)


def starts(data):
    """Where the records begin, and the end."""
    return [at + 1 for at, byte in enumerate(data) if byte == 10]


def test_records_beyond_what_the_model_knows(path):
    assert found(path) == (RECORDS, "")
    assert found(path, 6) == (RECORDS[2:], "")
    assert found(path, 8) == ([], "")
    assert found(path.with_name("none")) == ([], "")
    with Journal(path) as journal:
        journal.clear("another")
    with pytest.raises(ModelFileError, match="journal of another model"):
        found(path)
    assert read_journal(path, "another", 4) == ([], "")


@pytest.mark.parametrize("tail", [b"", b"\0" * 16])
def test_a_record_that_was_cut_off_is_no_record(tail, path):
    data = path.read_bytes()
    for end in range(len(data) + 1):
        path.write_bytes(data[:end] + tail)
        records, lost = found(path)
        assert (records, lost) == (RECORDS[: len(records)], "")
    assert records == RECORDS


def test_a_flipped_bit_is_never_taken_for_the_end(path):
    data = path.read_bytes()
    for at in range(len(data)):
        for bit in range(at % 3, 8, 3):
            damaged = bytearray(data)
            damaged[at] ^= 1 << bit
            path.write_bytes(damaged)
            try:
                records, lost = found(path)
            except ModelFileError:
                assert at < data.index(b"\n") + 1
                continue
            assert lost or records == RECORDS
            assert all(record in RECORDS for record in records)


def test_what_is_lost_is_said(path):
    data = path.read_bytes()
    at = starts(data)
    path.write_bytes(data[: at[1]] + data[at[3] :])
    assert found(path) == ([RECORDS[0], RECORDS[3]], "records 6 to 7 of 5 to 8 missing")
    path.write_bytes(data[: at[0]] + data[at[1] :])
    assert found(path)[1] == "record 5 of 5 to 8 missing"
    assert found(path, 5) == (RECORDS[1:], "")
    path.write_bytes(data[: at[2]] + b"?" + data[at[2] + 1 :])
    assert found(path)[1] == f"record 7 of 5 to 8 missing, no record can be read at byte {at[2]}"
    assert found(path, 7) == (RECORDS[3:], "")  # the model has it
    path.write_bytes(data[:-5] + b"?" + data[-4:])
    assert found(path) == (RECORDS[:-1], f"no record can be read at byte {at[-2]}")


def test_order_and_copies_do_no_harm(path):
    data = path.read_bytes()
    at = starts(data)
    lines = [data[a:b] for a, b in pairwise(at)]
    np.random.default_rng(0).shuffle(lines)
    path.write_bytes(data[: at[0]] + b"".join(lines[3:] + lines))
    assert found(path) == (RECORDS, "")


def test_a_record_of_another_stream_is_damage(path, tmp_path):
    other = tmp_path / "other"
    with Journal(other) as journal:
        journal.clear("f" * len(NAME))
        journal.append(Record(9, "x", 1, "1,2,1"))
    path.write_bytes(path.read_bytes() + other.read_bytes().partition(b"\n")[2])
    assert "no record can be read" in found(path)[1]
    with Journal(path) as journal:
        journal.clear(NAME)
        journal.append(Record(5, "x", 1, "1,2,1"))
        journal.append(Record(5, "x", 1, "1,2,0"))
    with pytest.raises(ModelFileError, match="two records have the number 5"):
        found(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\x7fELF" + bytes(99), "another model, or none: move it away"),
        (b"adatron-journal 3 0123456789abcdef\n", "newer adatron: move it away"),
        (b"adatron-journal 2 0123456789abcde?\n", "another model"),
    ],
)
def test_what_is_no_journal(content, message, path):
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match=message):
        found(path)


def test_one_process_has_it(path):
    with Journal(path), pytest.raises(ModelFileError, match="another `adatron stream` is learning"):
        Journal(path)
    Journal(path).close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills a fork")
def test_a_killed_process_has_it_no_longer(path):
    child = os.fork()
    if child == 0:
        Journal(path)
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    Journal(path).close()
    assert found(path) == (RECORDS, "")


def test_one_that_was_never_begun_goes(tmp_path):
    with Journal(tmp_path / "j"):
        assert list(tmp_path.iterdir()) == [tmp_path / "j"]
    assert not list(tmp_path.iterdir())


def test_a_full_disk_leaves_no_half_of_a_record(path):
    """The size of files is limited within a line; the next line is shorter."""
    resource = pytest.importorskip("resource")
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        with Journal(path) as journal:
            journal.clear(NAME)
            journal.append(RECORDS[0])
            resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 20, limits[1]))
            with pytest.raises(OSError, match="too large"):
                journal.append(RECORDS[1])
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
            journal.append(RECORDS[1])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, before)
    assert found(path) == (RECORDS[:2], "")
