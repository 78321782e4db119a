"""Archives, arrays and pipelines that were made to do harm, old files, and models that were altered in memory."""

import json
import struct
import tracemalloc
import zipfile

import numpy as np
import pytest
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from adatron import SVC, IncrementalNuSVC, load, save
from adatron.files import ModelFileError
from adatron.files.models.archive import sealed_zip
from crafted import Crafted

# --- the container ------------------------------------------------------------------------------------------------


def header_of(text, content=b""):
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + text.encode().ljust(117) + b"\n" + content


HEADERS = [
    ("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }", "not as long"),
    ("{'descr': '<f8', 'fortran_order': False, 'shape': (0, 99999999999), }", "not as long"),
    ("{'descr': '<f8', 'fortran_order': False, 'shape': (-1,), }", "not as long"),
    ("{'descr': '<f8', 'fortran_order': False, 'shape': (5,), }", "not as long"),  # cut off
    ("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", "not hold plain numbers"),  # a pickle
    ("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,), }", "not hold plain numbers"),
    ("{'descr': '<M8[s]', 'fortran_order': False, 'shape': (0,), }", "not hold plain numbers"),
    ("{'descr': '<U0', 'fortran_order': False, 'shape': (99,), }", "not hold plain numbers"),
    ("((((((((((((((((((((((((", "no header"),
]


BYTES = [
    *((header_of(text), message) for text, message in HEADERS),
    (header_of("{'descr': '|b1', 'fortran_order': False, 'shape': (1,), }", b"\x07"), "truth values"),
    (header_of("{'descr': '<U1', 'fortran_order': False, 'shape': (1,), }", b"\xff" * 4), "no character"),
    (b"", "no header"),
    (b"\x93NUMPY\x01\x00\xff\xff", "no header"),
]


@pytest.mark.parametrize(("content", "message"), BYTES)
def test_bytes_of_arrays_mean_something(content, message, fitted, tmp_path):
    crafted = Crafted(fitted["dense"], tmp_path / "m.adatron")
    crafted.members["0.npy"] = content
    crafted.refused(f"the array 0.npy .*{message}")


def test_arrays_of_the_other_byte_order_are_read(fitted, X, tmp_path):
    crafted = Crafted(fitted["dense"], tmp_path / "m.adatron")
    for name in ("support_vectors_", "dual_coef_", "intercept_", "support_"):
        crafted.change(crafted.state[name], lambda array: array.astype(array.dtype.newbyteorder(">")))
    crafted.write()
    assert load(crafted.path).decision_function(X).tobytes() == fitted["dense"].decision_function(X).tobytes()


def otherwise_compressed(archive, members):
    for name, content in members.items():
        archive.writestr(name, content, zipfile.ZIP_LZMA)


def deflated(size):
    """The last part is said to have another size than its stream."""

    def make(archive, members):
        for name, content in members.items():
            archive.writestr(name, content, zipfile.ZIP_DEFLATED)
        archive.infolist()[-1].file_size = size(archive.infolist()[-1].file_size)

    return make


def repeated(archive, members):
    for name, content in [*members.items(), *members.items()]:
        archive.writestr(name, content)


def overlapping(archive, members):
    """All parts are the same bytes: what they take together is known before."""
    for name, content in members.items():
        archive.writestr(name, content)
    first = archive.infolist()[0]
    for other in archive.infolist()[1:]:
        other.header_offset, other.CRC = first.header_offset, first.CRC
        other.file_size = other.compress_size = first.file_size


def outside(archive, members):
    for name, content in members.items():
        archive.writestr(name, content)
    archive.infolist()[1].header_offset = 2**31 - 2


def foreign(archive, members):
    for name, content in [*members.items(), ("../../etc/passwd", b"")]:
        archive.writestr(name, content)


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(
    ("make", "message"),
    [
        (otherwise_compressed, "compressed by another method"),
        (deflated(lambda size: 3), "CRC"),
        (deflated(lambda size: size + 100), "cut off|CRC"),
        (deflated(lambda size: 2**40), "bytes of memory"),
        (repeated, "has already"),
        (overlapping, "directory .* differ"),
        (outside, "the file is damaged"),
        (foreign, "no model has"),
    ],
)
def test_parts_are_honest_about_their_sizes(make, message, fitted, tmp_path):
    crafted = Crafted(fitted["dense"], tmp_path / "m.adatron")
    with crafted.path.open("wb") as stream, sealed_zip(stream) as archive:
        make(archive, crafted.members)
    with pytest.raises(ModelFileError, match=rf"m\.adatron: .*{message}"):
        load(crafted.path)


