"""The command line tool: exit status, one-line errors, results on stdout and text for people on stderr."""

import importlib
import json
import math
import re
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import random as sparse_random
from sklearn.datasets import dump_svmlight_file, make_blobs
from sklearn.metrics import confusion_matrix
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from adatron import SVC, files
from adatron.cli import main
from adatron.cli.data import FORMATS
from adatron.cli.interrupt import Interrupt
from adatron.cli.parts import take_names
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


def nameless(path):
    """Load a model without the names of its features, which it would miss in plain arrays."""
    model = load(path)
    take_names(model)
    return model


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

    assert load(model).get_params() == SVC().get_params()


def test_predict_writes_one_label_a_line_and_the_accuracy(model, train_csv, tmp_path, samples, capsys):
    X, y = samples
    assert main(["predict", str(model), str(train_csv), "--label", "colour"]) == 0
    out, err = capsys.readouterr()
    expected = nameless(model).predict(X)
    assert out.splitlines() == expected.tolist()
    right = int(np.sum(expected == y))
    assert err == f"accuracy {right / 60:.4%} ({right} of 60)\n"
    # Without labels there is no accuracy; to a file, nothing on stdout.
    np.savetxt(tmp_path / "new.txt", X)
    assert main(["predict", str(model), str(tmp_path / "new.txt"), "--output", str(tmp_path / "out")]) == 0
    assert capsys.readouterr() == ("", "")
    assert (tmp_path / "out").read_text().splitlines() == expected.tolist()


@pytest.mark.parametrize("name", ["m.adatron", "m.model"])
def test_models_and_data_may_come_from_pipes(name, tmp_path):
    """As written in a shell: everything arrives, however often it is looked at."""
    (tmp_path / "a.csv").write_text("".join(f"{i},{-i},{i % 2}\n" for i in range(400)))
    program = f"{sys.executable} -m adatron"
    script = f"""
    cat a.csv | {program} train - --model m.adatron --quiet
    {program} convert <(cat m.adatron) m.model
    {program} predict <(cat {name}) <(cat a.csv) --label 2 | wc -l
    {program} predict {name} a.csv --quiet | cmp - <({program} predict <(cat {name}) /dev/stdin --quiet < a.csv)
    """
    command = ["/bin/bash", "-e", "-o", "pipefail", "-c", script]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "400"), done.stderr


