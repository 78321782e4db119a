"""The report: eight answers, nothing of a user's text as markup, and no row of data unless it may be shown.

Also tested here: ``facts``, ``figure``, ``parts``, ``reports/panels/boundary``, ``reports/panels/chosen``,
``reports/panels/deciding``, ``reports/panels/features``, ``reports/panels/good``, ``reports/panels/optimal``,
``reports/panels/robust`` and ``reports/panels/suspicious``.
"""

import base64
import re
import sys
import warnings
from hashlib import sha256
from html.parser import HTMLParser

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, make_classification, make_moons
from sklearn.model_selection import GridSearchCV, ShuffleSplit, TimeSeriesSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import adatron
from adatron import SVC, SVDD, SVR, InputMarginSVC, NuSVR, OneClassSVM, QuantileSVR, input_margin
from adatron.insight import sensitivity
from adatron.insight.subject import drawn
from adatron.learning.leave_out import loo_values
from adatron.quoted import upward
from adatron.reports.page import GROUP, MOST_GROUPS, Figure, SortableTable, digits, grouped, written
from moments import at

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


@pytest.mark.slow
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


@pytest.mark.slow
def test_numbers_are_those_of_the_model():
    model = SVC(C=5).fit(X, y)
    made = adatron.report(model, X, y, X[:20], y[:20])
    assert f"{upward(model.duality_gap_)}, rounding included" in made.panels[0].answer
    assert f"{100 * (1 - model.score(X[:20], y[:20])):.1f} %" in made.panels[1].answer
    error = adatron.IncrementalSVC(C=5, gamma=model._gamma).fit(X, y).loo_error()
    assert f"leave-one-out (exact): {100 * error:.1f} %" in made.panels[1].answer
    assert f"{len(model.support_)} of 60 samples" in made.panels[3].answer


@pytest.mark.slow
def test_many_classes_and_points_keep_the_page_small():
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(15), 4)
    model = SVC(C=10, gamma=1.0).fit(points := rng.normal(size=(60, 2)), labels)
    classes = adatron.report(model, points, labels, max_time=None)
    assert "5 of 15 classes" in classes.html
    targets = rng.normal(size=3000)
    line = adatron.report(SVR(epsilon=2.0).fit(points := targets[:, None].copy(), targets), points, targets)
    assert "2,000 of them" in line.html
    assert max(map(len, (classes.html, line.html))) < 1_000_000


@pytest.mark.slow
@pytest.mark.parametrize("model", [SVR(C=10, epsilon=0.5), NuSVR(C=10, nu=0.3)], ids=["SVR", "NuSVR"])
def test_residuals_on_the_edge_of_the_tube_are_not_beyond_it(model):
    """Free support vectors lie on the edge; NuSVR finds its tube."""
    targets = 3.0 * X[:, 0] + np.random.default_rng(0).normal(size=60)
    model.fit(X, targets)
    tables = [part for part in adatron.report(model, X, targets).panels[3].parts if isinstance(part, SortableTable)]
    row = dict(zip(tables[0].head, tables[0].rows[0], strict=True))
    bound = int(np.count_nonzero(np.isclose(np.abs(model.dual_coef_), model.C)))
    assert 0 < row["beyond the tube"] == bound < len(model.support_) - 2


