"""Labels from float32 kernel values: they are those of the decision values in float64, by proof."""

import gc
import math
import weakref
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import make_classification

from adatron import SVC, NuSVC, OneClassSVM
from adatron.gram import Source
from adatron.kernels import RBF, Laplacian, Linear, Polynomial, Sigmoid
from adatron.model import decision, signs
from adatron.model.readout import Classes, beyond, unbeaten
from adatron.threads import Pool
from adatron.threads.cost import NEW_POOL
from covering import parametrized
from machines import two_moons
from moments import calls

KERNELS = [RBF(0.5), Laplacian(0.4), Linear(), Polynomial(0.5, 3, 1.0), Sigmoid(0.2, -0.1), RBF(0.3) + 0.5 * Linear(),
           0.7 * (0.9 * Linear()), 0.7 * (3.0 * RBF(0.5))]  # fmt: skip


def often(model, rows):
    """The rows again and again, until there is work enough for signs and for several blocks of rows."""
    vectors = model.support_vectors_
    assert vectors.shape[0] >= signs.FEWEST_VECTORS
    features = vectors.nnz / vectors.shape[0] if sparse.issparse(vectors) else vectors.shape[1]
    work = rows.shape[0] * vectors.shape[0] * max(1.0, features)
    times = 1 + int(max(NEW_POOL / work, 2 * decision.MOST_ROWS / rows.shape[0]))
    return sparse.vstack([rows] * times, "csr") if sparse.issparse(rows) else np.concatenate([rows] * times)


@pytest.fixture
def blocks():
    """What was tried: for each block of rows, whether its results were proven."""
    with calls(signs.Signs.of, keep=lambda _, result: result[1]) as seen:
        yield seen


def labels(model, X):
    """By the decision values in float64, pair by pair."""
    model = model.set_params(decision_function_shape="ovo")
    values = model.decision_function(X)
    if values.ndim == 1:
        return model.classes_[(values >= 0).astype(int)]
    return Classes(model.classes_, True).predictions(values)


def at_the_boundary(model, X, steps=60):
    """Points where the decision value in float64 changes its sign, and as near to them as two floats are."""
    a, b = X[model.decision_function(X) < 0], X[model.decision_function(X) >= 0]
    a, b = a[: min(len(a), len(b))], b[: min(len(a), len(b))]
    for _ in range(steps):
        middle = (a + b) / 2
        inside = model.decision_function(middle) >= 0
        a, b = np.where(inside[:, None], a, middle), np.where(inside[:, None], middle, b)
    return np.concatenate([a, b])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # a sigmoid is no kernel
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("classes", [2, 4])
def test_labels_are_those_of_float64(kernel, storage, classes, blocks):
    rng = np.random.default_rng(classes)
    X = rng.normal(size=(600, 4)) * (rng.random((600, 4)) < 0.8)
    noise = rng.normal(size=600)
    y = np.digitize(X[:, 0] + 0.3 * X[:, 1] ** 2 + 0.3 * noise, np.linspace(-0.5, 1, classes - 1))
    model = SVC(C=3.0, kernel=kernel).fit(storage(X), y)
    rows = storage(np.concatenate([X, 1.5 * rng.normal(size=(600, 4)), 50.0 * rng.normal(size=(40, 4))]))
    rows = often(model, rows)
    expected = labels(model, rows)
    np.testing.assert_array_equal(model.predict(rows), expected)
    assert np.concatenate(blocks).mean() > 0.5
    assert not np.concatenate(blocks).all()  # the last ones are too far away


def test_signs_at_the_boundary_are_those_of_float64(blocks):
    """There float32 alone would be wrong."""
    X, y = two_moons(600)
    for model in (SVC(C=100.0, gamma=2.0), NuSVC(nu=0.3), SVC(C=5.0, kernel="poly", coef0=1.0)):
        model.fit(X, y)
        rows = often(model, at_the_boundary(model, X))
        expected = labels(model, rows)
        blocks.clear()
        np.testing.assert_array_equal(model.predict(rows), expected)
        assert not np.concatenate(blocks).any()
        model.set_params(precision="single")
        assert (model.predict(rows) != expected).any()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # a sigmoid is no kernel
