"""The rules that read decision values, against scikit-learn's and against plain loops."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.utils.multiclass import _ovr_decision_function

from adatron.model.readout import Classes, Inlier, Target

LEVELS = st.sampled_from([-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0])


@st.composite
def readouts(draw):
    """A readout of two to four classes, and values of its problems, with many ties."""
    k = draw(st.integers(2, 4))
    in_pairs = k > 2 and draw(st.booleans())
    readout = Classes(np.array(["a", "b", "c", "d"])[:k], in_pairs, break_ties=draw(st.booleans()), slope=0.7)
    many = len(readout.problems)
    row = st.lists(LEVELS, min_size=many, max_size=many)
    return readout, np.array(draw(st.lists(row, min_size=1, max_size=4)))


def one_code(readout, values):
    """The class of one row, problem by problem."""
    k = len(readout.labels)
    if k == 2:
        return int(values[0] >= 0)
    if not readout.in_pairs:
        return int(np.argmax(values))
    if readout.break_ties:
        return int(np.argmax(_ovr_decision_function(values[None] < 0, -values[None], k)[0]))
    votes = np.zeros(k)
    for value, (i, j) in zip(values, combinations(range(k), 2), strict=True):
        votes[i if value > 0 else j] += 1
    return int(np.argmax(votes))


@given(readouts())
def test_classes_are_those_of_a_plain_count(both):
    readout, values = both
    np.testing.assert_array_equal(readout.codes(values), [one_code(readout, row) for row in values])
    np.testing.assert_array_equal(readout.predictions(values), readout.labels[readout.codes(values)])


@given(st.integers(3, 12), st.integers(0, 2**31))
def test_the_decision_function_is_scikit_learns_to_the_last_bit(k, seed):
    values = np.random.default_rng(seed).normal(size=(5, k * (k - 1) // 2)).round(1)
    readout = Classes(np.arange(k), True)
    np.testing.assert_array_equal(readout.shaped(values), _ovr_decision_function(values < 0, -values, k))
    assert readout.width == k
    assert Classes(np.arange(k), True, "ovo").width == values.shape[1]


@given(readouts(), st.data())
def test_what_is_decided_holds_for_every_value_within_the_errors(both, data):
    readout, values = both
    errors = np.array([[data.draw(st.sampled_from([0.0, 0.3, 0.8])) for _ in row] for row in values])
    decided = readout.decided(values, errors)
    for row, error in zip(values[decided], errors[decided], strict=True):
        signs = np.array(list(product([-1.0, 0.0, 1.0], repeat=len(row))))
        assert len(set(readout.codes(row + 0.999 * error * signs))) == 1


@given(readouts())
def test_preferences_are_values_of_the_pairs_with_the_sign_of_a_class(both):
    readout, values = both
    between, k = readout.between(values), len(readout.labels)
    for code in range(k):
        codes, found = np.full(len(values), code), []
        for number, (i, j) in enumerate(combinations(range(k), 2)):
            if code in (i, j):
                found.append(between[:, number] if code == i else -between[:, number])
        np.testing.assert_array_equal(readout.margins(values, codes), np.stack(found, axis=1))
        np.testing.assert_array_equal(readout.preference(values, codes, codes) * (k > 2), 0.0)


@given(readouts())
def test_probabilities_are_largest_for_the_predicted_class(both):
    readout, values = both
    found = readout.probabilities(values)
    np.testing.assert_array_equal(np.argmax(found, axis=1), readout.codes(values))
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-12)


def test_problems_are_listed_with_the_positive_class_first():
    labels = np.arange(3)
    assert Classes(labels[:2], False).problems == [(1, 0)]
    assert Classes(labels, True).problems == [(0, 1), (0, 2), (1, 2)]
    assert Classes(labels, False).problems == [(0, -1), (1, -1), (2, -1)]


def test_numbers_and_sides():
    values = np.array([[-1.0], [0.0], [2.0]])
    np.testing.assert_array_equal(Target().predictions(values), values[:, 0])
    np.testing.assert_array_equal(Inlier().predictions(values), [-1, 1, 1])
    np.testing.assert_array_equal(Inlier().decided(values, np.full((3, 1), 1.0)), [False, False, True])
    np.testing.assert_array_equal(Target().decided(values, np.array([[0.0], [0.1], [0.0]])), [True, False, True])


def test_several_labels_are_decided_if_each_is():
    readout, values = Classes(np.array([0, 1]), False, columns=2), np.array([[-1.0, 2.0], [0.0, -3.0], [0.5, 0.1]])
    np.testing.assert_array_equal(readout.predictions(values), [[0, 1], [1, 0], [1, 1]])
    np.testing.assert_array_equal(readout.shaped(values), values)
    np.testing.assert_array_equal(readout.decided(values, np.full((3, 2), 0.2)), [True, False, False])
    assert readout.problems == [(1, 0), (1, 0)]
    assert (readout.n_problems, readout.width, readout.groups) == (2, 2, 1)
    with pytest.raises(ValueError, match=r"one number or class\. This one predicts 2"):
        readout.refuse_several()


def test_contradicting_parameters_are_refused():
    with pytest.raises(ValueError, match="break_ties must be False"):
        Classes(np.arange(3), True, "ovo", break_ties=True).check()