def test_the_manual_s_table_with_names(tmp_path):
    """What the manual shows is what a shell shows."""
    manual = (Path(__file__).parents[1] / "docs" / "command-line.md").read_text()
    shown = manual.partition("```console\n")[2].partition("```")[0]
    _, table, *steps = [part.partition("\n") for part in shown.split("$ ")]
    (tmp_path / "flowers.csv").write_text(table[2])
    for command, _, expected in steps:
        script = re.sub(r"\badatron (?=\w+ )", f"{sys.executable} -m adatron ", command)
        done = subprocess.run(["/bin/bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True)
        assert done.stdout + done.stderr == expected


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
        (["predict", "ragged.csv", "good.csv"], 1, "ragged.csv: this is not a model; is the order MODEL FILE?"),
        (["evaluate", "data.npz", "good.csv"], 1, "data.npz: this is not a model; is the order MODEL FILE?"),
        (["train", "real.csv", "--model", "m"], 1, "real.csv: the label 0.5 is not a class: column 1 (b) is taken"),
        (["train", "words.csv", "--model", "m"], 1, "the label is taken from column 1 (b), --label names another one"),
        (["train", "none.csv", "--model", "m"], 4, "none.csv: No such file"),
        (["train", "none.npy", "--model", "m"], 4, "none.npy: No such file"),
        (["train", "good.csv", "--model", "none/m", "--quiet"], 4, "none/m: its folder is missing"),
        (["train", "good.csv"], 2, "--model"),
        (["train", "good.csv", "--model", "m", "--C", "-1"], 2, "--C"),
        (["train", "good.csv", "--model", "m", "--C", "nan"], 2, "--C"),
        (["train", "good.csv", "--model", "m", "--gamma", "wide"], 2, "not a number above 0"),
        (["train", "good.csv", "--model", "m", "--gamma", "0"], 2, "not a number above 0"),
        (["train", "good.csv", "--model", "m", "--bias", "maybe"], 2, "--bias"),
        (
            ["train", "none.csv", "--model", "m", "--kernel", "magic"],
            2,
            "'magic' is not one of laplacian, linear, poly",
        ),
        (["train", "none.csv", "--model", "m", "--solver", "magic"], 2, "'magic' is not one of auto, block"),
        (["train", "none.csv", "--model", "m", "--max-iter", "-2"], 2, "--max-iter"),
        (["train", "none.csv", "--model", "m", "--gamma", "inf"], 2, "not a finite number"),
        (["frobnicate"], 2, "frobnicate"),
    ],
)
def test_errors_are_one_line_and_a_status(tmp_path, monkeypatch, capsys, arguments, status, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ragged.csv").write_text("1,2,0\n1,2\n")
    (tmp_path / "one.csv").write_text("1,2,0\n2,2,0\n")
    (tmp_path / "good.csv").write_text("1,2,0\n2,1,0\n5,5,1\n6,5,1\n")
    (tmp_path / "real.csv").write_text("a,b\n0,0.5\n1,1.5\n")
    (tmp_path / "words.csv").write_text("a,b\nred,5\nblue,2\n")
    np.savez(tmp_path / "data.npz", X=np.eye(2), y=[0, 1])
    assert main(arguments) == status
    assert message in failed(capsys)
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train", "good.csv", "--model", "good.csv"], "--model good.csv is the input good.csv"),
        (["train", "good.csv", "--model", "link.csv"], "--model link.csv is the input good.csv"),
        (["train", "hard.csv", "--model", "./good.csv"], "--model ./good.csv is the input hard.csv"),
        (["train", "none.csv", "--model", "good.csv", "--test", "good.csv"], "is the input good.csv"),
        (["train", "good.csv/train", "--model", "good.csv"], "is the input good.csv/train"),
        (["predict", "m", "good.csv", "--output", "m"], "--output m is the input m"),
        (["predict", "m", "-", "good.csv", "--output", "link.csv"], "--output link.csv is the input good.csv"),
        (["evaluate", "m", "good.csv", "--output", "good.csv"], "--output good.csv is the input good.csv"),
        (["convert", "m", "m"], "OUTPUT m is the input m"),
    ],
)
def test_an_input_is_never_overwritten(tmp_path, monkeypatch, capsys, arguments, message):
    monkeypatch.chdir(tmp_path)
    text = "1,2,0\n2,1,0\n5,5,1\n6,5,1\n"
    for name in ("good.csv", "m"):
        Path(name).write_text(text)
    Path("link.csv").symlink_to("good.csv")
    Path("hard.csv").hardlink_to("good.csv")
    monkeypatch.setattr("adatron.files.read", lambda *_, **__: pytest.fail("it was read"))
    assert main(arguments) == 2
    assert message in failed(capsys)
    assert (Path("good.csv").read_text(), Path("m").read_text()) == (text, text)


def test_an_interrupt_ends_with_130(train_csv, tmp_path, monkeypatch, capsys):
    def interrupted(*arguments, **options):
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


@pytest.mark.parametrize(("ours", "theirs"), [(2.0, 1.0), (1.0, 2.0)])
def test_the_demo_says_why_it_is_slower(ours, theirs, capsys):
    demo = importlib.import_module("adatron.cli.demo")
    demo._compare(0.9, 0.9, 1.0, [(ours, theirs)] * 3)
    assert ("overhead" in capsys.readouterr().out) == (ours > theirs)


def test_a_failed_check_of_the_demo_ends_with_3(monkeypatch, capsys):
    demo = importlib.import_module("adatron.cli.demo")
    monkeypatch.setattr(demo, "_survives_a_file", lambda model, X: False)
    assert main(["demo"]) == 3
    assert "\nNO   saved" in capsys.readouterr().out


# --- everything that `train` can be told ---------------------------------------------------------------------------


