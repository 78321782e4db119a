"""Folders and files that nobody else can change.

Compiled code is run. Whoever can write to its folder, or put another folder in its place, runs code as this user.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

FileStatus = os.stat_result


def _refuse_others(path: Path, status: FileStatus, sticky: bool) -> None:
    """Raise PermissionError if a user other than this one and root can change the file or folder with this status.

    In a sticky folder, such as /tmp, others can write, but cannot replace what belongs to this user or to root.
    """
    if not hasattr(os, "geteuid"):
        return
    if status.st_uid not in (0, os.geteuid()):
        raise PermissionError(f"{path} belongs to another user (number {status.st_uid})")
    if status.st_mode & 0o022 and not (sticky and status.st_mode & stat.S_ISVTX):
        raise PermissionError(f"{path} can be changed by other users (mode {stat.S_IMODE(status.st_mode):03o})")


def private_folder(path: Path) -> Path:
    """Return a folder, made if missing, that nobody but this user and root can change; its path has no links.

    Every folder on the way is checked, from the root down. Once a folder is found good, nobody else can change which
    folder its name leads to.

    Raises
    ------
    OSError
        The folder cannot be made, is empty and cannot be written, or can be changed by somebody else; the message says
        why.
    """
    folder = Path(os.path.realpath(path))
    for part in (*reversed(folder.parents), folder):
        try:
            status = part.lstat()
        except FileNotFoundError:
            part.mkdir(mode=0o700, exist_ok=True)
            status = part.lstat()
        if not stat.S_ISDIR(status.st_mode):
            raise NotADirectoryError(f"{part} is not a folder")
        _refuse_others(part, status, sticky=part != folder)
    if not os.access(folder, os.W_OK | os.X_OK) and not any(folder.glob("*.nbi")):  # else it is there to be read
        raise PermissionError(f"{folder} cannot be written to")
    return folder


def read_private(path: Path) -> bytes:
    """Return the bytes of a regular file that nobody but this user and root can change.

    The opened file is checked, not its name.

    Raises
    ------
    OSError
        There is no such file, or somebody else can change it.
    """
    flags = sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"))
    with open(os.open(path, os.O_RDONLY | flags), "rb") as stream:  # noqa: PTH123 (of what is opened, not of a name)
        status = os.fstat(stream.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise PermissionError(f"{path} is not a regular file")
        _refuse_others(path, status, sticky=False)
        return stream.read()