@parametrized(
    kernel=[*KERNELS, lambda X, Z: X @ Z.T],
    storage=[np.asarray, sparse.csr_matrix],
    task=[(2, {}), (4, {}), (4, {"multi_class": "ovr"}), (3, {"break_ties": True})],
)
def test_float32_rows_are_predicted_as_float64_rows(kernel, storage, task):
    """However large the coefficients are: float32 values are then nothing."""
    classes, parameters = task
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4)).astype(np.float32)
    y = np.digitize(X[:, 0] + 0.3 * X[:, 1] ** 2 + 0.5 * rng.normal(size=400), np.linspace(-0.5, 1, classes - 1))
    some = storage(rng.normal(size=(500, 4)).astype(np.float32))
    for C in (1.0, 1e6):
        model = SVC(C=C, kernel=kernel, max_iter=20_000, **parameters).fit(storage(X), y)
        rows = often(model, some)
        wide = rows.astype(np.float64)
        np.testing.assert_array_equal(model.decision_function(rows), model.decision_function(wide))
        np.testing.assert_array_equal(model.predict(rows), model.predict(wide))
        model.set_params(precision="double")
        np.testing.assert_array_equal(model.predict(rows), model.predict(wide))
        model.set_params(precision="auto")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_large_coefficients_leave_labels_of_float32_rows_as_they_are():
    """Each float32 value is within 1e-6, and one label in four would be another one."""
    X, y = make_classification(600, 6, n_informative=5, n_redundant=0, flip_y=0.05, random_state=1)
    X = X.astype(np.float32)
    model = SVC(C=1e7, gamma=1e-5).fit(X[:300], y[:300])
    rows = often(model, X[300:])
    expected = model.predict(rows.astype(np.float64))
    np.testing.assert_array_equal(model.predict(rows), expected)
    assert (model.set_params(precision="single").predict(rows) != expected).any()


def test_one_against_the_rest_is_proven_by_the_largest_value(blocks):
    X = np.random.default_rng(0).normal(size=(400, 3))
    model = SVC(C=10.0, multi_class="ovr").fit(X, np.digitize(X[:, 0] + X[:, 1] ** 2, [0.0, 1.0, 2.0]))
    rows = often(model, np.concatenate([X, 1e6 * X]))
    expected = model.classes_[np.argmax(model.decision_function(rows), axis=1)]
    np.testing.assert_array_equal(model.predict(rows), expected)
    assert np.concatenate(blocks)[: len(X)].mean() > 0.9
    near = often(model, at_two_classes(model, X))
    expected = model.classes_[np.argmax(model.decision_function(near), axis=1)]
    blocks.clear()
    np.testing.assert_array_equal(model.predict(near), expected)
    assert not np.concatenate(blocks).any()


def at_two_classes(model, X, steps=60):
    """Points where the class of the largest decision value changes, and as near to them as two floats are."""
    number = np.argmax(model.decision_function(X), axis=1)
    a, b = X[:-1][number[:-1] != number[1:]], X[1:][number[:-1] != number[1:]]
    first = np.argmax(model.decision_function(a), axis=1)
    for _ in range(steps):
        middle = (a + b) / 2
        same = np.argmax(model.decision_function(middle), axis=1) == first
        a, b = np.where(same[:, None], middle, a), np.where(same[:, None], b, middle)
    return np.concatenate([a, b])


@given(st.data())
def test_the_largest_value_stays_the_largest_within_the_errors(data):
    numbers, small = st.floats(-3.0, 3.0), st.floats(0.0, 1.0)
    values = np.array([data.draw(st.lists(numbers, min_size=3, max_size=3))])
    errors = np.array([data.draw(st.lists(small, min_size=3, max_size=3))])
    shares = np.array([data.draw(st.lists(st.floats(-1.0, 1.0), min_size=3, max_size=3))])
    if beyond(values, errors)[0]:
        assert np.argmax(values) == np.argmax(values + shares * errors)


def test_one_class(blocks):
    X, _ = two_moons(600)
    model = OneClassSVM(nu=0.2, gamma=2.0).fit(X)
    once = np.concatenate([X, at_the_boundary(model, X)])
    rows = often(model, once)
    np.testing.assert_array_equal(model.predict(rows), np.where(model.decision_function(rows) >= 0, 1, -1))
    assert 0 < np.concatenate(blocks)[: len(once)].sum() <= len(X)