def test_every_parameter_has_an_option():
    from adatron.cli.train import train

    options = {parameter.name for parameter in train.params}
    missing = set(SVC().get_params()) - options
    assert missing == {"callback", "probability", "verbose"}  # a function, refused, and the progress bar


def test_the_formats_are_those_of_the_readers():
    assert tuple(files.FORMATS) == FORMATS


def test_scaling_lives_in_the_model(samples, train_csv, tmp_path, capsys):
    X, y = samples
    path = tmp_path / "m.adatron"
    arguments = ["train", str(train_csv), "--model", str(path), "--label", "colour", "--scale", "standard"]
    assert main([*arguments, "--test", str(train_csv)]) == 0
    err = capsys.readouterr().err
    expected = make_pipeline(StandardScaler(), SVC()).fit(X, y)
    assert np.array_equal(nameless(path).decision_function(X), expected.decision_function(X))
    assert f"{expected.score(X, y):.4%}" in err
    assert main(["info", str(path)]) == 0
    assert "StandardScaler" in capsys.readouterr().out


@pytest.mark.parametrize("scale", ["standard", "minmax"])
def test_scaling_keeps_the_zeros_of_sparse_data(scale, tmp_path, capsys):
    X = sparse_random(80, 50, 0.08, random_state=0, format="csr")
    dump_svmlight_file(X, np.arange(80) % 2, str(tmp_path / "a.svm"), zero_based=False)
    arguments = ["train", str(tmp_path / "a.svm"), "--model", str(tmp_path / "m"), "--scale", scale, "--quiet"]
    assert main(arguments) == 0
    assert load(tmp_path / "m")[-1].support_vectors_.nnz < X.nnz + 1
    assert main(["evaluate", str(tmp_path / "m"), str(tmp_path / "a.svm")]) == 0


def test_weights_of_classes_by_their_names(samples, train_csv, tmp_path, capsys):
    path = tmp_path / "m.adatron"
    arguments = ["train", str(train_csv), "--model", str(path), "--label", "colour", "--quiet", "--class-weight"]
    assert main([*arguments, "red:2,green:0.5"]) == 0
    assert load(path).class_weight_.tolist() == [1.0, 0.5, 2.0]
    for wrong, status, message in (
        ("pink:1", 1, "the classes are blue, green, red"),
        ("red", 2, "neither"),
        ("red:-1", 2, "not a number above 0"),
    ):
        assert main([*arguments, wrong]) == status
        assert message in failed(capsys)


@pytest.mark.parametrize("density", [0.05, 0.5])
@pytest.mark.parametrize("scale", ["none", "standard", "minmax"])
def test_how_data_are_stored_is_not_a_matter_of_the_format(scale, density, tmp_path, capsys):
    X = sparse_random(80, 50, density, random_state=0).toarray().round(3)  # which text holds exactly
    y = np.arange(80) % 2
    np.savetxt(tmp_path / "a.csv", np.column_stack([X, y]), delimiter=",")
    dump_svmlight_file(X, y, str(tmp_path / "a.svm"), zero_based=False)
    results = set()
    for source in ("a.csv", "a.svm"):
        given = [str(tmp_path / source), "--scale", scale, "--features", "50"]
        assert main(["train", *given, "--model", str(tmp_path / "m"), "--quiet"]) == 0
        for data in ("a.csv", "a.svm"):
            assert main(["predict", str(tmp_path / "m"), str(tmp_path / data), "--decision"]) == 0
            results.add(capsys.readouterr().out)
    assert len(results) == 1


def test_models_that_cannot_predict_are_refused(samples, train_csv, tmp_path, capsys):
    for estimator, message in ((SVC(), "not fitted"), (StandardScaler().fit(samples[0]), "not a classifier")):
        files.save(estimator, tmp_path / "m")
        for command in ("predict", "evaluate"):
            assert main([command, str(tmp_path / "m"), str(train_csv)]) == 1
            assert message in failed(capsys)


