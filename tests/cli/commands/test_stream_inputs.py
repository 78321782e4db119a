"""The input of a stream: half a line waits for its end, and another file under the same name is noticed."""

import gzip
import io
import os
import threading

import numpy as np
import pytest

import adatron
from adatron.files.database import Database
from lines import stream
from moments import at

FIRST = 30


def lines(n, seed=0):
    rng = np.random.default_rng(seed)
    return [f"{x[0]!r},{x[1]!r},{int(x[0] > 0)}" for x in rng.normal(size=(n, 2)).tolist()]


@pytest.fixture
def data(tmp_path):
    """A file of 40 lines; a model has learned the first 35 of them, comments not counted."""
    data = tmp_path / "data.csv"
    data.write_text("# a comment\n" + "\n".join(lines(40)) + "\n")
    return data


def ids(path):
    return sorted(adatron.load(path).ids_.tolist())


def test_half_a_line_waits_for_its_end(path, data, capsys):
    with data.open("a") as more:
        more.write("0.5,-0.25")
    assert stream(path, data) == 0
    assert "data.csv, line 42: it has no line end and was not learned" in capsys.readouterr().err
    assert ids(path) == list(range(40))
    with data.open("ab") as more:
        more.write(b"33,1\n-3\n# \xc3")  # half of a character
    assert stream(path, data) == 0
    model = adatron.load(path)
    assert sorted(model.ids_) == [*range(3), *range(4, 41)]
    np.testing.assert_array_equal(model.store.X[model.ids_ == 40], [[0.5, -0.2533]])


def test_half_a_line_is_not_among_the_first(path, data, capsys):
    data.write_text("\n".join(lines(FIRST)) + "\n0.5,0.25")
    assert stream(path, data) == 0
    assert len(ids(path)) == FIRST
    assert "line 31" in capsys.readouterr().err


def test_a_line_that_grows_while_it_is_read(path, data):
    """What comes once the end was seen belongs to the same line; the others are learned meanwhile."""
    assert stream(path, data) == 0
    with data.open("a") as more:
        more.write("0.1,0.2,1\n0.5,-0.25")

    def grow(_):
        with data.open("a") as more:
            more.write("33,1\n0.7,0.8")

    with at(Database.append, grow, end=True):
        assert stream(path, data) == 0
    assert stream(path, data) == 0
    model = adatron.load(path)
    np.testing.assert_array_equal(model.store.X[np.argsort(model.ids_)][40:], [[0.1, 0.2], [0.5, -0.2533]])


def test_the_last_line_of_a_pipe_and_of_a_compressed_file_is_whole(path, data, tmp_path, monkeypatch):
    assert stream(path, data) == 0
    monkeypatch.setattr("sys.stdin", io.StringIO("0.5,0.25,1\n0.5,0.75,1"))
    assert stream(path, "-") == 0
    assert len(ids(path)) == 42
    with gzip.open(tmp_path / "more.csv.gz", "wt") as more:
        more.write("0.1,0.25,1\n0.1,0.75,1")
    assert stream(path, tmp_path / "more.csv.gz") == 0
    assert len(ids(path)) == 44


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_named_pipe_has_no_lines_to_skip(path, data, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert stream(path, data) == 0
    for n in (42, 44):
        writer = threading.Thread(target=pipe.write_text, args=(f"0.{n},0,1\n0.{n},1,1",))
        writer.start()
        assert stream(path, pipe) == 0
        writer.join()
        assert len(ids(path)) == n


def shorter(data):
    data.write_text("\n".join(lines(12, seed=1)) + "\n")


def rotated(data):
    data.rename(data.with_suffix(".1"))
    data.write_text("\n".join(lines(50, seed=1)) + "\n")


def copied_and_truncated(data):
    with data.open("r+") as file:
        file.truncate(0)
        file.write("\n".join(lines(50, seed=1)) + "\n")


def edited(data):
    data.write_text(data.read_text().replace(lines(40)[36], "0,0,1"))


@pytest.mark.parametrize("change", [shorter, rotated, copied_and_truncated, edited])
def test_another_file_under_the_same_name(change, path, data, capsys):
    assert stream(path, data) == 0
    before = ids(path)
    change(data)
    for _ in range(2):  # the refusal does not make the file known
        assert stream(path, data) == 1
        error = capsys.readouterr().err
        assert "the model has learned 41 lines of the file with this name, but line" in error
        assert "--no-skip-learned" in error
    assert ids(path) == before
    new = len([line for line in data.read_text().splitlines() if "," in line])
    assert stream(path, data, "--no-skip-learned") == 0
    assert len(ids(path)) == 40 + new
    with data.open("a") as more:
        more.write("0.5,0.5,1\n")
    assert stream(path, data) == 0  # it is known from now on
    assert len(ids(path)) == 41 + new


def test_a_copy_of_the_same_lines_is_the_same_file(path, data):
    assert stream(path, data) == 0
    copy = data.with_suffix(".new")
    copy.write_text(data.read_text() + "0.5,0.5,1\n")
    copy.replace(data)
    assert stream(path, data) == 0
    assert len(ids(path)) == 41


def test_lines_may_be_skipped_whatever_they_are(path, data):
    assert stream(path, data) == 0
    data.write_text("\n".join(lines(43, seed=1)) + "\n")
    assert stream(path, data, "--skip-learned") == 0
    assert len(ids(path)) == 42
    with data.open("a") as more:
        more.write("0.5,0.5,1\n")
    assert stream(path, data) == 0
    assert len(ids(path)) == 43


def test_after_a_forgotten_line_nothing_in_the_model_tells_what_it_was(path, data):
    """A digest of the line and of lines that stay would prove a guess."""
    assert stream(path, data) == 0
    assert adatron.load(path).stream_["inputs"][str(data)]["digest"]
    model = adatron.load(path).forget([36])
    assert not model.stream_["inputs"][str(data)]["digest"]
    other = path.with_name("other")
    adatron.save(model, other)
    assert stream(other, data) == 0
    rotated(data)
    assert stream(other, data) == 1  # by the number of the file


def test_bytes_that_are_no_text(path, data, capsys):
    with data.open("ab") as more:
        more.write(b"0.5,\xff,1\n")
    assert stream(path, data) == 1
    assert "data.csv, line 42: not a text file (byte 0xff is not UTF-8)" in capsys.readouterr().err
    assert len(ids(path)) == 40


@pytest.mark.parametrize(
    ("first", "later"), [(("+1", "-1"), ("+1", "-1")), (("1", "-1"), ("+1", "-1")), (("12E3", "7"),) * 2]
)
def test_labels_of_lines_are_of_the_kind_of_the_classes(tmp_path, path, first, later):
    rows = [line.rpartition(",") for line in lines(40)]
    for name, some, words in (("first.csv", rows[:35], first), ("later.csv", rows[35:], later)):
        text = "\n".join(f"{numbers},{words[int(label)]}" for numbers, _, label in some)
        (tmp_path / name).write_text(text + "\n")
    assert stream(path, tmp_path / "first.csv") == stream(path, tmp_path / "later.csv") == 0
    model = adatron.load(path)
    assert len(model.ids_) == 40
    assert len(model.classes_) == 2
