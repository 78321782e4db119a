"""What the tests of readers share."""

import pytest


@pytest.fixture
def write(request, tmp_path):
    """A function that writes a file, with the name ``NAME`` of the tests unless it is given another one."""

    def written(content, name=request.module.NAME):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return written