def test_bad_options_are_found_before_the_fit(train_csv, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("adatron.SVC.fit", lambda *_: pytest.fail("it was fitted"))
    data = [str(train_csv), "--label", "colour"]
    assert main(["train", *data, "--model", str(tmp_path / "m"), "--test", "none.csv"]) == 4
    assert "none.csv" in failed(capsys)
    assert main(["train", *data, "--model", str(tmp_path)]) == 4
    assert "a folder, not a file" in failed(capsys)


def test_features_that_count_from_0_are_told_so(tmp_path, capsys):
    """A file without its feature 0 looks as if it counted from 1; the option keeps its features in their places."""
    X = np.arange(1.0, 121.0).reshape(40, 3)
    X[20:, :2] *= -1
    rare = X[25:].copy()
    rare[:, 0] = 0
    y = np.repeat([0, 1], 20)
    dump_svmlight_file(X, y, str(tmp_path / "a"), zero_based=True)
    dump_svmlight_file(rare, y[25:], str(tmp_path / "b"), zero_based=True)
    path, data = str(tmp_path / "m"), str(tmp_path / "b")
    assert main(["train", str(tmp_path / "a"), "--zero-based", "--model", path, "--quiet"]) == 0
    expected = load(path).decision_function(rare)
    assert main(["predict", path, data, "--zero-based", "--decision", "--quiet"]) == 0
    assert [float(row.split("1:")[1]) for row in capsys.readouterr().out.splitlines()] == expected.tolist()
    assert main(["evaluate", path, data, "--zero-based"]) == 0
    capsys.readouterr()
    assert main(["train", str(tmp_path / "a"), "--one-based", "--model", path]) == 1
    assert "feature 0 found" in failed(capsys)


@pytest.fixture
def written(samples, tmp_path):
    """Write the samples with these columns in this order, and return the file's name."""
    X, y = samples
    columns = {"a": X[:, 0], "b": X[:, 1], "tint": y}

    def write(*names):
        path = tmp_path / "new.csv"
        rows = zip(*(map(str, columns[name]) for name in names), strict=True)
        path.write_text("".join(f"{','.join(row)}\n" for row in [names, *rows]))
        return str(path)

    return write


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("scale", ["none", "standard"])
def test_a_model_remembers_the_names_of_its_features(scale, train_csv, samples, written, tmp_path, capsys):
    path = str(tmp_path / "m")
    arguments = ["train", str(train_csv), "--label", "colour", "--model", path, "--scale", scale, "--quiet"]
    assert main([*arguments, "--test", str(train_csv)]) == 0
    assert load(path).feature_names_in_.tolist() == ["a", "b"]
    outputs = set()
    for names in (("a", "b"), ("a", "b", "tint"), ("tint", "a", "b")):
        assert main(["predict", path, written(*names), "--quiet"]) == 0
        outputs.add(capsys.readouterr())
    np.savetxt(tmp_path / "bare.txt", samples[0])
    assert main(["predict", path, str(tmp_path / "bare.txt"), "--quiet"]) == 0
    assert outputs == {capsys.readouterr()}
    assert main(["evaluate", path, written("tint", "a", "b")]) == 0


@pytest.mark.parametrize("command", ["predict", "evaluate"])
@pytest.mark.parametrize(
    ("names", "message"),
    [(("b", "a", "tint"), "another order"), (("a", "tint"), "no column 'b'"), (("b", "tint"), "'a'")],
)
def test_other_features_than_the_model_s_are_refused(command, names, message, model, written, capsys):
    assert main([command, str(model), written(*names)]) == 1
    assert message in failed(capsys)


def test_labels_that_are_no_classes_are_refused(model, train_csv, samples, tmp_path, capsys):
    X, y = samples
    other = str(tmp_path / "other.csv")
    for label in ("pink", "3"):
        np.savetxt(other, np.column_stack([np.full(60, label), X]), fmt="%s", delimiter=",")
        message = f"none of the labels ({label}) is a class of the model (blue, green, red)"
        assert main(["evaluate", str(model), other, "--label", "0"]) == 1
        assert message in failed(capsys)
        target = tmp_path / "n"
        assert main(["train", str(train_csv), "--label", "0", "--model", str(target), "--test", other]) == 1
        assert message in failed(capsys)
        assert not target.exists()
    np.savetxt(other, np.column_stack([X, np.where(y == "red", "pink", y)]), fmt="%s", delimiter=",")
    assert main(["evaluate", str(model), other, "--json"]) == 0
    assert "pink" in json.loads(capsys.readouterr().out)["classes"]


def test_sparse_kernel_values_are_kept_dense(tmp_path):
    np.savez(tmp_path / "a.npz", X=np.eye(30), y=np.arange(30) % 2)
    path = str(tmp_path / "m")
    assert main(["train", str(tmp_path / "a.npz"), "--kernel", "precomputed", "--model", path, "--quiet"]) == 0
    assert main(["evaluate", path, str(tmp_path / "a.npz")]) == 0


# --- Ctrl-C ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def noise(tmp_path):
    """A problem that takes many blocks."""
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "noise.npz", X=rng.normal(size=(3000, 8)), y=rng.integers(0, 2, 3000))
    return [str(tmp_path / "noise.npz"), "--model", str(tmp_path / "m"), "--C", "100", "--gap-tol", "1e-9"]


