"""A misspelt parameter and a missing method are errors that say what to do."""

import inspect

import pytest
from sklearn.base import clone

import adatron
from adatron import SVC, SVR, IncrementalSVC, NuSVC
from adatron.dask import DaskGridSearchCV, DaskSVC
from adatron.intervals import CVPlus, FullConformal, JackknifePlus
from adatron.selection import GridSearchCV, RandomizedSearchCV

OURS = [one for name in adatron.__all__ if isinstance(one := getattr(adatron, name), type) and hasattr(one, "fit")]
OTHERS = [
    DaskSVC, DaskGridSearchCV, JackknifePlus, CVPlus, FullConformal,
    GridSearchCV, RandomizedSearchCV,
]  # fmt: skip


@pytest.mark.parametrize("kind", [*OURS, *OTHERS])
def test_a_misspelt_parameter_is_told_the_right_one(kind):
    for name in kind._get_param_names():
        for wrong in (f"{name}s", name.swapcase()):
            with pytest.raises(TypeError, match=rf"unexpected keyword argument '{wrong}'. Did you mean '{name}'\?"):
                kind(**{wrong: 1})
    with pytest.raises(TypeError, match=rf"{kind.__name__}.__init__\(\).*'zzz'. Its parameters are .*{name}"):
        kind(zzz=1)


def test_no_parameter_near_names_them_all():
    with pytest.raises(TypeError, match=r"'cost'\. Its parameters are C, kernel, degree"):
        SVC(cost=1.0)
    with pytest.raises(TypeError, match="positional argument"):
        SVC(1.0)


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


@pytest.mark.parametrize("method", ["predict_proba", "predict_log_proba"])
def test_probabilities_are_asked_for_before_the_fit(method):
    X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    for model in (SVC(), SVC().fit(X, y), NuSVC()):
        assert not hasattr(model, method)
        with pytest.raises(AttributeError, match=f"{type(model).__name__} has no {method}: pass probability=True"):
            getattr(model, method)(X)
    with pytest.raises(AttributeError, match=rf"IncrementalSVC has no {method}: .*CalibratedClassifierCV"):
        getattr(IncrementalSVC(), method)(X)


def test_intervals_are_of_regressors_and_sets_of_classifiers():
    with pytest.raises(
        AttributeError, match="JackknifePlus has no predict_interval: SVC is a classifier, so call predict_set"
    ):
        JackknifePlus(SVC()).predict_interval([[0.0]])
    with pytest.raises(AttributeError, match="SVR is a regressor, so call predict_interval"):
        JackknifePlus(SVR()).predict_set([[0.0]])
    assert not hasattr(JackknifePlus(SVR()), "predict_set")
