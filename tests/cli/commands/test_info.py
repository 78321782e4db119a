"""What the tool says of an installation and of a model."""

from adatron.cli import main


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


def test_info_shows_no_spelling_of_a_default(model, capsys):
    assert main(["info", str(model)]) == 0
    rows = dict(row.split(None, 1) for row in capsys.readouterr().out.splitlines() if len(row.split()) > 1)
    assert rows["probability"] == "False"
    assert main(["info", str(model), "--json"]) == 0
    assert '"probability": false' in capsys.readouterr().out
