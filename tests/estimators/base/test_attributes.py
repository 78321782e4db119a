"""A state from elsewhere is refused unless it has all that predictions trust; errors say what to do.

Also tested here: ``model/checks`` and ``hints``.
"""

import inspect
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

import adatron
from adatron import SVC, SVR, IncrementalSVC, dask, intervals, selection
from processes import python


@pytest.mark.slow
def test_every_change_of_a_state_is_refused_or_changes_nothing():
    *wrong, tried = python(Path(__file__).parents[3] / "scripts/attack_files/states.py").stdout.splitlines()
    assert not wrong
    assert int(tried.split()[1]) > 1000


@pytest.mark.parametrize("model", [SVC(), SVC(kernel="linear"), SVR(kernel="laplacian"), IncrementalSVC()], ids=repr)
def test_the_width_of_rows_is_that_of_the_arrays(model):
    X = np.random.default_rng(0).normal(size=(30, 3))
    model.fit(X, (X[:, 0] > 0).astype(int))
    del model.n_features_in_
    for wide in (np.ones((1, 200_000)), np.ones((1, 2)), sparse.csr_matrix(np.ones((1, 200_000)))):
        with pytest.raises(ValueError, match="expecting 3 features"):
            model.predict(wide)


def test_no_state_lacks_a_parameter():
    X = np.random.default_rng(0).normal(size=(30, 3))
    for one in (SVC().fit(X, (X[:, 0] > 0).astype(int)), SVC(C=3.0)):
        state = one.__getstate__()
        del state["C"]
        with pytest.raises(ValueError, match="not a valid state of a fitted SVC: C is missing"):
            object.__new__(SVC).__setstate__(state)


def test_samples_of_which_no_solution_is_known_are_refused():
    X = np.random.default_rng(0).normal(size=(30, 3))
    model = IncrementalSVC().fit(X, X[:, 0] > 0)
    torn = {name: value for name, value in model.__getstate__().items() if not hasattr(type(model), name)}
    with pytest.raises(ValueError, match="not a valid state of a fitted IncrementalSVC"):
        object.__new__(IncrementalSVC).__setstate__(torn)


PUBLIC = [getattr(home, name) for home in (adatron, dask, intervals, selection) for name in home.__all__]


@pytest.mark.parametrize("kind", [one for one in PUBLIC if isinstance(one, type) and hasattr(one, "fit")])
def test_a_misspelt_parameter_is_told_the_right_one(kind):
    for name in kind._get_param_names():
        for wrong in (f"{name}s", name.swapcase()):
            with pytest.raises(TypeError, match=rf"unexpected keyword argument '{wrong}'. Did you mean '{name}'\?"):
                kind(**{wrong: 1})
    with pytest.raises(TypeError, match=rf"{kind.__name__}.__init__\(\).*'zzz'. Its parameters are .*{name}"):
        kind(zzz=1)


def test_constructors_look_as_they_are_written():
    assert list(inspect.signature(SVC).parameters)[:3] == ["C", "kernel", "degree"]
    assert inspect.getsource(SVC.__init__).startswith("    def __init__(")
    assert clone(SVC(C=3.0)).get_params() == SVC(C=3.0).get_params()


def test_a_class_of_the_user_is_helped_too():
    class Own(SVR):
        def __init__(self, *, width=1.0, **others):
            super().__init__(**others)
            self.width = width

    class Narrow(SVR):
        def __init__(self, *, C=1.0, width=1.0):
            super().__init__(C=C)
            self.width = width

    assert Own(width=2.0, C=3.0).C == 3.0
    with pytest.raises(TypeError, match=r"SVR.*'c'. Did you mean 'C'"):
        Own(c=1.0)
    with pytest.raises(TypeError, match=r"Narrow.__init__\(\).*'widht'. Did you mean 'width'"):
        Narrow(widht=1.0)
