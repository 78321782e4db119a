"""What the tool says of an installation and of a model."""

from adatron.cli import main
from lines import told


def test_info_shows_the_installation_and_a_model(model, capsys):
    out, err = told(capsys, ["info"])
    assert err == ""
    assert {"adatron", "numba", "numpy", "threads", "cache folder"} <= {
        row.partition("  ")[0] for row in out.splitlines()
    }
    out = told(capsys, ["info", str(model)]).out
    for wanted in ("blue, green, red", "support vectors", "relative duality gap", "cache_size"):
        assert wanted in out


def test_info_shows_no_spelling_of_a_default(model, capsys):
    assert main(["info", str(model)]) == 0
    rows = dict(row.split(None, 1) for row in capsys.readouterr().out.splitlines() if len(row.split()) > 1)
    assert rows["probability"] == "False"
    assert '"probability": false' in told(capsys, ["info", str(model), "--json"]).out
