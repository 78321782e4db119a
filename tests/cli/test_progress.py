"""The progress bar of a fit, and Ctrl-C.

Also tested here: ``cli/training``, ``cli/commands/info`` and ``__main__``.
"""

import importlib
import math
import re
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import numpy as np
import pytest

from adatron.cli.training import Interrupt, ProgressBar
from adatron.files import load, read
from lines import told, tool
from moments import at


def state(gap, **more):
    return SimpleNamespace(
        **{"problem": 0, "n_problems": 1, "n_finished": 0, **more}, kkt_violation=gap, duality_gap=gap
    )


def test_a_fit_is_followed_in_decades_and_never_steps_back():
    bar = ProgressBar(1e-2, True, Interrupt(False), "fold 1 of 5")
    for gap, done in ((1.0, 0.0), (0.1, 0.5), (0.5, 0.5), (1e-2, 1.0)):
        assert bar(state(gap)) is False
        assert bar.done == pytest.approx(done)
    assert bar.line() == "fold 1 of 5: 100% in 0 s; duality gap 1.0e-02, KKT 1.0e-02"


def test_other_problems_that_have_ended_count():
    bar = ProgressBar(1e-2, True, Interrupt(False))
    for gap in (math.inf, 1.0, 0.1):
        bar(state(gap, problem=1, n_problems=2, n_finished=1))
    assert bar.done == pytest.approx(0.75)


@pytest.fixture
def noise(tmp_path):
    """A problem that takes many blocks."""
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "noise.npz", X=rng.normal(size=(6000, 8)), y=rng.integers(0, 2, 6000))
    slow = ["--C", "100", "--solver", "smo", "--gap-tol", "1e-9"]  # minutes, so the key comes before the end
    return [str(tmp_path / "noise.npz"), "--model", str(tmp_path / "m"), *slow]


@pytest.fixture
def interrupted():
    """Press Ctrl-C when the fit has reported for the first time."""
    with at(ProgressBar.__call__, lambda _: signal.raise_signal(signal.SIGINT), end=True):
        yield


def test_ctrl_c_keeps_the_best_model_so_far(noise, interrupted, tmp_path, capsys):
    before = signal.getsignal(signal.SIGINT)
    assert tool("train", *noise, "--save-partial") == 130
    assert signal.getsignal(signal.SIGINT) is before
    err = capsys.readouterr().err
    assert re.search(r"warning: .*; interrupted\.", err)
    assert "callback" not in err
    assert "stopping" in err
    assert "converged             no" in err
    model = load(tmp_path / "m")
    assert model.fit_status_ == 1
    assert np.isfinite(model.duality_gap_)


def test_ctrl_c_is_heard_between_short_problems(interrupted, tmp_path, capsys):
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "many.npz", X=rng.normal(size=(1500, 3)), y=rng.integers(0, 20, 1500))
    arguments = ["train", str(tmp_path / "many.npz"), "--model", str(tmp_path / "m"), "--save-partial", "--n-jobs", "1"]
    assert tool(*arguments) == 130
    assert (load(tmp_path / "m").n_iter_ == 0).any()


@pytest.mark.parametrize("answer", [True, False])
def test_ctrl_c_on_a_terminal_asks(answer, noise, interrupted, tmp_path, monkeypatch, capsys):
    for stream in ("stdin", "stderr"):
        monkeypatch.setattr(getattr(sys, stream), "isatty", lambda: True, raising=False)
    monkeypatch.setattr("click.confirm", lambda *_, **__: answer)
    assert tool("train", *noise, "--no-progress") == 130
    assert (tmp_path / "m").exists() == answer


def test_ctrl_c_elsewhere_ends_at_once(noise, interrupted, tmp_path, capsys):
    assert (
        "error: interrupted, and nothing written; --save-partial keeps" in told(capsys, "train", *noise, status=130).err
    )
    assert not (tmp_path / "m").exists()


def test_a_ctrl_c_ends_at_once_if_there_is_nothing_to_keep_or_it_is_the_second():
    with Interrupt(True, begun=False) as interrupt, pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    with Interrupt(True, begun=False) as interrupt:
        interrupt.begun = True
        signal.raise_signal(signal.SIGINT)
        assert interrupt.requested
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


def test_an_interrupt_ends_with_130(train_csv, tmp_path, capsys):
    with at(read, lambda _: signal.raise_signal(signal.SIGINT)):
        assert tool("train", train_csv, "--model", tmp_path / "m") == 130
    assert "error: interrupted" in capsys.readouterr().err


def test_ctrl_c_at_the_border_of_compiled_code_is_an_interrupt(train_csv, tmp_path, capsys):
    def border(_):
        raise SystemError("a call returned a result with an exception set") from KeyboardInterrupt()

    with at(read, border):
        assert tool("train", train_csv, "--model", tmp_path / "m") == 130
    assert "error: interrupted" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
@pytest.mark.parametrize("module", ["click.core", "sklearn.base", "numba.core.types"])
def test_ctrl_c_during_imports_is_one_line(module, train_csv, tmp_path):
    """Python tells on stderr what it has imported."""
    command = [sys.executable, "-X", "importtime", "-m", "adatron", "train", str(train_csv), "--label", "colour"]
    process = subprocess.Popen([*command, "--model", tmp_path / "m"], stderr=subprocess.PIPE, text=True)
    try:
        for line in process.stderr:
            if line.split("|")[-1].strip() == module:
                process.send_signal(signal.SIGINT)
                break
        said = [line for line in process.communicate(timeout=60)[1].splitlines() if "import time:" not in line]
    finally:
        process.kill()
    assert process.returncode == 130
    assert [line for line in said if line] == [said[-1]]
    assert said[-1].startswith("error: interrupted")
    assert not (tmp_path / "m").exists()


def test_a_warm_up_tells_how_far_it_is(monkeypatch, capsys):
    seconds = importlib.import_module("adatron.progress").PICTURE_SECONDS
    monkeypatch.setitem(seconds, False, 0.01)
    monkeypatch.setattr("adatron.warmup", lambda: time.sleep(0.2))  # compiling takes minutes
    err = told(capsys, "warmup").err
    assert re.search(r"^compiling for this machine \(once\): \d+ functions in 0 s$", err, re.MULTILINE)
    assert "kept in" in err
