"""The report: eight answers, nothing of a user's text as markup, and no row of data unless it may be shown."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_digits, make_moons
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import adatron
from adatron import SVC, SVR, InputMarginSVC, NuSVR, OneClassSVM

X, y = make_moons(60, noise=0.25, random_state=0)
NASTY = np.array(["<script>alert(1)</script>", '"><img src=http://example.org/x>'])
VOID = {"meta", "link", "br", "img", "hr"}


class Reader(HTMLParser):
    """Counts elements, and collects text; elements must close in the order in which they open."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.text, self.links = [], {}, [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags[tag] = self.tags.get(tag, 0) + 1
        self.links += [value for name, value in attrs if name in ("src", "href", "xlink:href", "data")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


@pytest.fixture(scope="module")
def nasty():
    search = GridSearchCV(SVC(), {"C": [1.0, 10.0], "gamma": [0.5, 2.0]}).fit(X, NASTY[y])
    return adatron.report(search, X, NASTY[y], X, NASTY[y], feature_names=NASTY, title=NASTY[1])


def test_text_of_a_user_is_never_markup(nasty):
    page = Reader(nasty.html)
    assert page.tags["script"] == 1
    assert "img" not in page.tags
    assert all(link.startswith(("#", "data:")) for link in page.links)
    assert NASTY[0] in " ".join(page.text)
    frame = Reader(nasty._repr_html_())
    assert frame.tags == {"iframe": 1}
    ids = re.findall(r'\bid="([^"]+)"', nasty.html)
    assert len(ids) == len(set(ids))


def test_eight_answers(nasty, tmp_path):
    assert [panel.question for panel in nasty.panels][:2] == ["Is it optimal?", "Is it good?"]
    assert len(nasty.panels) == 8
    assert str(nasty).count("\n") == 8
    assert "at the edge" in nasty.html
    path = tmp_path / "fit.html"
    nasty.save(path)
    assert path.read_text("utf-8") == nasty.html
    assert list(tmp_path.iterdir()) == [path]


def test_numbers_are_those_of_the_model():
    model = SVC(C=5).fit(X, y)
    made = adatron.report(model, X, y, X[:20], y[:20])
    assert f"{model.duality_gap_:.1e}" in made.panels[0].answer
    assert f"{100 * (1 - model.score(X[:20], y[:20])):.1f} %" in made.panels[1].answer
    error = adatron.IncrementalSVC(C=5, gamma=model._gamma).fit(X, y).loo_error()
    assert f"leave-one-out (exact): {100 * error:.1f} %" in made.panels[1].answer
    assert f"{len(model.support_)} of 60 samples" in made.panels[3].answer


def test_no_row_of_data_is_left_with_samples_none():
    values = np.round(X * 1000.0 + 123456.0, 3)
    model = make_pipeline(StandardScaler(), SVC(C=5)).fit(values, y)
    shown = adatron.report(model, values, y)
    hidden = adatron.report(model, values, y, samples="none")
    secret = {f"{value:.4g}" for value in values.ravel()} | {repr(float(value)) for value in values.ravel()}
    cells = {word for text in Reader(shown.html).text for word in text.split()}
    assert secret & cells
    assert not any(word in hidden.html for word in secret)
    assert not re.search(r"\brow \d", hidden.html)
    assert "samples='none'" in hidden.panels[5].answer


@pytest.mark.parametrize(
    ("model", "data"),
    [
        (SVR(C=100, epsilon=10), tuple(part[:60] for part in load_diabetes(return_X_y=True))),
        (NuSVR(C=10), tuple(part[:60] for part in load_diabetes(return_X_y=True))),
        (OneClassSVM(nu=0.2, gamma=1.0), (X,)),
        (InputMarginSVC(n_steps=1), (X, y)),
        (SVC(kernel="laplacian"), (X, y)),
        (SVC(kernel="precomputed"), (X @ X.T, y)),
        (SVC(kernel=lambda a, b: a @ b.T), (X, y)),
        (SVC(C=float("inf"), gamma=50.0), (X, y)),
        (SVC(), tuple(part[:120] for part in load_digits(return_X_y=True))),
    ],
    ids=lambda value: type(value).__name__ if hasattr(value, "fit") else "",
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_every_machine_has_a_report(model, data):
    made = adatron.report(model.fit(*data), *data)
    Reader(made.html)
    assert len(made.panels) == 8
    assert all(panel.answer for panel in made.panels)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"samples": "some"}, "'rows' or 'none'"),
        ({"y_test": y}, "needs X_test"),
        ({"search": 3}, "cv_results_"),
        ({"image_shape": (8, 8)}, "2 pixels"),
        ({"feature_names": ["a"]}, "2 names"),
    ],
)
def test_wrong_arguments_are_named(given, words):
    with pytest.raises(ValueError, match=words):
        adatron.report(SVC().fit(X, y), X, y, **given)
