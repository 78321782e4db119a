"""Ways to damage a model file, and to craft a file with the right check sums."""

from __future__ import annotations

import copy
import io
import json
import re
import tokenize
import zipfile
from contextlib import suppress
from typing import Any

import numpy as np

from adatron.files.models.archive import sealed_zip

Generator = np.random.Generator
NUMBERS = (
    float("nan"), float("inf"), -float("inf"), 1e308, -1e308, 1e30, 1e-320, -1, 0, 1, 2, 3, 7, 2**31, -(2**31), 2**63,
    2**70, 10**400, True, False, None, "1", "rbf", "", [], {}, [1, 2],
)  # fmt: skip
TYPES = ("<f8", "<f4", "<f2", "<i8", "<i4", "<u4", "<u1", "|b1", "<U1", "<U5", "<c16", ">f8", ">i4")
UNSTORABLE = ("|O", "<f16", "<M8[s]")
WORDS = (
    "numpy", "builtins", "object", "list", "map", "void", "bytes_", "load", "sklearn.tree._tree", "Tree", "ObjectNode",
    "FunctionNode", "MethodNode", "TypeNode", "JsonNode", "ConstructorFromReduceNode", "[[[1]]]", "os", "system",
    None, 1, 0.5, "ovo", "ovr", "rbf", "linear", "precomputed", "sigmoid", "poly", "laplacian", "scale", "auto", "svc",
    "single", "double", "full", "rescaled", "inf", "nan", "matrix", "array", "sum", "product", "isda",
)  # fmt: skip
CLASSES = (
    "SVC", "SVR", "NuSVC", "OneClassSVM", "IncrementalSVC", "IncrementalSVR", "InputMarginSVC", "Pipeline",
    "OneHotEncoder", "SimpleImputer", "ColumnTransformer", "StandardScaler", "FunctionTransformer", "GridSearchCV",
)  # fmt: skip

# --- raw damage ---------------------------------------------------------------------------------------------------


def damaged(rng: Generator, content: bytes) -> bytes:
    """Flip bits, cut off, take out, repeat, swap or overwrite runs of bytes."""
    out = bytearray(content)
    for _ in range(int(rng.integers(1, 4))):
        n = max(1, len(out))
        a, b = sorted(rng.integers(0, n, 2).tolist())
        how = int(rng.integers(8))
        if how == 0 and out:
            out[a] ^= 1 << int(rng.integers(8))
        elif how == 1:
            del out[a:]
        elif how == 2:
            del out[a : a + int(rng.integers(1, 100))]
        elif how == 3:
            out[a:a] = out[b : b + int(rng.integers(1, 100))]
        elif how == 4:
            length = min(int(rng.integers(1, 64)), b - a)
            out[a : a + length], out[b : b + length] = out[b : b + length], out[a : a + length]
        elif how == 5:
            out[a : min(b, a + 64)] = bytes(min(b, a + 64) - a)
        elif how == 6:
            out += rng.bytes(int(rng.integers(1, 100)))
        else:  # the end, which has a zip's table of contents
            at = n - 1 - int(rng.integers(0, min(n, 2000)))
            if out:
                out[at] = int(rng.integers(256))
    return bytes(out)


def changed_text(rng: Generator, content: bytes) -> bytes:
    """Change words or lines."""
    lines = content.decode().splitlines()
    for _ in range(int(rng.integers(1, 3))):
        at = int(rng.integers(0, min(len(lines), 12) if rng.random() < 0.7 else len(lines)))
        words, how = lines[at].split(" "), int(rng.integers(5))
        place = int(rng.integers(len(words)))
        if how == 0 and len(lines) > 1:
            del lines[at]
        elif how == 1:
            lines.insert(at, lines[int(rng.integers(len(lines)))])
        elif how == 2:
            del words[place]
            lines[at : at + 1] = [" ".join(words)]
        else:
            value = str(NUMBERS[rng.integers(len(NUMBERS))])
            word, colon, number = words[place].partition(":")
            words[place] = f"{word}:{value}" if colon and how == 3 else f"{value}{colon}{number}"
            lines[at] = " ".join(words)
    return ("\n".join(lines) + "\n").encode()


# --- crafted files ------------------------------------------------------------------------------------------------


def crafted(rng: Generator, content: bytes) -> tuple[str, bytes]:
    """Change the content of a file, and write it with the right check sums and digest."""
    members = _parts(content)
    kinds = (_leaf, _leaf, _leaf, _value, _array, _array, _array, _entry, _zip_of, _bomb)
    kind = kinds[int(rng.integers(len(kinds)))]
    inside = "steps" if "steps" in json.loads(members["model.json"]) and rng.random() < 0.6 else "model"
    for _ in range(int(rng.integers(1, 3))):
        kind(rng, members, inside)
    out = io.BytesIO()
    with sealed_zip(out) as archive:
        for name, data in members.items():
            method = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)[int(rng.integers(2))]
            archive.writestr(zipfile.ZipInfo(name), data, method)
            if kind is _zip_of and rng.random() < 0.1:
                archive.writestr(zipfile.ZipInfo(name), data)
        if kind is _bomb:
            _lie(rng, archive.infolist())
    return f"{'steps ' * (inside == 'steps')}{kind.__name__.strip('_')}", out.getvalue()


