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
    """A model file whose content can be changed; it is written with the right check sums and digest.

    The steps of a pipeline are ``schema``, as skops describes them.
    """

    def __init__(self, model, path):
        self.path = path
        save(model, path)
        self.members = parts_of(path)
        self.header = json.loads(self.members["model.json"])
        self.state = self.header["model"] and self.header["model"]["state"]
        self.schema = self.header.get("steps")

    def step(self, *numbers):
        """Return the entries of the attributes of a step, which stands at these places of pipelines."""
        return self._attributes(*numbers)["content"]

    def _attributes(self, *numbers):
        found = self.schema["content"]
        for number in numbers:
            found = found["content"]["steps"]["content"][number]["content"][1]["content"]
        return found

    def put(self, name, value, *numbers):
        """Give a step an attribute, maybe a new one."""
        found = self._attributes(*numbers)
        if name not in found["content"]:
            found["key_types"]["content"].append(found["key_types"]["content"][0])
        found["content"][name] = value

    def change(self, entry, change):
        """Replace an array by what is made of it."""
        name = entry["file" if "file" in entry else "name"]
        with np.errstate(all="ignore"):
            array = change(np.load(io.BytesIO(self.members[name])))
        buffer = io.BytesIO()
        np.save(buffer, array)
        self.members[name] = buffer.getvalue()

    def write(self):
        self.members["model.json"] = json.dumps(self.header).encode()
        with self.path.open("wb") as stream, sealed_zip(stream) as archive:
            for name, content in self.members.items():
                archive.writestr(name, content)

    def refused(self, message):
        self.write()
        with pytest.raises(ModelFileError, match=rf"m\.adatron: the file is not a valid model: .*{message}"):
            load(self.path)


def parts_of(file):
    with zipfile.ZipFile(file) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def dict_of(entry):
    return dict(map(tuple, entry["items"]))


def with_value(value, place=0):
    def change(array):
        array = array.copy()
        array.flat[place] = value
        return array

    return change
