"""Atomic writing: a file is the old one or the new one."""

import errno
import os
from pathlib import Path

import pytest

from adatron.files import atomic_write, save

# --- atomic writing -----------------------------------------------------------------------------------------------


def full_disk(*arguments, **keywords):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("where", ["numpy.lib.format.write_array", "os.fsync", "pathlib.Path.replace"])
@pytest.mark.parametrize("old", [None, b"old model"])
def test_a_full_disk_leaves_the_old_file(model, tmp_path, monkeypatch, where, old):
    path = tmp_path / "m.adatron"
    if old is not None:
        path.write_bytes(old)
    monkeypatch.setattr(where, full_disk)
    with pytest.raises(OSError, match="No space left") as caught:
        save(model, path)
    assert caught.value.filename == str(path)
    assert [p.read_bytes() for p in tmp_path.iterdir()] == ([] if old is None else [old])


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_an_error_while_writing_leaves_the_old_file(tmp_path, error):
    path = tmp_path / "a"
    path.write_text("old")

    def write_and_fail():
        with atomic_write(path) as stream:
            stream.write(b"new")
            raise error

    with pytest.raises(error):
        write_and_fail()
    assert [p.read_text() for p in tmp_path.iterdir()] == ["old"]


def test_links_and_permissions_stay(tmp_path):
    target, link = tmp_path / "a", tmp_path / "b"
    target.write_text("old")
    target.chmod(0o640)
    link.symlink_to(target)
    with atomic_write(link) as stream:
        stream.write(b"new")
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert target.stat().st_mode & 0o777 == 0o640


def test_a_device_is_written_not_replaced():
    with atomic_write(os.devnull) as stream:
        stream.write(b"gone")
    assert Path(os.devnull).is_char_device()


def test_a_missing_folder_is_named(tmp_path):
    path = tmp_path / "none" / "a"
    with pytest.raises(FileNotFoundError) as caught, atomic_write(path):
        pass
    assert caught.value.filename == str(path)
