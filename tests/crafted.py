"""Model files with changed content and the right check sums."""

import io
import json
import zipfile

import numpy as np
import pytest

from adatron import load, save
from adatron.files import ModelFileError
from adatron.files.models.archive import sealed_zip


class Crafted:
    """A model file whose content can be changed; it is written with the right check sums and digest."""

    def __init__(self, model, path):
        self.path = path
        save(model, path)
        with zipfile.ZipFile(path) as archive:
            self.members = {name: archive.read(name) for name in archive.namelist()}
        self.header = json.loads(self.members["model.json"])
        self.state = self.header["model"]["state"]

    def change(self, entry, change):
        """Replace an array by what is made of it."""
        with np.errstate(all="ignore"):
            array = change(np.load(io.BytesIO(self.members[entry["name"]])))
        buffer = io.BytesIO()
        np.save(buffer, array)
        self.members[entry["name"]] = buffer.getvalue()

    def write(self):
        self.members["model.json"] = json.dumps(self.header).encode()
        with self.path.open("wb") as stream, sealed_zip(stream) as archive:
            for name, content in self.members.items():
                archive.writestr(name, content)

    def refused(self, message):
        self.write()
        with pytest.raises(ModelFileError, match=rf"m\.adatron: the file is not a valid model: .*{message}"):
            load(self.path)


def dict_of(entry):
    return dict(map(tuple, entry["items"]))


def with_value(value, place=0):
    def change(array):
        array = array.copy()
        array.flat[place] = value
        return array

    return change
