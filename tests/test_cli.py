"""The command line tool: exit status, one-line errors, results on stdout and text for people on stderr."""

import importlib
import math
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from adatron.cli import main
from adatron.cli.progress import ProgressBar, part_done
from adatron.files import load, read


@pytest.fixture(scope="module")
def samples():
    X, y = make_blobs(60, centers=3, random_state=0)
    return X, np.array(["red", "green", "blue"])[y]


@pytest.fixture
def train_csv(samples, tmp_path):
    X, y = samples
    path = tmp_path / "train.csv"
    rows = [f"{label},{','.join(map(str, x))}" for x, label in zip(X, y, strict=True)]
    path.write_text("\n".join(["colour,a,b", *rows]) + "\n")
    return path


@pytest.fixture
def model(train_csv, tmp_path):
    path = tmp_path / "m.adatron"
    assert main(["train", str(train_csv), "--model", str(path), "--label", "colour", "--quiet"]) == 0
    return path


def failed(capsys):
    """Return the one error line on stderr, after checking that it is one and that stdout is empty."""
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    return err


def test_train_writes_a_model_and_a_table(train_csv, tmp_path, capsys):
    path = tmp_path / "m.adatron"
    options = ["--label", "0", "--C", "2", "--gamma", "0.5", "--tol", "1e-4", "--class-weight", "balanced"]
    assert main(["train", str(train_csv), "--model", str(path), *options]) == 0
    out, err = capsys.readouterr()
    assert out == ""
    names = [line.partition("  ")[0] for line in err.splitlines()]
    assert names == [
        *("samples x features", "classes", "kernel", "C", "support vectors", "updates", "KKT violation"),
        *("relative duality gap", "dual objective", "primal objective", "converged", "seconds", "model file"),
    ]
    fitted = load(path)
    assert (fitted.C, fitted.gamma, fitted.tol, fitted.class_weight) == (2.0, 0.5, 1e-4, "balanced")
    assert fitted.callback is None
    assert fitted.classes_.tolist() == ["blue", "green", "red"]


def test_quiet_training_says_nothing(model, capsys):
    assert capsys.readouterr() == ("", "")


def test_left_out_options_are_the_estimator_s_defaults(model):
    from adatron import SVC

    assert load(model).get_params() == SVC().get_params()


def test_predict_writes_one_label_a_line_and_the_accuracy(model, train_csv, tmp_path, samples, capsys):
    X, y = samples
    assert main(["predict", str(model), str(train_csv), "--label", "colour"]) == 0
    out, err = capsys.readouterr()
    expected = load(model).predict(X)
    assert out.splitlines() == expected.tolist()
    right = int(np.sum(expected == y))
    assert err == f"accuracy {right / 60:.4%} ({right} of 60)\n"
    # Without labels there is no accuracy; to a file, nothing on stdout.
    np.savetxt(tmp_path / "new.txt", X)
    assert main(["predict", str(model), str(tmp_path / "new.txt"), "--output", str(tmp_path / "out")]) == 0
    assert capsys.readouterr() == ("", "")
    assert (tmp_path / "out").read_text().splitlines() == expected.tolist()


def test_predict_refuses_other_data_and_keeps_the_output(model, tmp_path, capsys):
    (tmp_path / "new.csv").write_text("1,2,3,4,5\n")
    (tmp_path / "out").write_text("old")
    assert main(["predict", str(model), str(tmp_path / "new.csv"), "--output", str(tmp_path / "out")]) == 1
    assert "5 columns found, 2 features expected" in failed(capsys)
    assert (tmp_path / "out").read_text() == "old"


def test_an_early_stop_is_written_and_reported(samples, train_csv, tmp_path, capsys):
    path = tmp_path / "m.adatron"
    arguments = ["train", str(train_csv), "--model", str(path), "--label", "colour", "--max-iter", "1"]
    assert main(arguments) == 3
    err = capsys.readouterr().err
    assert "warning: " in err
    assert "converged             no" in err
    assert load(path).fit_status_ != 0


