"""Files from strangers with scikit-learn's steps: what could do more than predict wrongly is refused."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import InconsistentVersionWarning
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, RobustScaler

from adatron import SVC, load
from crafted import Crafted, with_value

RNG = np.random.default_rng(0)
WORDS = np.array(["red", "green", "blue", "white"], dtype=object)[RNG.integers(4, size=(40, 2))]
NUMBERS = RNG.integers(4, size=(40, 2)).astype(float)
TEXTS = [f"{a} or {b}" for a, b in WORDS]
Y = np.arange(40) % 2
RARE = OneHotEncoder(min_frequency=11, drop="first", handle_unknown="infrequent_if_exist")


@pytest.fixture
def crafted(tmp_path):
    def make(step, rows):
        return Crafted(make_pipeline(step, SVC()).fit(rows, Y), tmp_path / "m.adatron")

    return make


def step_of(crafted):
    return crafted.header["model"]["params"]["steps"][0]["items"][1]


def put(name, value):
    return lambda crafted: step_of(crafted)["state"].__setitem__(name, value)


def parameter(name, value):
    return lambda crafted: step_of(crafted)["params"].__setitem__(name, value)


def changed(name, change, place=None):
    def apply(crafted):
        entry = step_of(crafted)["state"][name]
        entry = entry if place is None else [one for one in entry if one is not None][place]
        crafted.change(entry, change)

    return apply


ATTACKS = {
    "more columns than it says": (OneHotEncoder(), WORDS, put("_n_features_outs", [1, 1]), "_n_features_outs must be"),
    "no columns": (OneHotEncoder(), WORDS, put("_n_features_outs", None), "_n_features_outs must be"),
    "numbers not in order": (OneHotEncoder(), NUMBERS, changed("categories_", lambda a: a[::-1], 0), "not in order"),
    "numbers twice": (OneHotEncoder(), NUMBERS, changed("categories_", lambda a: np.zeros(4), 0), "not in order"),
    "categories of two dimensions": (
        OneHotEncoder(), NUMBERS, changed("categories_", lambda a: a[:, None], 1), "must be an array of 1 dimension"
    ),
    "too few lists": (OneHotEncoder(), NUMBERS, put("categories_", []), "0 lists for 2 features"),
    "a rare one beyond": (
        RARE, WORDS, changed("_default_to_infrequent_mappings", with_value(9), 0), "infrequent categories of feature"
    ),
    "a negative rare one": (
        RARE, WORDS, changed("_default_to_infrequent_mappings", with_value(-9), 0), "infrequent categories of feature"
    ),
    "rare ones that are none": (
        RARE, WORDS, changed("_infrequent_indices", with_value(99), 0), "infrequent categories"
    ),
    "no rare ones": (RARE, WORDS, put("_infrequent_indices", [None, 3]), "infrequent_mappings must be of the same"),
    "a vocabulary of numbers": (
        CountVectorizer(), TEXTS,
        put("vocabulary_", {"$": "dict", "items": [["red", 10**6]]}), "vocabulary_ must be a Words",
    ),
    "files for texts": (CountVectorizer(), TEXTS, parameter("input", "filename"), "input must be 'content'"),
    "all parts of a text": (
        CountVectorizer(), TEXTS,
        parameter("ngram_range", {"$": "tuple", "items": [1, 10**6]}), "ngram_range may go up to",
    ),
    "an endless expression": (CountVectorizer(), TEXTS, parameter("token_pattern", "(a+)+b"), "may take for ever"),
    "endless columns": (HashingVectorizer(), TEXTS, parameter("n_features", 2**30), "n_features may be"),
    "a function of its own": (
        FunctionTransformer(np.abs), NUMBERS,
        parameter("func", {"$": "function", "parts": {"module": "os", "name": "system"}}), "unknown 'os'",
    ),
    "a function beyond the list": (
        FunctionTransformer(np.abs), NUMBERS,
        parameter("func", {"$": "function", "parts": {"module": "numpy", "name": "fromfile"}}), "unknown 'fromfile'",
    ),
    "arguments of a function": (
        FunctionTransformer(np.abs), NUMBERS,
        parameter("kw_args", {"$": "dict", "items": [["out", 1]]}), "kw_args must be None or empty",
    ),
    "a method replaced": (RobustScaler(), NUMBERS, put("transform", 1), "no attribute 'transform'"),
    "a class replaced": (RobustScaler(), NUMBERS, put("__class__", 1), "no attribute '__class__'"),
    "a callback": (RobustScaler(), NUMBERS, put("_skl_callbacks", []), "no attribute '_skl_callbacks'"),
    "a parameter as an attribute": (RobustScaler(), NUMBERS, put("copy", 1), "'copy' is a parameter"),
    "another width": (RobustScaler(), NUMBERS, changed("center_", lambda a: a[:1]), "center_ has 1 features, not 2"),
    "an unknown parameter": (RobustScaler(), NUMBERS, parameter("evil", 1), "unexpected keyword argument"),
    "an unknown class": (
        RobustScaler(), NUMBERS,
        lambda one: step_of(one).__setitem__("class", "DecisionTreeClassifier"), "does not know",
    ),
    "requests of no method": (
        RobustScaler(), NUMBERS,
        lambda one: step_of(one).__setitem__("requests", {"$": "dict", "items": [["__init__", 1]]}), "no metadata",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("step", "rows", "change", "message"), ATTACKS.values(), ids=ATTACKS)
def test_crafted_steps_are_refused(step, rows, change, message, crafted):
    one = crafted(step, rows)
    change(one)
    one.refused(message)


def test_a_file_does_not_choose_the_number_of_processes(crafted, tmp_path):
    search = GridSearchCV(SVC(), {"C": [1.0, 2.0]}, cv=2).fit(NUMBERS, Y)
    one = Crafted(search, tmp_path / "m.adatron")
    one.header["model"]["params"]["n_jobs"] = 10**6
    one.write()
    assert load(one.path).n_jobs < 10**5
    one.header["model"]["params"]["pre_dispatch"] = "9**9**9**9"
    one.refused("pre_dispatch must be")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda parts: parts["shape"].__setitem__(0, 10**12), "not as long as its shape"),
        (lambda parts: parts["shape"].__setitem__(0, -1), "not as long as its shape"),
        (lambda parts: parts.pop("items"), "must have shape, items"),
        (lambda parts: parts["items"].append("more"), "not as long as its shape"),
    ],
)
def test_arrays_of_objects_are_as_long_as_they_say(change, message, crafted):
    one = crafted(OneHotEncoder(), WORDS)
    change(step_of(one)["state"]["categories_"][0]["parts"])
    one.refused(message)


@pytest.mark.parametrize(
    ("part", "change", "message"),
    [
        ("lengths", with_value(-1), "not as long as their lengths"),
        ("lengths", with_value(2**62), "not as long as their lengths"),
        ("lengths", lambda a: a[1:], "not as long as their lengths"),
        ("lengths", lambda a: a.astype(float), "bytes, and lengths"),
        ("text", with_value(0xFF), "'words' is wrong"),
        ("text", lambda a: a[:-1], "not as long as their lengths"),
    ],
)
def test_vocabularies_are_whole(part, change, message, crafted):
    one = crafted(CountVectorizer(), TEXTS)
    one.change(step_of(one)["state"]["vocabulary_"]["parts"][part], change)
    one.refused(message)


def test_another_version_of_scikit_learn_warns(crafted):
    one = crafted(RobustScaler(), NUMBERS)
    assert "sklearn" in one.header
    one.header["sklearn"] = "1.5.0"
    one.write()
    with pytest.warns(InconsistentVersionWarning, match=r"RobustScaler from version 1\.5\.0"):
        load(one.path)
    one.header["sklearn"] = 3
    one.refused("no text")
    del one.header["sklearn"]
    one.write()
    with warnings.catch_warnings(action="error"):
        load(one.path)


def test_requests_for_metadata_are_refused_if_there_is_no_such_metadata(tmp_path):
    one = Crafted(SVC().fit(NUMBERS, Y), tmp_path / "m.adatron")
    for requests in ([["fit", {"$": "dict", "items": [["evil", True]]}]], [["fit", 3]]):
        one.header["model"]["requests"] = {"$": "dict", "items": requests}
        one.refused("metadata")