def test_a_table_of_contents_that_points_before_the_file_is_damage(fitted, tmp_path):
    path = tmp_path / "m.adatron"
    save(fitted["dense"], path)
    content = bytearray(path.read_bytes())
    end = content.rindex(b"PK\5\6")
    struct.pack_into("<I", content, end + 16, 2**31 - 1)  # where the table begins
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match=r"m\.adatron: the file is damaged"):
        load(path)


# --- compression ---------------------------------------------------------------------------------------------------


def test_parts_that_gain_from_it_are_compressed(tmp_path):
    rng = np.random.default_rng(0)
    y = np.arange(300) % 2
    few, many = rng.integers(2, size=(300, 50)).astype(float), rng.normal(size=(300, 50))
    for X, compressed in ((few, True), (many, False)):
        model = SVC().fit(X, y)
        path = tmp_path / "m.adatron"
        save(model, path)
        with zipfile.ZipFile(path) as archive:
            large = [one for one in archive.infolist() if one.file_size > 100_000]
            assert large
            assert all((one.compress_type == zipfile.ZIP_DEFLATED) == compressed for one in large)
            assert all(one.compress_size < 0.2 * one.file_size for one in large) or not compressed
        content = path.read_bytes()
        save(load(path), path)
        assert path.read_bytes() == content
        assert load(path).decision_function(X).tobytes() == model.decision_function(X).tobytes()


def test_a_small_file_of_large_content_needs_leave(tmp_path):
    """A file of some kilobytes may be many megabytes in memory; the limit is known before any of it is read."""
    model = SVC().fit(np.repeat(np.eye(2), 5, axis=0), np.arange(10) // 5)
    model.note = np.zeros(2**24)
    path = tmp_path / "m.adatron"
    save(model, path)
    assert path.stat().st_size < 2**20
    tracemalloc.start()
    with pytest.raises(ModelFileError, match=r"m\.adatron: .*takes 134,\d+,\d+ bytes of memory; .*max_bytes"):
        load(path, max_bytes=2**26)
    assert tracemalloc.get_traced_memory()[1] < 2**24
    tracemalloc.stop()
    assert load(path, max_bytes=2**28).note.size == 2**24


# --- pipelines ----------------------------------------------------------------------------------------------------


def test_the_memory_of_a_pipeline_is_neither_saved_nor_taken(X, tmp_path):
    model = Pipeline([("scale", StandardScaler()), ("svc", SVC())], memory=str(tmp_path / "cache"))
    model.fit(X, X[:, 0] > 0)
    crafted = Crafted(model, tmp_path / "m.adatron")
    assert load(crafted.path).memory is None
    assert str(tmp_path) not in json.dumps(crafted.schema)
    crafted.step()["memory"]["content"] = json.dumps(str(tmp_path / "elsewhere"))
    crafted.write()
    assert load(crafted.path).memory is None


def test_a_pipeline_has_a_place_for_its_machine(fitted, tmp_path):
    crafted = Crafted(fitted["pipeline"], tmp_path / "m.adatron")
    crafted.step()["steps"]["content"].reverse()
    crafted.refused("no place for the machine")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda steps: steps.clear(), ""),
        (lambda steps: steps[0]["content"].append(steps[0]["content"][0]), ""),
        (lambda steps: steps[0]["content"].__setitem__(1, steps[0]["content"][0]), ""),
    ],
)
def test_steps_are_those_of_a_pipeline(change, message, fitted, tmp_path):
    crafted = Crafted(fitted["pipeline"], tmp_path / "m.adatron")
    change(crafted.step()["steps"]["content"])
    crafted.refused(message)


def test_nested_pipelines_come_back(X, tmp_path):
    inner = make_pipeline(StandardScaler(), IncrementalNuSVC(nu=0.2))
    model = make_pipeline(MinMaxScaler(), "passthrough", inner).fit(X, X[:, 0] > 0)
    path = tmp_path / "m.adatron"
    save(model, path)
    copy = load(path)
    assert copy.decision_function(X).tobytes() == model.decision_function(X).tobytes()
    copy[-1][-1].forget([3])
    save(copy, path)
    assert 3 not in load(path)[-1][-1].ids_


def test_a_users_own_attribute_comes_back(fitted, X, tmp_path):
    model = SVC().fit(X, X[:, 0] > 0)
    model.note = {"trained": "on Monday", "scores": np.arange(3.0)}
    save(model, tmp_path / "m.adatron")
    assert load(tmp_path / "m.adatron").note["scores"].tolist() == [0.0, 1.0, 2.0]


def test_parameters_that_could_not_be_loaded_are_not_saved(tmp_path):
    with pytest.raises(ModelFileError, match=r"m\.adatron: .*'C' parameter"):
        save(SVC(C=-1.0), tmp_path / "m.adatron")
