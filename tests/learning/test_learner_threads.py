"""Threads that let a model learn and forget at once take turns."""

import pickle
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np
import pytest

from adatron import IncrementalSVC, forget, load, save
from adatron.learning.learner import Learner
from adatron.learning.store import Store
from adatron.solvers.path import Homotopy
from lives import MODELS, Life
from moments import at, calls

MOMENTS = {"partial_fit": Store.append, "forget": Homotopy.release, "set_C": Homotopy.follow}


@contextmanager
def in_the_middle(moment, step):
    """Yield threads of which one rests in the middle of a step, and what the step returns."""
    inside = threading.Event()

    def rest(_):
        inside.set()
        time.sleep(0.2)

    with at(moment, rest, number=1), ThreadPoolExecutor(3) as pool:
        begun = pool.submit(step)
        assert inside.wait(60)
        yield pool, begun


@pytest.mark.slow
@pytest.mark.parametrize("second", ["partial_fit", "forget", "adatron.forget", "set_C"])
@pytest.mark.parametrize("first", list(MOMENTS))
def test_a_step_waits_for_the_one_before_it_is_looked_up(first, second):
    """The second step begins in the middle of the first one, where slots and default ids are about to change."""
    life = Life(3, "svc", "rbf", False)
    model, (X, y) = life.model, life.samples(20)
    one = {"partial_fit": (X[:9], y[:9]), "forget": ([0, 1, 2],), "set_C": (0.5,)}
    other = {"partial_fit": (X[9:], y[9:]), "forget": ([37, 39],), "set_C": (2.0,)}
    begin = {"adatron.forget": lambda: forget(model, [37, 39])}.get(
        second, lambda: getattr(model, second)(*other[second])
    )

    with in_the_middle(MOMENTS[first], lambda: getattr(model, first)(*one[first])) as (pool, begun):
        for step in (pool.submit(begin), begun):
            step.result(60)
    learned = [*range(9)] * (first == "partial_fit") + [*range(9, 20)] * (second == "partial_fit")
    life.kept.update({40 + number: (X[i], y[i]) for number, i in enumerate(learned)})
    for gone in [0, 1, 2] * (first == "forget") + [37, 39] * second.endswith("forget"):
        del life.kept[gone]
    assert {"set_C": 2.0}.get(second, {"set_C": 0.5}.get(first, 1.0)) == model.C
    life.assert_solved()


@pytest.mark.parametrize("how", ["pickle", "save"])
def test_a_state_is_never_that_of_the_middle_of_a_step(how, tmp_path):
    """A model that is written in the middle of a step waits for its end, and a later step changes nothing of it."""
    life = Life(3, "svc", "rbf", False)
    model, (X, y) = life.model, life.samples(9)

    def written():
        if how == "save":
            save(model, tmp_path / "m.adatron")
            return load(tmp_path / "m.adatron")
        return pickle.loads(pickle.dumps(model))  # noqa: S301

    with in_the_middle(Store.append, lambda: model.partial_fit(X, y)) as (pool, begun):
        other = pool.submit(written).result(60)
        begun.result(60)
    np.testing.assert_array_equal(other.ids_, model.ids_)
    np.testing.assert_allclose(other.decision_function(X), model.decision_function(X), atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("step", ["partial_fit", "forget", "fit"])
@pytest.mark.parametrize("kind", list(MODELS))
def test_leaving_one_out_is_of_one_solution(kind, step):
    """A question in the middle of a step waits for its end, and nothing that it reads is from before."""
    life = Life(3, kind, "rbf", False)
    model, (X, y) = life.model, life.samples(30)
    decision = model.loo_prediction if kind.startswith("svr") else model.loo_decision
    work = (lambda: model.forget([3, 5])) if step == "forget" else lambda: life.call(getattr(model, step), X, y)
    moment = {"partial_fit": Store.append, "forget": Homotopy.release, "fit": Learner.begin}[step]

    with in_the_middle(moment, work) as (pool, begun):
        asked = [pool.submit(ask) for ask in (decision, model.loo_error)]
        begun.result(60)
        values, error = (one.result(60) for one in asked)
    np.testing.assert_array_equal(values, decision())
    assert error == model.loo_error()


def test_a_state_shares_no_array_with_its_model():
    life = Life(3, "svc", "rbf", False)
    state = life.model.__getstate__()
    rows = state["_store"]["X"].copy()
    life.model.forget(life.model.ids_[:5])
    np.testing.assert_array_equal(state["_store"]["X"], rows)


def test_many_threads_learn_and_forget_at_once():
    life = Life(5, "svc", "rbf", False, n=40)
    model, (X, y) = life.model, life.samples(60)

    def learn(part):
        for i in part:
            model.partial_fit(X[i : i + 1], y[i : i + 1], ids=[100 + i])
            if i % 3 == 0:
                model.forget([100 + i])

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(learn, np.array_split(np.arange(60), 4)))
    life.kept.update({100 + i: (X[i], y[i]) for i in range(60) if i % 3})
    life.assert_solved()


def test_threads_that_begin_at_once_both_have_their_samples():
    life = Life(5, "svc", "rbf", False)
    X, y = life.samples(40)
    model = IncrementalSVC(gamma=0.5)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda part: model.partial_fit(X[part], y[part], [0, 1]), np.array_split(np.arange(40), 2)))
    assert sorted(model.ids_) == list(range(40))
    fresh = IncrementalSVC(gamma=model.kernel_.gamma).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), fresh.decision_function(X), atol=1e-7)


@pytest.mark.parametrize("kind", list(MODELS))
def test_a_step_gathers_no_support_vectors(kind):
    """What is known without them is read without them, and they are gathered once."""
    life = Life(2, kind, "rbf", False)
    learner = life.model.learner
    with calls(type(learner)._gathered) as gathered:
        life.add(1)
        assert life.model.kernel_.gamma == 0.5
        assert np.all(life.model.kkt_violation_ < 1e-6)
        assert not life.model.compact_
        assert len(getattr(life.model, "classes_", [0, 1])) == 2
        assert not gathered
        for _ in range(2):
            life.model.predict(life.samples(3)[0])
            assert len(life.model.support_)
    assert len(gathered) == 1
