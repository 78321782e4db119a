"""Files of compiled code: what is damaged, or what others can write, is not read."""

import os
import pickle
import sys
from pathlib import Path

import pytest

from adatron.compiled.cache.kept import Kept


class Bomb:
    """A pickle that runs code when it is read."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


def kept(folder):
    file = Kept(folder / "function", pickle.dumps)
    file.save("key", [1, 2, 3])
    (path,) = folder.iterdir()
    return file, path


def bit_flipped(content, at):
    return content[:at] + bytes([content[at] ^ 16]) + content[at + 1 :]


DAMAGE = {
    "empty": lambda content: b"",
    "zeros": lambda content: bytes(len(content)),
    "cut": lambda content: content[:-1],
    "cut in the checksum": lambda content: content[:20],
    "a bit of the checksum": lambda content: bit_flipped(content, 3),
    "a bit of the pickle": lambda content: bit_flipped(content, len(content) - 5),
    "more": lambda content: content + b"\0",
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_counts_as_not_there_and_is_replaced(damage, tmp_path):
    file, path = kept(tmp_path)
    assert file.load("key") == [1, 2, 3]
    path.write_bytes(DAMAGE[damage](path.read_bytes()))
    assert file.load("key") is None
    file.save("key", [4])
    assert file.load("key") == [4]
    assert list(tmp_path.iterdir()) == [path]
    assert file.load("another key") is None


@pytest.mark.skipif(sys.platform == "win32", reason="the platform has no modes")
@pytest.mark.parametrize("change", ["group", "others", "owner", "link", "pipe"])
def test_a_file_that_others_can_write_is_not_unpickled(change, tmp_path):
    (tmp_path / "cache").mkdir()
    file, path = kept(tmp_path / "cache")
    bomb, done = tmp_path / "bomb", tmp_path / "done"
    file.save("key", Bomb(done))
    if change == "owner" and os.geteuid() != 0:
        pytest.skip("only root can give a file away")
    if change == "link":
        path.rename(bomb)
        path.symlink_to(bomb)
    elif change == "pipe":
        path.unlink()
        os.mkfifo(path)
    elif change == "owner":
        os.chown(path, 65534, 65534)
    else:
        path.chmod({"group": 0o620, "others": 0o602}[change])
    assert file.load("key") is None
    assert not done.exists()
