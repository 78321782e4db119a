"""The machine that the options ask for; what does not go together is wrong usage, found before any data."""

import pytest

from adatron.cli import main
from adatron.cli.parameters import KERNEL_NAMES
from lines import failed


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--epsilon", "0.1"], "--epsilon is no parameter of SVC, but of SVR (--task regression --svm c)"),
        (["--task", "regression", "--svm", "nu", "--epsilon", "0.1"], "--epsilon is no parameter of NuSVR"),
        (["--task", "regression", "--class-weight", "balanced"], "--class-weight is no parameter of SVR"),
        (["--svm", "svdd"], "--task classification has no machine with --svm svdd"),
        (
            ["--task", "novelty", "--svm", "svdd", "--solver", "svmseq"],
            "The solver 'svmseq' is not made for an explicit bias",
        ),
        (["--task", "novelty", "--C", "1"], "--C is no parameter of OneClassSVM"),
        (["--task", "novelty", "--svm", "c"], "--task novelty has no machine with --svm c"),
        (["--task", "regression", "--svm", "nu", "--C", "inf"], "--C must be a float"),
        (
            ["--solver", "decomposition", "--bias", "none"],
            "The solver 'decomposition' is not made for an augmented bias or none",
        ),
        (["--svm", "nu", "--solver", "isda"], "The solver 'isda' is not made for problems with nu"),
        (["--break-ties", "--decision-function-shape", "ovo"], "--break-ties needs --decision-function-shape ovr"),
        (["--kernel", "precomputed", "--scale", "standard"], "--kernel precomputed has none"),
        (["--degree", "2.5"], "'2.5' is not a whole number >= 0"),
        (["--nu", "0"], "'0' is not a number above 0 and at most 1"),
        (["--kernel", "rfb"], "'rfb' is not one of " + ", ".join(map(repr, KERNEL_NAMES[:3]))),
        (["--max-iter", "-2"], "'-2' is not a whole number >= -1"),
    ],
)
def test_options_that_do_not_go_together(options, message, tmp_path, capsys):
    assert main(["train", "none.csv", "--model", str(tmp_path / "m"), *options]) == 2
    assert message in failed(capsys)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "--model is missing"),
        (["--model", "m", "--cv", "3"], "--cv writes no model"),
        (["--cv", "3", "--test", "none.csv"], "leave out --test"),
        (["--cv", "1"], "'1' is not a whole number >= 2"),
    ],
)
def test_train_writes_a_model_or_cross_validates(options, message, capsys):
    assert main(["train", "none.csv", *options]) == 2
    assert message in failed(capsys)