def test_info_shows_the_installation_and_a_model(model, capsys):
    assert main(["info"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert {"adatron", "numba", "numpy", "threads", "cache folder"} <= {
        row.partition("  ")[0] for row in out.splitlines()
    }
    assert main(["info", str(model)]) == 0
    out = capsys.readouterr().out
    for wanted in ("blue, green, red", "support vectors", "relative duality gap", "cache_size"):
        assert wanted in out


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["train", "ragged.csv", "--model", "m"], 1, "ragged.csv, line 2: 2 fields found, 3 expected"),
        (["train", "one.csv", "--model", "m"], 1, "class"),
        (["info", "ragged.csv"], 1, "not an adatron model file"),
        (["predict", "ragged.csv", "ragged.csv"], 1, "not an adatron model file"),
        (["train", "none.csv", "--model", "m"], 4, "none.csv: No such file"),
        (["train", "good.csv", "--model", "none/m", "--quiet"], 4, "none/m: its folder is missing"),
        (["train", "good.csv"], 2, "--model"),
        (["train", "good.csv", "--model", "m", "--C", "-1"], 2, "--C"),
        (["train", "good.csv", "--model", "m", "--C", "nan"], 2, "--C"),
        (["train", "good.csv", "--model", "m", "--gamma", "wide"], 2, "not a number above 0"),
        (["train", "good.csv", "--model", "m", "--gamma", "0"], 2, "not a number above 0"),
        (["train", "good.csv", "--model", "m", "--bias", "maybe"], 2, "--bias"),
        (["train", "good.csv", "--model", "m", "--kernel", "magic"], 1, "kernel"),
        (["frobnicate"], 2, "frobnicate"),
    ],
)
def test_errors_are_one_line_and_a_status(tmp_path, monkeypatch, capsys, arguments, status, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ragged.csv").write_text("1,2,0\n1,2\n")
    (tmp_path / "one.csv").write_text("1,2,0\n2,2,0\n")
    (tmp_path / "good.csv").write_text("1,2,0\n2,1,0\n5,5,1\n6,5,1\n")
    assert main(arguments) == status
    assert message in failed(capsys)
    assert not (tmp_path / "m").exists()


def test_an_interrupt_ends_with_130(train_csv, tmp_path, monkeypatch, capsys):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("adatron.files.read", interrupted)
    assert main(["train", str(train_csv), "--model", str(tmp_path / "m")]) == 130
    assert "error: interrupted" in capsys.readouterr().err


def test_help_needs_nothing_heavy():
    code = "import sys, adatron.cli as c; c.main(['train', '--help']); print(*sorted(sys.modules), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "--gap-tol" in done.stdout
    assert not {"numba", "numpy", "scipy", "sklearn"} & set(done.stderr.split())


def test_the_module_runs_as_a_program(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "adatron", "info", str(tmp_path / "none")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 4
    assert done.stderr == f"error: {tmp_path / 'none'}: No such file or directory\n"


def test_the_demo_shows_its_checks(capsys):
    assert main(["demo"]) == 0
    out = capsys.readouterr().out
    assert "relative duality gap" in out
    assert out.count("\nyes  ") == 3


def test_a_failed_check_of_the_demo_ends_with_3(monkeypatch, capsys):
    demo = importlib.import_module("adatron.cli.demo")
    monkeypatch.setattr(demo, "_survives_a_file", lambda model, X: False)
    assert main(["demo"]) == 3
    assert "\nNO   saved" in capsys.readouterr().out


# --- the progress bar ---------------------------------------------------------------------------------------------


def test_progress_is_counted_in_decades():
    assert part_done(1.0, 0.1, 0.01) == pytest.approx(0.5)
    assert part_done(1.0, 1e-9, 0.01) == 1.0
    assert part_done(1.0, 2.0, 0.01) == 0.0
    for nonsense in (math.nan, math.inf, 0.0):
        assert part_done(nonsense, 0.5, 0.01) == 0.0
        assert part_done(1.0, nonsense, 0.01) == 0.0


class Terminal:
    """A stderr that claims to be a terminal, or not."""

    def __init__(self, terminal):
        self.terminal = terminal
        self.text = ""

    def isatty(self):
        return self.terminal

    def write(self, text):
        self.text += text

    def flush(self):
        pass


@pytest.mark.parametrize(("terminal", "quiet"), [(True, False), (True, True), (False, False)])
def test_the_bar_is_drawn_on_a_terminal_only(monkeypatch, terminal, quiet):
    stream = Terminal(terminal)
    monkeypatch.setattr(sys, "stderr", stream)
    with ProgressBar(1e-2, quiet) as bar:
        for gap in (math.inf, 1.0, 0.1, 0.5):
            state = SimpleNamespace(problem=1, n_problems=2, n_finished=1, kkt_violation=gap, duality_gap=gap)
            assert bar(state) is False
    assert ("duality gap" in stream.text) == (terminal and not quiet)


@pytest.mark.data
def test_real_data_from_file_to_file(data_dir, tmp_path, capsys):
    model, heart = tmp_path / "heart.adatron", data_dir / "heart_scale"
    assert main(["train", str(heart), "--model", str(model), "--gap-tol", "1e-6"]) == 0
    capsys.readouterr()
    assert main(["predict", str(model), str(heart)]) == 0
    out, err = capsys.readouterr()
    assert set(out.split()) == {"-1", "1"}
    accuracy = float(err.split()[1].rstrip("%")) / 100
    assert accuracy == pytest.approx(np.mean(np.array(out.split(), int) == read(heart).y), abs=1e-6)
    assert load(model).duality_gap_ <= 1e-6


@pytest.mark.data
def test_real_digits_with_the_label_in_front(data_dir, tmp_path, capsys):
    test = data_dir / "zip.test.gz"
    model = tmp_path / "usps.adatron"
    assert main(["train", str(test), "--model", str(model), "--label", "0", "--C", "10"]) == 0
    assert "2007 x 256" in capsys.readouterr().err
    assert main(["predict", str(model), str(test), "--label", "0", "--output", str(tmp_path / "out")]) == 0
    accuracy = float(capsys.readouterr().err.split()[1].rstrip("%"))
    assert accuracy > 99