@pytest.mark.slow
def test_no_row_of_data_is_left_with_samples_none():
    values = np.round(X * 1000.0 + 123456.0, 3)
    model = make_pipeline(StandardScaler(), SVC(C=5)).fit(values, y)
    shown = adatron.report(model, values, y)
    hidden = adatron.report(model, values, y, samples="none")
    secret = {digits(value) for value in values.ravel()} | {repr(float(value)) for value in values.ravel()}
    cells = {word for text in Reader(shown.html).text for word in text.split()}
    assert secret & cells
    assert not any(word in hidden.html for word in secret)
    assert not re.search(r"\brow \d", hidden.html)
    assert "samples='none'" in hidden.panels[5].answer


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "data"),
    [
        (SVR(C=100, epsilon=10), tuple(part[:60] for part in load_diabetes(return_X_y=True))),
        (NuSVR(C=10), tuple(part[:60] for part in load_diabetes(return_X_y=True))),
        (OneClassSVM(nu=0.2, gamma=1.0), (X,)),
        (SVDD(nu=0.2, gamma=0.5), (X, np.where(y, 1, -1))),
        (QuantileSVR(quantile=0.8), (X, X[:, 0] + y)),
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
    exact = not isinstance(model, (NuSVR, InputMarginSVC, QuantileSVR)) and model.kernel != "precomputed"
    assert ("leave-one-out (exact)" in made.panels[1].answer.lower()) is exact
    assert ("is not known" in made.panels[3].answer) is not exact


@pytest.mark.slow
def test_predictions_out_of_fold_keep_their_fractions():
    D, d = (part[:60] for part in load_diabetes(return_X_y=True))
    model = SVR(C=100).fit(D, d.astype(int))
    whole, real = (adatron.report(model, D, targets) for targets in (d.astype(int), d))
    assert whole.panels[1].answer == real.panels[1].answer


@pytest.mark.slow
@pytest.mark.parametrize("cv", [TimeSeriesSplit(4), ShuffleSplit(2, random_state=0)], ids=["time", "shuffle"])
def test_folds_must_test_every_sample_once(cv):
    made = adatron.report(SVC().fit(X, y), X, y, cv=cv)
    assert "out of fold" not in made.panels[1].answer
    assert "tests every sample once" in made.html


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still unless a test moves it."""
    now = [100.0]
    adatron.report(SVC().fit(X[:9], y[:9]), X[:9], y[:9])  # then all modules are there
    for name, module in list(sys.modules.items()):
        if name.startswith("adatron.") and hasattr(module, "monotonic"):
            monkeypatch.setattr(module, "monotonic", lambda: now[0])
    return now


@pytest.mark.slow
def test_a_report_ends_in_time_and_names_what_is_missing(clock):
    class Slow(StandardScaler):
        """A step that takes its time."""

        def fit(self, X, y=None):
            clock[0] += 0.4
            return super().fit(X, y)

    model = make_pipeline(Slow(), SVC()).fit(X, y)
    part = adatron.report(model, X, y, max_time=6.0, cv=30)
    assert re.search(r"There was time for \d of 30 folds", part.html)
    assert re.search(r"Out of fold \(\d of 30 folds\)", part.panels[1].answer)
    assert "leave-one-out (" in part.panels[1].answer.lower()


@pytest.mark.slow
def test_a_report_without_time_says_so():
    late = adatron.report(SVC().fit(X, y), X, y, max_time=1e-6)
    Reader(late.html)
    assert "no time for this answer" in late.html
    assert "out of fold" not in late.panels[1].answer.lower()
    whole = adatron.report(SVC().fit(X, y), X, y, max_time=None)
    assert "There was" not in whole.html


@pytest.mark.slow
@pytest.mark.parametrize("function", [input_margin, loo_values], ids=lambda one: one.__name__)
def test_a_panel_takes_as_many_samples_as_its_share_of_the_time_allows(function, clock):
    model = SVC().fit(X, y)

    def pass_time(given):
        clock[0] += 0.5 * len(given["X"] if function is input_margin else given["slots"])

    begun = clock[0]
    with at(function, pass_time, number=None, end=True):
        made = adatron.report(model, X, y, max_time=12.0)
    assert clock[0] - begun <= 18.0
    if function is loo_values:
        assert re.search(r"Leave-one-out is exact for \d of 60 samples, drawn by chance.", made.html)
    else:
        assert re.search(r"Distances are measured on \d+ of 60 samples. There was no time for more.", made.html)
        assert re.search(r"There was time for \d+ of 60 points", made.html)
        assert "Nothing is known" not in str(made)


def test_lists_have_a_report_too_and_progress_is_told():
    told, given = [], [one.tolist() for one in (X, y, X[:10], y[:10])]
    made = adatron.report(SVC().fit(X, y), *given, progress=lambda *state: told.append(state))
    assert "test: " in made.panels[1].answer
    assert [state[:2] for state in told] == [(done, 8) for done in range(8)]
    assert told[1][2] == "scores"


@pytest.mark.slow
def test_folds_are_shown_where_leave_one_out_has_a_part_of_the_samples():
    A, b = make_moons(3000, noise=0.6, random_state=0)
    made = adatron.report(SVC(C=100).fit(A, b), A, b, max_time=20.0)
    assert "estimated from" in made.panels[1].answer
    assert "the more samples. Measured on: out of fold (5 folds)." in made.html


@pytest.mark.slow
def test_a_score_that_does_not_exist_is_explained():
    search = GridSearchCV(SVC(), {"C": [1.0, 2.0]}, scoring="neg_log_loss", refit=False, error_score=np.nan)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search.fit(X, y)
    made = adatron.report(SVC().fit(X, y), X, y, search=search, max_time=5.0)
    assert "has a neg log loss: the scorer gave no number. A scorer may need probabilities" in made.panels[2].answer
    labels = np.arange(60) % 3
    assert "ROC-AUC" not in adatron.report(SVC().fit(X, labels), X, labels, max_time=5.0).html
    assert "ROC-AUC" in adatron.report(SVC().fit(X, y), X, y, max_time=20.0).html


@pytest.mark.slow
def test_no_point_of_a_picture_is_a_sample_with_samples_none():
    D, d = (part[:60] for part in load_diabetes(return_X_y=True))
    model = SVR(C=100).fit(D, d)
    points = []
    for samples in ("rows", "none"):
        html = adatron.report(model, D, d, samples=samples).html
        points.append(html.partition('id="panel-2"')[2].partition("</section>")[0].count("<use "))
    assert points[0] > 60 > 40 > points[1]


def test_a_policy_names_the_only_script(nasty):
    (script,) = re.findall(r"<script>(.*?)</script>", nasty.html, re.DOTALL)
    digest = base64.b64encode(sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in nasty.html


@pytest.mark.slow
def test_a_proof_holds_for_every_sample_of_the_fit():
    random = np.random.default_rng(0)
    A = random.normal(size=(600, 2))
    A[np.setdiff1d(np.arange(600), drawn(600, 500))[0]] = 30.0
    model = SVR(kernel="poly", coef0=1.0, C=0.01).fit(A, A[:, 0])
    radius, bound = re.findall(
        r"moves by ([\d.e+]+) changes .* at most ([\d.e+]+)\.", str(adatron.report(model, A, A[:, 0]))
    )[0]
    far = np.argmax(np.linalg.norm(A, axis=1))
    step = float(radius) * np.array([[np.cos(a), np.sin(a)] for a in np.linspace(0, 6, 50)])
    assert np.abs(model.predict(A[far] + step) - model.predict(A[[far]])).max() <= float(bound) * 1.001


@pytest.mark.slow
@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "Yes: relative duality gap <= "),
        ({"gap_tol": None}, "A smaller gap_tol asks for more"),
        ({"max_iter": 1500}, "higher limits may help"),
    ],
    ids=str,
)
def test_the_first_answer_follows_the_gap_and_its_advice_what_was_asked(given, words):
    A, b = make_classification(400, 20, n_informative=10, flip_y=0.05, random_state=0)
    machine = SVC(C=1e4, **given).fit(A, b)
    (panel, *_) = adatron.report(machine, A, b, samples="none").panels
    assert words in panel.answer
    assert panel.answer.startswith("Nearly") == bool(given)
    assert panel.answer.startswith("Yes") == (machine.certificate_.gap <= 1e-3)


def test_a_column_without_values_is_left_out_and_a_long_table_is_folded():
    rows = [["a", float("nan"), 1.0], ["b", "–", 2.0]]
    short = Reader(SortableTable(("name", "nothing", "value"), rows, "A caption.").html())
    assert short.tags["th"] == 2
    assert "details" not in short.tags
    assert "–" not in " ".join(short.text)
    assert Reader(SortableTable(("name", "nothing", "value"), 3 * rows, "A caption.").html()).tags["details"] == 1


@pytest.mark.parametrize(
    ("value", "words"),
    [(0.0, "0"), (3.1623, "3.16"), (2.683e-4, "2.7e-04"), (4264.3, "4,264"), (1e7, "1.0e+07"), (1234, "1,234")],
)
def test_numbers_have_one_notation(value, words):
    assert digits(value) == words


def test_an_answer_is_told_once_and_of_one_sample_in_the_singular():
    X, y = make_moons(100, noise=0.1, random_state=0)
    y[0] = 1 - y[0]
    made = adatron.report(SVC(C=1.0, gamma=1.0).fit(X, y), X, y, max_time=None)
    for panel in made.panels:
        assert made.html.count(written(panel.answer)) == 1
    assert made.panels[4].answer.startswith("1 of 100 samples (1.0 %) is misclassified")


def test_transformed_units_are_explained_once():
    made = adatron.report(make_pipeline(MinMaxScaler(), SVC()).fit(X, y), X, y, max_time=5.0)
    assert made.html.count("Transformed units are those after the steps of the pipeline.") == 1


def test_questions_2_and_3_agree_and_the_headline_has_the_measure_of_the_picture():
    X, y = (part[:150] for part in load_diabetes(return_X_y=True))
    made = adatron.report(SVR(C=50, epsilon=10).fit(X, y), X, y, max_time=None)
    error = re.search(r"leave-one-out \(exact\): RMSE (\d+\.\d+)", made.panels[1].answer)[1]
    assert f"Leave-one-out RMSE: {error} at the model's C = 50" in made.panels[2].answer
    assert "leave-one-out RMSE" in made.html
    assert "mean squared leave-one-out error" not in made.html


@pytest.mark.slow
def test_a_bound_is_no_smaller_in_words_and_the_objectives_show_the_gap():
    A, b = load_breast_cancer(return_X_y=True)
    model = make_pipeline(StandardScaler(), SVC(C=10)).fit(A, b)
    machine = model[-1]
    (panel, *_) = adatron.report(model, A, b, samples="none").panels
    for bound, name in ((machine.duality_gap_, "relative duality gap <= "), (machine.kkt_violation_, "is at most ")):
        assert float(panel.answer.partition(name)[2].split(",")[0].rstrip(".")) >= bound
    (row,) = next(part for part in panel.parts if isinstance(part, SortableTable)).rows
    assert row[2] >= machine.duality_gap_
    assert row[3] >= machine.kkt_violation_
    dual, primal = (float(one.words.replace(",", "")) for one in row[4:])
    assert dual <= machine.dual_objective_ < machine.primal_objective_ <= primal
    html = SortableTable(("dual",), [[row[4]]]).html()
    assert f'data-value="{machine.dual_objective_!r}"' in html


def test_the_answer_about_features_names_both_rankings():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(200, 3)) * [1.0, 1.0, 0.1]
    b = (A[:, 0] + 0.5 * A[:, 1] > 0).astype(int)
    model = SVC(kernel="linear").fit(A, b)
    found = sensitivity(model, A)
    answer = adatron.report(model, A, b, max_time=None).panels[6].answer
    assert answer.startswith(f"The decision function changes most with feature {found.effect.argmax()}. Alone, ")
    assert (
        f"feature {np.nanargmax(found.flips)} changes the prediction of {100 * np.nanmax(found.flips):.1f} %" in answer
    )


def test_a_line_does_not_end_within_a_number():
    assert written("gap <= 6.7e-04, & 3") == 'gap &lt;= <span class="number">6.7e-04</span>, &amp; 3'


def test_colours_are_explained_and_a_fit_without_a_curve_has_no_picture_of_one():
    made = adatron.report(SVC().fit(X, y), X, y)
    assert not any(isinstance(part, Figure) for part in made.panels[0].parts)
    assert made.html.count("Blue: the coefficient is below its bound (free)") >= 1


def test_what_an_incremental_model_tracks_is_not_called_a_bound():
    made = adatron.report(adatron.IncrementalSVC().fit(X, y), X, y, max_time=20.0)
    assert made.panels[0].answer.startswith("Yes, by the gradient that the model follows: relative duality gap about ")
    assert "relative gap ≈" in made.html


@pytest.mark.parametrize("n", [1, 4, 9, 10, 57, 1000])
def test_groups_of_neighbours(n):
    rng = np.random.default_rng(0)
    values, more = rng.normal(size=n), rng.normal(size=n)
    means, others = grouped(values, more)
    assert len(means) == len(others) == max(1, min(MOST_GROUPS, n // GROUP))
    assert (np.diff(means) > 0).all()
    parts = np.array_split(np.argsort(values, kind="stable"), len(means))
    assert len(means) == 1 or min(map(len, parts)) >= GROUP
    for found, given in ((means, values), (others, more)):
        np.testing.assert_allclose(found, [given[part].mean() for part in parts])