def split_of(vectors, coefficients, kernel):
    with Pool(1) as pool:
        return signs.SplitExpansion.of(Source.of(vectors, np.arange(vectors.shape[0]), kernel), coefficients, pool)


def evaluate(split, rows, intercepts):
    with Pool(1) as pool:
        some = Source(rows, np.arange(rows.shape[0]), split.points.kernel, split.points.center)
        assert (some.sizes <= split.limit).all()
        return *split.evaluate(some, intercepts, pool), some


@pytest.mark.slow
@pytest.mark.parametrize("outputs", [1, 3, 20])
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_the_error_is_within_its_bound(kernel, outputs):
    """That of float32 values, and what is proven of it pair by pair."""
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(80, 5)) * rng.uniform(0.05, 1.0, (80, 1))
    rows = rng.normal(size=(200, 5)) * rng.uniform(0.02, 1.0, (200, 1))
    coefficients = rng.normal(size=(80, outputs)) * np.geomspace(1e-3, 1e3, outputs)
    intercepts = rng.normal(size=outputs)
    split = split_of(vectors, coefficients, kernel)
    values, bound, some = evaluate(split, rows, intercepts)
    K, own = kernel(rows, vectors), Source.of(vectors, np.arange(80), kernel)
    assert (np.abs(values - (K @ coefficients + intercepts)) <= bound).all()
    means = 0.5 * np.add.outer(some.sizes, own.sizes)
    parts = [[kernel.error_parts(mean, some.terms, 2.0**-24) for mean in line] for line in means]
    relative, absolute = np.moveaxis(np.array(parts), 2, 0)
    assert not (relative * (K < 0.0)).any()
    proven = (relative * np.abs(K) + absolute) @ np.abs(coefficients)
    assert (bound >= (1.0 - 1e-5) * proven).all()
    assert outputs > 3 or np.median(bound / proven) < 3.0  # with many outputs there is one group


