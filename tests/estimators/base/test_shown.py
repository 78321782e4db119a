"""What a notebook shows of a fitted model: its certificate first, and never an error."""

import pytest
from sklearn.datasets import load_iris

import adatron
from adatron.quoted import upward

pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9 shows no fitted attributes")
X, y = load_iris(return_X_y=True)
MODELS = [
    adatron.SVC(), adatron.SVC(kernel="linear"), adatron.NuSVC(nu=0.1), adatron.SVR(), adatron.NuSVR(),
    adatron.OneClassSVM(), adatron.InputMarginSVC(n_steps=1), adatron.IncrementalSVC(),
    adatron.IncrementalNuSVC(nu=0.1), adatron.IncrementalSVR(), adatron.IncrementalOneClassSVM(),
]  # fmt: skip


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_the_certificate_comes_first(model):
    model.fit(X, y)
    tight = [] if isinstance(model, adatron.InputMarginSVC) else [model.compact()]
    for one in (model, *tight):
        shown = one._repr_html_()
        table = shown[shown.index("Fitted attributes") :]
        places = [table.index(name) for name in ("duality_gap_", "kkt_violation_", "support_vectors_")]
        assert places == sorted(places)
        assert ("coef_</a>" in table.replace("dual_coef_", "")) is (one.kernel == "linear")


def test_a_compact_model_has_no_attributes_of_samples():
    model = adatron.IncrementalSVC().fit(X, y).compact()
    assert not hasattr(model, "ids_")
    assert "ids_" not in dir(model)
    with pytest.raises(ValueError, match="compact"):
        _ = model.ids_


def test_the_table_shows_the_worst_of_several_problems():
    model = adatron.SVC().fit(X, y)
    shown = model._repr_html_()
    table = shown[shown.index("Fitted attributes") :]
    assert f"{upward(model.duality_gap_.max())} (worst of 3)" in table
    assert f"{upward(model.kkt_violation_.max())} (worst of 3)" in table
    assert f"gap ≤ {upward(model.certificate_.gap)}, KKT ≤ {upward(model.certificate_.violation)}" in table
