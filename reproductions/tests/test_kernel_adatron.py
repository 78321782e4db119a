"""The paper on Kernel-Adatron: its problems, the plain copy of its algorithm, and the sections that are quick."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from reproductions.kernel_adatron import evolution, learning_times, rates, solvable, theory, widths
from reproductions.kernel_adatron.artificial import mirror_symmetry, parity, two_spirals
from reproductions.kernel_adatron.machine import fitted, gamma, gaussian, plain
from reproductions.report import Section, Sheet
from reproductions.tests.sheets import assert_holds

from adatron import SVC
from adatron.solvers import KernelAdatron


@pytest.fixture
def data(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADATRON_DATA", str(data_dir))


def assert_all_hold(sections: Iterator[Section]) -> None:
    for section in sections:
        assert_holds(section)


@pytest.mark.parametrize("rate", [0.3, 1.0, 1.7])
def test_the_plain_copy_needs_the_epochs_of_the_library(rate: float) -> None:
    X, y = mirror_symmetry(60, 12, np.random.default_rng(1))
    order = np.argsort(y, kind="stable")  # a given kernel matrix is visited class by class
    K, y = gaussian(X[order], 3.0), y[order]
    model = SVC(C=np.inf, kernel="precomputed", bias="none", solver=KernelAdatron(rate=rate, margin=0.99), tol=1e-12)
    model.fit(K, y)
    epochs, alpha = plain(K, y, rate, 10_000)
    assert model.n_iter_[0] == epochs
    np.testing.assert_allclose(np.abs(model.dual_coef_[0]), alpha[model.support_], rtol=1e-9)


def test_the_plain_copy_reaches_the_optimum() -> None:
    X, y = parity(4)
    model = fitted(X, y, 1.0, bias="none", tol=1e-10)
    _, alpha = plain(gaussian(X, 1.0), y, 1.0, 300, margin=np.inf)
    objective = alpha.sum() - 0.5 * (alpha * y) @ gaussian(X, 1.0) @ (alpha * y)
    assert objective == pytest.approx(model.dual_objective_, rel=1e-9)


@pytest.mark.parametrize("rate", [-0.1, 0.0, 2.1])
def test_rates_outside_the_range_do_not_converge(rate: float) -> None:
    X, y = mirror_symmetry(60, 12, np.random.default_rng(1))
    assert plain(gaussian(X, 3.0), y, rate, 300)[0] is None
    if rate:
        with pytest.raises(ValueError, match=r"rate must lie in \(0, 2\)"):
            fitted(X, y, 3.0, bias="none", solver=KernelAdatron(rate=rate))


def test_artificial_problems() -> None:
    X, y = mirror_symmetry(500, 30, np.random.default_rng(0))
    symmetric = (X[:, ::-1] == X).all(axis=1)
    assert symmetric[y > 0].all()
    assert symmetric[y < 0].sum() == 0
    assert 200 < (y > 0).sum() < 300
    assert len(mirror_symmetry(500, 30, np.random.default_rng(0), unlike=X)[0]) == 0
    X, y = parity(3)
    assert X.shape == (8, 3)
    assert y.sum() == 0
    X, y = two_spirals()
    assert X.shape == (194, 2)
    assert len(np.unique(X.round(9), axis=0)) == 194


def test_gamma_is_that_of_sigma() -> None:
    assert gaussian(np.array([[0.0], [3.0]]), 2.0)[0, 1] == pytest.approx(np.exp(-9.0 / 8.0))
    assert gamma(2.0) == 0.125


@pytest.mark.slow
def test_parity_and_spirals_are_separated(tmp_path: Path) -> None:
    assert_all_hold(solvable.sections(True, Sheet(tmp_path)))
    assert (tmp_path / "spirals.png").stat().st_size > 1000


@pytest.mark.data
@pytest.mark.usefixtures("data")
def test_mirror_symmetry_and_sonar_over_sigma(tmp_path: Path) -> None:
    assert_all_hold(widths.sections(True, Sheet(tmp_path)))
    assert {path.name for path in tmp_path.iterdir()} == {"figure_03.png", "sonar.png", "kernel_path.png"}


@pytest.mark.data
@pytest.mark.usefixtures("data")
def test_figures_over_the_epochs() -> None:
    assert_all_hold(evolution.sections(True, Sheet(None)))


@pytest.mark.data
@pytest.mark.usefixtures("data")
def test_epochs_of_sonar_over_the_rate() -> None:
    assert_all_hold(rates.sonar(Sheet(None)))


@pytest.mark.data
@pytest.mark.usefixtures("data")
def test_what_the_text_says(tmp_path: Path) -> None:
    assert_all_hold(theory.sections(True, Sheet(tmp_path)))
    assert len(list(tmp_path.iterdir())) == 2


def test_the_exponent_of_a_power_is_that_power() -> None:
    sizes = np.array([50.0, 100.0, 200.0])
    noise = np.random.default_rng(0).lognormal(sigma=0.1, size=(3, 40))
    slope, error = learning_times.exponent(sizes, sizes[:, None] ** 2.3 * noise)
    assert abs(slope - 2.3) < 4 * error
    assert 0.001 < error < 0.1
    assert learning_times.exponent(sizes, np.tile(sizes[:, None] ** 2, 3)) == pytest.approx((2.0, 0.0), abs=1e-9)