@pytest.fixture
def interrupted(monkeypatch):
    """Press Ctrl-C when the fit reports for the first time."""
    report = ProgressBar.__call__

    def press(self, state):
        if not press.done:
            press.done = True
            signal.raise_signal(signal.SIGINT)
        return report(self, state)

    press.done = False
    monkeypatch.setattr(ProgressBar, "__call__", press)


def test_ctrl_c_keeps_the_best_model_so_far(noise, interrupted, tmp_path, capsys):
    before = signal.getsignal(signal.SIGINT)
    assert main(["train", *noise, "--save-partial"]) == 130
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
    np.savez(tmp_path / "many.npz", X=rng.normal(size=(400, 3)), y=rng.integers(0, 20, 400))
    arguments = ["train", str(tmp_path / "many.npz"), "--model", str(tmp_path / "m"), "--save-partial", "--n-jobs", "1"]
    assert main(arguments) == 130
    assert (load(tmp_path / "m").n_iter_ == 0).any()


@pytest.mark.parametrize("answer", [True, False])
def test_ctrl_c_on_a_terminal_asks(answer, noise, interrupted, tmp_path, monkeypatch, capsys):
    for stream in ("stdin", "stderr"):
        monkeypatch.setattr(getattr(sys, stream), "isatty", lambda: True, raising=False)
    monkeypatch.setattr("click.confirm", lambda *_, **__: answer)
    assert main(["train", *noise, "--no-progress"]) == 130
    assert (tmp_path / "m").exists() == answer


def test_ctrl_c_elsewhere_ends_at_once(noise, interrupted, tmp_path, capsys):
    assert main(["train", *noise]) == 130
    assert "error: interrupted, and nothing written; --save-partial keeps" in capsys.readouterr().err
    assert not (tmp_path / "m").exists()


def test_a_second_ctrl_c_ends_at_once():
    with Interrupt(True) as interrupt:
        signal.raise_signal(signal.SIGINT)
        assert interrupt.asked
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


# --- results --------------------------------------------------------------------------------------------------------


def keys_of(heading):
    """The keys that the manual lists under a heading."""
    manual = (Path(__file__).parents[1] / "docs" / "command-line.md").read_text()
    section = manual.partition(f"### {heading}")[2].partition("\n#")[0]
    return set(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE))


def test_json_has_the_documented_keys(train_csv, tmp_path, capsys):
    path = str(tmp_path / "m.adatron")
    data = [str(train_csv), "--label", "colour"]
    assert main(["train", *data, "--model", path, "--quiet", "--json", "--test", str(train_csv)]) == 0
    trained = json.loads(capsys.readouterr().out)
    assert set(trained) == keys_of("`train --json`")
    assert trained["samples"] == 60
    assert trained["parameters"]["C"] == 1.0
    assert main(["evaluate", path, *data, "--json"]) == 0
    measured = json.loads(capsys.readouterr().out)
    assert set(measured) == keys_of("`evaluate --json`")
    assert trained["test"] == {key: value for key, value in measured.items() if key != "model"}
    assert main(["info", path, "--json"]) == 0
    assert set(json.loads(capsys.readouterr().out)) == keys_of("`info MODEL --json`")
    assert main(["info", "--solvers", "--json"]) == 0
    assert "block" in json.loads(capsys.readouterr().out)
    assert main(["info", path, "--solvers"]) == 2


