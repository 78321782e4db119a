"""Text and missing values from the file to the prediction: the model knows how its columns become numbers."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import adatron
from adatron.files import load, read
from lines import told, tool

NAMES = ["colour", "town", "size", "code"]


@pytest.fixture(scope="module")
def frame():
    """Colours and sizes that tell the class, many towns, and a column of digits and letters."""
    rng = np.random.default_rng(0)
    n = 160
    table = pd.DataFrame(
        {
            "colour": rng.choice(["red", "green", "light blue"], n),
            "town": rng.choice([f"town {i}" for i in range(40)], n),
            "size": rng.normal(size=n).round(3),
            "code": rng.choice(["1", "2", "x"], n),
        }
    )
    table["label"] = np.where((table["colour"] == "red") ^ (table["size"] > 0), "yes", "no")
    return table


def arff(frame):
    def nominal(name):
        values = [f"'{one}'" for one in sorted(frame[name].dropna().unique())]
        return f"@attribute {name} {{{','.join(values)}}}\n"

    columns = [f"@attribute {name} numeric\n" if name == "size" else nominal(name) for name in frame]
    quoted = frame.map(lambda one: "?" if one != one else f"'{one}'" if isinstance(one, str) else repr(one))
    return "@relation r\n" + "".join(columns) + "@data\n" + quoted.to_csv(header=False, index=False, quotechar="~")


def written(frame, path):
    if path.suffix == ".parquet":
        frame.assign(colour=frame["colour"].astype("category")).to_parquet(path)
    elif path.suffix == ".arff":
        path.write_text(arff(frame))
    else:
        frame.to_csv(path, index=False)
    return str(path)


@pytest.fixture
def csv(frame, tmp_path):
    return written(frame, tmp_path / "a.csv")


def trained(data, path, *options):
    assert tool("train", data, "--model", path, "--categorical", "auto", "--C", "10", "--quiet", *options) == 0
    return load(path)


def said(capsys, *command, status=0):
    return "".join(told(capsys, *command, status=status))


@pytest.mark.parametrize("scale", ["none", "standard"])
def test_words_are_learned_alike_in_every_format(scale, frame, tmp_path):
    models = [trained(written(frame, tmp_path / f"a{end}"), tmp_path / "m", "--scale", scale)[-1]
              for end in (".csv", ".arff", ".parquet")]  # fmt: skip
    found = [(sparse.csr_matrix(one.dual_coef_).data, one.support_, one.intercept_) for one in models]
    digests = {b"".join(values.tobytes() for values in one) for one in found}
    assert len(digests) == 1


def test_the_model_is_that_of_scikit_learn_s_pipeline(frame, csv, tmp_path):
    texts = ["colour", "town", "code"]
    encoder = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), texts), remainder="passthrough")
    expected = make_pipeline(encoder, adatron.SVC(C=10)).fit(frame[NAMES], frame["label"])
    found = trained(csv, tmp_path / "m")
    assert found.feature_names_in_.tolist() == NAMES
    both = (one.decision_function(frame[NAMES]) for one in (found, expected))
    np.testing.assert_allclose(*both, atol=1e-2)
    # scikit-learn's pipeline of named columns serves the tool, too
    adatron.save(expected, tmp_path / "p")
    assert tool("predict", tmp_path / "p", csv, "--output", tmp_path / "out", "--quiet") == 0
    assert (tmp_path / "out").read_text().split() == expected.predict(frame[NAMES]).tolist()


@pytest.mark.parametrize(("towns", "stored"), [(3, False), (400, True)])
def test_many_categories_are_sparse(towns, stored, tmp_path):
    rng = np.random.default_rng(0)
    rows = [f"{x},town {rng.integers(towns)},{int(x > 0)}\n" for x in rng.normal(size=600)]
    (tmp_path / "a.csv").write_text("".join(rows))
    model = trained(str(tmp_path / "a.csv"), tmp_path / "m", "--scale", "standard")
    assert sparse.issparse(model[-1].support_vectors_) == stored
    assert tool("evaluate", tmp_path / "m", tmp_path / "a.csv") == 0


def test_a_column_of_text_is_text_in_every_file(frame, csv, tmp_path, capsys):
    trained(csv, tmp_path / "m")
    digits = frame[frame["code"] != "x"].reset_index(drop=True)
    path = written(digits, tmp_path / "digits.csv")
    assert read(path, categorical="auto").categorical == (0, 1)
    out = said(capsys, "predict", tmp_path / "m", path)
    assert out.split()[: len(digits)] == load(tmp_path / "m").predict(digits[NAMES]).tolist()
    numbers = written(digits.astype({"code": int}), tmp_path / "digits.parquet")
    assert said(capsys, "predict", tmp_path / "m", numbers) == out


def test_what_the_training_data_lack_is_named(frame, csv, tmp_path, capsys):
    trained(csv, tmp_path / "m")
    new = frame.head(4).assign(colour=["red", "violet", "violet", "pink"])
    path = written(new, tmp_path / "new.csv")
    lacking = "holds 2 categories that the training data lack, and counts as none: 'pink', 'violet'"
    warning = f"new.csv: column 'colour' {lacking}"
    for command in ("predict", "evaluate"):
        assert warning in said(capsys, command, tmp_path / "m", path)
    train = ["train", csv, "--categorical", "auto", "--model", tmp_path / "t", "--test", path, "--quiet"]
    assert warning in said(capsys, *train)
    np.savez(tmp_path / "a.npz", X=np.ones((3, 4)))
    for value, fault in (
        ("", "line 2: column 'size' holds '', a missing value: train --impute"),
        ("big", "column 'size' holds 'big', not a finite number"),
    ):
        (tmp_path / "new.csv").write_text(f"colour,town,size,code,label\nred,town 1,{value},x,no\n")
        assert fault in said(capsys, "predict", tmp_path / "m", path, status=1)
    shown = said(capsys, "predict", tmp_path / "m", tmp_path / "a.npz", status=1)
    assert "the model has text in features 0, 1, 3" in shown
    path = written(frame.assign(size="big"), tmp_path / "text.parquet")
    shown = said(capsys, "predict", tmp_path / "m", path, status=1)
    assert "column 'size' holds 'big', text, and the model expects numbers" in shown


@pytest.mark.parametrize("strategy", ["mean", "median", "most_frequent"])
@pytest.mark.parametrize("end", [".csv", ".arff", ".parquet"])
def test_missing_values_are_filled_in(strategy, end, frame, tmp_path, capsys):
    gaps = frame.copy()
    gaps.loc[3, "size"] = np.nan
    gaps.loc[[5, 6], "colour"] = None
    path = written(gaps, tmp_path / f"gaps{end}")
    options = ["--categorical", "auto", "--model", tmp_path / "m"]
    assert "train --impute" in said(capsys, "train", path, *options, status=1)
    model = trained(path, tmp_path / "m", "--impute", strategy, "--scale", "minmax")
    size = gaps["size"].dropna()
    value = {"mean": size.mean(), "median": size.median(), "most_frequent": size.mode().min()}[strategy]
    whole = gaps.fillna({"size": value, "colour": gaps["colour"].mode()[0]})
    filled = load(tmp_path / "m").predict(whole[NAMES])
    assert said(capsys, "predict", tmp_path / "m", path, "--quiet").split() == filled.tolist()
    assert model.predict(gaps[NAMES]).tolist() == filled.tolist()
    shown = said(capsys, "info", tmp_path / "m")
    assert strategy in shown
    assert "MinMaxScaler" in shown


def test_missing_numbers_need_no_encoder(tmp_path, capsys):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = (X[:, 0] > 0).astype(int)
    X[::7, 1] = np.nan
    np.savez(tmp_path / "a.npz", X=X, y=y)
    assert "train --impute" in said(capsys, "train", tmp_path / "a.npz", "--model", tmp_path / "m", status=1)
    said(capsys, "train", tmp_path / "a.npz", "--model", tmp_path / "m", "--impute", "mean")
    assert [name for name, _ in load(tmp_path / "m").steps] == ["impute", "svc"]
    assert "accuracy 9" in said(capsys, "predict", tmp_path / "m", tmp_path / "a.npz")
    assert "and here are SimpleImputer" in said(capsys, "convert", tmp_path / "m", tmp_path / "t", status=1)


def test_the_encoder_is_fitted_in_each_fold(frame, csv, tmp_path, capsys):
    shown = said(capsys, "train", csv, "--cv", "5", "--categorical", "auto", "--C", "10", "--quiet", "--json")
    assert json.loads(shown)["cross_validation"]["accuracy"] > 0.7
    rare = pd.concat([frame, frame.head(1).assign(town="nowhere")])  # in one fold only
    assert tool("train", written(rare, tmp_path / "r.csv"), "--cv", "5", "--categorical", "auto", "--quiet") == 0


def test_a_column_is_named_as_the_user_counts_it(frame, tmp_path, capsys):
    front = ["label", *frame.columns.drop("label")]
    trained(written(frame[front], tmp_path / "front.csv"), tmp_path / "m", "--label", "label")
    new = written(frame[front].head(4).assign(colour="violet"), tmp_path / "new.csv")
    assert "new.csv: column 'colour' holds a category" in said(capsys, "predict", tmp_path / "m", new)


def test_info_shows_what_was_encoded(csv, tmp_path, capsys):
    trained(csv, tmp_path / "m", "--scale", "standard")
    shown = said(capsys, "info", tmp_path / "m")
    rows = [" ".join(line.split()) for line in shown.splitlines()]
    assert "features 4 (46 after encoding)" in rows
    assert "encoded feature 0 (colour): 'green', 'light blue', 'red'" in rows
    assert "... 39 in all" in shown
    assert "label column 4 (label)" in rows
    assert "scaling StandardScaler" in rows
    found = json.loads(said(capsys, "info", tmp_path / "m", "--json"))
    assert found["features"] == 4
    assert found["encoded"][2] == {"feature": 3, "name": "code", "categories": ["1", "2", "x"]}
    assert "and here are ColumnTransformer" in said(capsys, "convert", tmp_path / "m", tmp_path / "t", status=1)


def test_info_shows_the_first_of_many_encoded_columns(tmp_path, capsys):
    rng = np.random.default_rng(0)
    genes = pd.DataFrame(rng.choice(list("ACGT"), (80, 30)), columns=[f"s{i}" for i in range(30)])
    genes["label"] = np.where(genes["s3"] == "A", "yes", "no")
    trained(written(genes, tmp_path / "genes.arff"), tmp_path / "m")
    shown = said(capsys, "info", tmp_path / "m")
    assert shown.count("'A', 'C', 'G', 'T'") == 10
    assert "... 30 features in all" in shown


def test_several_files_have_the_text_of_the_first(frame, csv, tmp_path):
    digits = written(frame[frame["code"] != "x"], tmp_path / "digits.csv")
    assert tool("train", csv, digits, "--model", tmp_path / "m", "--categorical", "auto", "--quiet") == 0


def test_names_are_no_categories(tmp_path, capsys):
    (tmp_path / "a.csv").write_text("".join(f"Mr {i},{i % 7},{i % 2}\n" for i in range(40)))
    shown = said(capsys, "train", tmp_path / "a.csv", "--model", tmp_path / "m", "--categorical", "auto")
    assert "column 0 holds 40 different texts in 40 rows, as names do: --drop leaves it out" in shown


def test_a_damaged_model_is_refused(frame, csv, tmp_path, capsys):
    texts = ["colour", "town", "code"]
    encoder = make_column_transformer((OneHotEncoder(), texts), remainder="passthrough")
    model = make_pipeline(encoder, adatron.SVC()).fit(frame[NAMES], frame["label"])
    model[0].transformers_[0] = (*model[0].transformers_[0][:2], [0, 7])
    adatron.save(model, tmp_path / "m")
    for command in (["predict", tmp_path / "m", csv], ["info", tmp_path / "m"]):
        assert "the model's ColumnTransformer has columns that are not there" in said(capsys, *command, status=1)