def test_multiples_of_multiples_of_a_kernel_with_negative_values():
    """Their error is no part of the value, which would be subtracted from the bound: proofs of anything."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    kernel = 0.7 * (0.9 * (1.1 * Linear()))
    model = SVC(C=1e3, kernel=kernel, bias="none").fit(
        X, np.where(X[:, 0] + 0.3 * X[:, 1] + rng.normal(size=200) > 0, 1, -1)
    )
    rows = often(model, at_the_boundary(model, rng.normal(size=(400, 3))))
    np.testing.assert_array_equal(model.predict(rows), labels(model, rows))


def test_sums_are_rounded_too():
    """Of a kernel whose values have no error."""
    coefficients = np.random.default_rng(0).normal(size=(3000, 1))
    vectors = np.random.default_rng(1).normal(size=(3000, 5))
    split = split_of(vectors, coefficients, Polynomial(1.0, 0, 0.0))
    values, bound, _ = evaluate(split, vectors[:3], np.zeros(1))
    assert (np.abs(values - math.fsum(coefficients[:, 0])) <= bound).all()
    assert (bound > 0.0).all()


def test_tables_of_bounds_stay_few():
    """Rows of ever other numbers of entries ask for ever other bounds."""
    rng = np.random.default_rng(0)
    vectors = sparse.csr_matrix(rng.normal(size=(80, 500)) * (rng.random((80, 500)) < 0.02))
    split = split_of(vectors, np.ones((80, 1)), RBF(0.01))
    for n in range(1, 400, 7):
        rows = sparse.csr_matrix((np.full(n, 0.1), (np.zeros(n, int), np.arange(n))), (1, 500))
        evaluate(split, rows, np.zeros(1))
    assert 1 < len(split._tables) < 10


def test_one_support_vector_far_away_leaves_the_others_their_bounds():
    """What counts is the mean of two sizes, and support vectors of similar size are summed together."""
    rng = np.random.default_rng(1)
    vectors, rows, kernel = rng.normal(size=(160, 4)), rng.normal(size=(100, 4)), RBF(0.2)
    far = np.concatenate([vectors, [[9.0, 0.0, 0.0, 0.0]]])
    near_only, beside = (
        evaluate(split_of(points, np.ones((len(points), 1)), kernel), rows, np.zeros(1))[1] for points in (vectors, far)
    )
    assert (beside < 3.0 * near_only).all()


@given(st.data())
def test_an_unbeaten_class_wins_however_the_others_turn_out(data):
    n_classes = data.draw(st.integers(3, 4))
    pairs = n_classes * (n_classes - 1) // 2
    values = np.array(data.draw(st.lists(st.sampled_from([-2.0, -1.0, 1.0, 2.0]), min_size=pairs, max_size=pairs)))
    sure = np.array(data.draw(st.lists(st.booleans(), min_size=pairs, max_size=pairs)))
    first, second = np.triu_indices(n_classes, 1)

    def wins_all(c):
        own = (first == c) | (second == c)
        return (sure & ((values > 0) == (first == c)))[own].all()

    found = unbeaten(values[None], sure[None], n_classes)[0]
    assert found == any(map(wins_all, range(n_classes)))
    if found:
        possible = np.where(sure, values, np.array(list(product([-1.0, 1.0], repeat=pairs))))
        readout = Classes(np.arange(n_classes), True)
        assert set(readout.codes(possible)) == set(readout.codes(values[None]))


def test_what_cannot_be_proven_is_not_tried_for_long(blocks):
    X, y = two_moons()
    model = SVC(C=1e9, gamma=0.01, max_iter=1000)
    with pytest.warns(Warning, match="Not converged"):
        model.fit(X, y)
    rows = often(model, X)
    np.testing.assert_array_equal(model.predict(rows), labels(model, rows))
    assert len(blocks) == 1
    assert blocks[0].mean() < signs.LIKELY


def test_rows_that_have_more_entries_than_the_support_vectors(blocks):
    """Their products are rounded more often: what was proven for the support vectors alone is nothing there."""
    n, more = 4000, 1000
    rng = np.random.default_rng(0)
    near = sparse.csr_matrix((np.sort(rng.uniform(1.001, 1.06, n)), (np.arange(n), np.zeros(n, int))), (n, 1 + more))
    model = OneClassSVM(gamma=2700.0, nu=0.5).fit(near)
    first = rng.uniform(1.001, 1.0595, (2000, 1))
    rows = often(model, sparse.csr_matrix(np.hstack([first, np.full((2000, more), np.sqrt(5.6e-8))])))
    expected = np.where(model.decision_function(rows) >= 0, 1, -1)
    np.testing.assert_array_equal(model.predict(rows), expected)
    assert blocks


@pytest.mark.parametrize("scale", [1e30, 1e100, 1e200])
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_rows_far_away_are_evaluated_in_float64_without_a_warning(kernel, storage, scale, blocks):
    X, y = two_moons()
    model = SVC(C=0.1, kernel=kernel).fit(storage(X), y)
    rows = often(model, storage(np.concatenate([X, scale * X])))
    with np.errstate(over="ignore", invalid="ignore"):
        expected = labels(model, rows)
    np.testing.assert_array_equal(model.predict(rows), expected)
    assert not np.concatenate(blocks)[len(X) : 2 * len(X)].any()


def test_memory_of_a_prediction_is_free_when_it_ends():
    X, y = two_moons()
    model = SVC().fit(X, y)
    rows = often(model, X)
    gc.disable()
    try:
        with calls(signs.Signs.__init__, keep=lambda given, _: weakref.ref(given["self"])) as made:
            model.predict(rows)
    finally:
        gc.enable()
    assert [gone() for gone in made] == [None]


@pytest.mark.parametrize("parameters", [{"precision": "double"}, {"break_ties": True}])
def test_where_values_matter_or_float64_is_asked_for_it_is_not_tried(parameters, blocks):
    X = np.random.default_rng(0).normal(size=(90, 3))
    model = SVC(**parameters).fit(X, np.arange(90) % 3)
    rows = often(model, X)
    model.predict(rows)
    model.decision_function(rows)
    assert not blocks
    model.set_params(precision="auto", break_ties=False).predict(rows)
    assert blocks