def test_json_holds_no_nan(train_csv, model, tmp_path, capsys):
    codes = tmp_path / "codes.csv"
    codes.write_text("".join(f"{i},{i * i},{i % 2}\n" for i in range(10)))
    path, text = str(tmp_path / "n.adatron"), str(tmp_path / "n.txt")
    assert main(["train", str(codes), "--model", path, "--quiet"]) == 0
    assert main(["convert", path, text]) == 0
    assert main(["info", text, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["duality_gap"] is None  # LIBSVM's text holds no certificate


def test_evaluate_agrees_with_scikit_learn(model, train_csv, samples, tmp_path, capsys):
    X, y = samples
    out = tmp_path / "out.txt"
    assert main(["evaluate", str(model), str(train_csv), "--label", "colour", "--output", str(out)]) == 0
    text, predicted = out.read_text(), nameless(model).predict(X)
    assert capsys.readouterr().out == ""
    assert f"{np.mean(predicted == y):.4%}" in text
    for name, row in zip(np.unique(y), confusion_matrix(y, predicted), strict=True):
        assert text.splitlines()[-3:][list(np.unique(y)).index(name)].split() == [name, *map(str, row)]


def test_decision_values_in_both_formats(model, train_csv, samples, tmp_path, capsys):
    X, _ = samples
    estimator = nameless(model)
    arguments = ["predict", str(model), str(train_csv), "--label", "colour", "--decision", "--quiet"]
    assert main([*arguments, "--output", str(tmp_path / "out.csv")]) == 0
    header, *rows = (tmp_path / "out.csv").read_text().splitlines()
    assert header == "class,decision blue,decision green,decision red"
    assert [row.split(",")[0] for row in rows] == estimator.predict(X).tolist()
    values = np.array([row.split(",")[1:] for row in rows], float)
    assert np.array_equal(values, estimator.decision_function(X))
    assert main(arguments) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out.splitlines()[0].split()[1:] == [f"{i}:{value!r}" for i, value in enumerate(values[0].tolist(), 1)]


def test_a_model_goes_to_libsvm_and_back(samples, tmp_path, capsys):
    X, y = samples
    np.savez(tmp_path / "a.npz", X=X, y=np.unique(y, return_inverse=True)[1])
    data, ours, text, back = (str(tmp_path / name) for name in ("a.npz", "a.adatron", "a.txt", "b.adatron"))
    assert main(["train", data, "--model", ours, "--quiet"]) == 0
    assert main(["convert", ours, text]) == 0
    assert main(["convert", text, back, "--features", "2"]) == 0
    outputs = set()
    for model in (ours, text, back):
        assert main(["predict", model, data]) == 0
        outputs.add(capsys.readouterr().out)
    assert len(outputs) == 1
    assert main(["convert", ours, str(tmp_path / "none" / "a.txt")]) == 4


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
    with ProgressBar(1e-2, quiet, Interrupt(False)) as bar:
        for gap in (math.inf, 1.0, 0.1, 0.5):
            state = SimpleNamespace(problem=1, n_problems=2, n_finished=1, kkt_violation=gap, duality_gap=gap)
            assert bar(state) is False
    assert ("duality gap" in stream.text) == (terminal and not quiet)


def test_after_a_while_the_bar_tells_the_time_left(monkeypatch):
    progress = importlib.import_module("adatron.cli.progress")
    monkeypatch.setattr(progress, "PATIENCE", -1.0)
    stream = Terminal(True)
    monkeypatch.setattr(sys, "stderr", stream)
    with ProgressBar(1e-2, False, Interrupt(False)) as bar:
        for gap in (1.0, 0.5, 0.1):
            bar(SimpleNamespace(problem=0, n_problems=1, n_finished=0, kkt_violation=gap, duality_gap=gap))
            bar._bar.refresh()
    assert re.search(r"about \d\d:\d\d left", stream.text)


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
