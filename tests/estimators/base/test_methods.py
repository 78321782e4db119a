"""A misspelt parameter and a missing method are errors that say what to do."""

import inspect

import pytest
from sklearn.base import clone

import adatron
from adatron import SVC, SVR, dask, intervals, selection

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