def _parts(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _described(members: dict[str, bytes], inside: str) -> tuple[Any, Any]:
    """Return the JSON of a file, and the part of it that is changed."""
    header = json.loads(members["model.json"])
    return header, {inside: header[inside], "requests": header.get("requests", [])}


def _places(value: Any, found: list[tuple[Any, Any]]) -> None:
    """Find all entries of JSON: the container of each of them, and its key there."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in pairs:
        found.append((value, key))
        _places(item, found)


def _leaf(rng: Generator, members: dict[str, bytes], inside: str) -> None:
    """Replace a number, a truth value or a text by another one; exchange two arrays."""
    header, root = _described(members, inside)
    found: list[tuple[Any, Any]] = []
    _places(root, found)
    leaves = [(holder, key) for holder, key in found if key != "$" and not isinstance(holder[key], (dict, list))]
    if not leaves:
        return
    holder, key = leaves[int(rng.integers(len(leaves)))]
    old = holder[key]
    if isinstance(old, str) and old.endswith(".npy"):
        others = [pair for pair in leaves if str(pair[0][pair[1]]).endswith(".npy")]
        other, place = others[int(rng.integers(len(others)))]
        holder[key], other[place] = other[place], old
    elif key == "content" and rng.random() < 0.8:  # a plain value in a file of skops
        holder[key] = json.dumps(NUMBERS[int(rng.integers(len(NUMBERS)))])
    elif isinstance(old, bool):
        holder[key] = not old
    elif isinstance(old, int):
        holder[key] = (-1, 0, 1, 2, 3, 7, 60, 1000, 2**31 - 1, 2**31, 2**53, 2**63, 2**70)[int(rng.integers(13))]
    elif isinstance(old, float):
        holder[key] = (-1.0, 0.0, 1e-320, 1e-30, 0.5, 3.0, 1e30, 1e200, 1e308)[int(rng.integers(9))]
    else:
        holder[key] = WORDS[int(rng.integers(len(WORDS)))]
    members["model.json"] = json.dumps(header).encode()


def _value(rng: Generator, members: dict[str, bytes], inside: str) -> None:
    """Replace an entry of the JSON by a number, by another entry, or nest it."""
    header, root = _described(members, inside)
    found: list[tuple[Any, Any]] = []
    _places(root[inside], found)
    if not found:
        return
    holder, key = found[int(rng.integers(len(found)))]
    how = int(rng.integers(5))
    if how == 0:
        other, place = found[int(rng.integers(len(found)))]
        holder[key] = copy.deepcopy(other[place])
    elif how == 1:
        for _ in range(int(rng.integers(1, 200))):
            holder[key] = [holder[key]] if rng.random() < 0.5 else {"$": "tuple", "items": [holder[key]]}
    elif how == 2:
        holder[key] = {"$": "float", "value": str(NUMBERS[rng.integers(5)])}
    else:
        holder[key] = NUMBERS[int(rng.integers(len(NUMBERS)))]
    members["model.json"] = json.dumps(header).encode()


def _entry(rng: Generator, members: dict[str, bytes], inside: str) -> None:
    """Drop, add or rename entries, nest kernels, change classes."""
    header, root = _described(members, inside)
    found: list[tuple[Any, Any]] = []
    _places(root, found)
    dicts = [holder[key] for holder, key in found if isinstance(holder[key], dict) and holder[key]]
    one = dicts[int(rng.integers(len(dicts)))]
    key = list(one)[int(rng.integers(len(one)))]
    how = int(rng.integers(6))
    if how == 0:
        del one[key]
    elif how == 1:
        one[("predict", "__class__", "steps", "n_features_in_", "support_", "_store", "compact_")[rng.integers(7)]] = 3
    elif how == 2:
        one["class" if "class" in one else key] = CLASSES[int(rng.integers(len(CLASSES)))]
    elif how == 3:
        kernels = [one for one in dicts if one.get("$") == "kernel" and "spec" in one]
        for kernel in kernels:
            for _ in range(int(rng.integers(1, 40))):
                parts = [["kernel", "sum"], ["left", kernel["spec"]], ["right", kernel["spec"]]]
                kernel["spec"] = {"$": "dict", "items": parts if rng.random() < 0.1 else [
                    ["kernel", "scaled"], ["factor", 1.0], ["part", kernel["spec"]]]}  # fmt: skip
                if len(json.dumps(kernel)) > 10**5:
                    break
    elif how == 4:
        other = dicts[int(rng.integers(len(dicts)))]
        one.update(copy.deepcopy({name: value for name, value in other.items() if value is not one}))
    else:
        one[f"{key}_"] = one.pop(key)
    members["model.json"] = json.dumps(header).encode()


def _array(rng: Generator, members: dict[str, bytes], inside: str) -> None:
    """Change values, types, shapes or the order of an array, or its header without its values."""
    ours = re.findall(r'"file": "(\d+\.npy)"', members["model.json"].decode()) if inside == "steps" else members
    names = [name for name in ours if name.endswith(".npy") and name in members]
    if not names:
        return
    name = names[int(rng.integers(len(names)))]
    try:
        array = np.load(io.BytesIO(members[name])).copy()
    except (ValueError, MemoryError, SyntaxError, EOFError, tokenize.TokenError):
        return  # an earlier change hit its header
    how = int(rng.integers(8))
    if how <= 1 and array.size and array.dtype.kind in "fiub":
        for _ in range(int(rng.integers(1, 4))):
            value = (np.nan, np.inf, -1, 1e308, 1e9, 2**31, -(2**31), 2**62, 3, 0.5, 1e-310)[int(rng.integers(11))]
            with np.errstate(all="ignore"):
                array.flat[int(rng.integers(array.size))] = np.float64(value).astype(array.dtype)
    elif how == 2 and array.dtype.kind == "U" and array.ndim:
        array = array.view("<i4")
    elif how == 2 and array.dtype.kind != "U":
        with np.errstate(all="ignore"), suppress(ValueError, RuntimeError, TypeError):
            array = array.astype(TYPES[int(rng.integers(len(TYPES)))])
    elif how == 3:
        shapes = (array.shape[::-1], (array.size,), (1, *array.shape), (array.size, 1), array.shape[:1])
        shape = shapes[int(rng.integers(len(shapes)))]
        array = np.resize(array, shape)
    elif how == 4 and array.ndim:
        length = int(rng.integers(0, 2 * len(array) + 1))
        array = np.resize(array, (length, *array.shape[1:]))
    elif how == 5:
        rng.shuffle(array.reshape(-1) if array.flags.c_contiguous else array)
    elif how == 6:
        array = np.asfortranarray(array)
    else:
        members[name] = _header(rng, members[name])
        return
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, version=(1, 0), allow_pickle=False)
    members[name] = buffer.getvalue()


def _header(rng: Generator, data: bytes) -> bytes:
    """Put another type, shape or text in the header of an array, with its length kept."""
    if rng.random() < 0.3:
        out = bytearray(data)
        out[int(rng.integers(min(len(out), 128)))] = int(rng.integers(256))
        return bytes(out)
    begin, end = data[:10], data[128:]
    shape = ("()", "(1000000000000,)", "(0,)", "(-1,)", "(2, 3)", "(1, 0, 99999999999)", "(" * 40)[int(rng.integers(7))]
    text = f"{{'descr': '{(*TYPES, *UNSTORABLE)[int(rng.integers(16))]}', 'fortran_order': False, 'shape': {shape}, }}"
    return begin + text.encode().ljust(117) + b"\n" + end


def _bomb(rng: Generator, members: dict[str, bytes], inside: str) -> None:
    """Make a part large that takes few bytes when it is compressed."""
    names = list(members)
    name = names[int(rng.integers(len(names)))]
    if name.endswith(".npy") and rng.random() < 0.5:
        shape = f"({2 ** int(rng.integers(10, 24))},)"
        header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".encode().ljust(117) + b"\n"
        members[name] = b"\x93NUMPY\x01\x00v\x00" + header + bytes(8 * int(shape[1:-2]))
    else:
        members[name] += bytes(2 ** int(rng.integers(1, 27)))


def _lie(rng: Generator, table: list[zipfile.ZipInfo]) -> None:
    """Say something else in the table of contents than what a part is."""
    one = table[int(rng.integers(len(table)))]
    how = int(rng.integers(5))
    if how == 0:
        one.file_size = (0, one.file_size + 1, 2**31, 2**40, one.file_size // 2)[int(rng.integers(5))]
    elif how == 1:
        one.compress_size = (0, one.compress_size + 1, 2**31, one.compress_size // 2)[int(rng.integers(4))]
    elif how == 2:
        one.compress_type = (0, 8, 12, 14, 99)[int(rng.integers(5))]
    elif how == 3:
        one.header_offset = table[int(rng.integers(len(table)))].header_offset


def _zip_of(rng: Generator, members: dict[str, bytes], inside: str) -> None:
    """Drop, swap, rename or add parts."""
    names = list(members)
    if not names:
        return
    one, other = (names[int(rng.integers(len(names)))] for _ in range(2))
    how = int(rng.integers(4))
    if how == 0:
        del members[one]
    elif how == 1:
        members[one], members[other] = members[other], members[one]
    elif how == 2:
        members[("../x.npy", "x.py", "99.npy", "model.json/", "0.npy")[int(rng.integers(5))]] = members.pop(one)
    else:
        members["98.npy"] = members[one]
