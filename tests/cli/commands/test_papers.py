"""The papers without their data."""

import pytest

from adatron import papers
from adatron.cli import main
from adatron.papers import introduction
from lines import failed


@pytest.mark.parametrize("names", [[], ["isda"], ["akaho", "svmseq"]])
def test_missing_data_are_said_before_anything_else(names, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("ADATRON_DATA", str(tmp_path))
    assert main(["papers", *names]) == 4
    said = failed(capsys)
    assert f"ADATRON_DATA names the folder {tmp_path}, which lacks" in said
    assert "train-images-idx3-ubyte.gz" in said
    assert "need no data: handbook, akaho" in said


def test_without_a_folder_the_variable_is_named(tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("ADATRON_DATA", raising=False)
    monkeypatch.chdir(tmp_path)
    assert main(["papers", "kernel_adatron"]) == 4
    said = failed(capsys)
    assert "set ADATRON_DATA to a folder with sonar.mines, sonar.rocks (UCI" in said
    assert "../shared" not in said


def test_a_paper_opens_with_its_introduction(monkeypatch, capsys):
    monkeypatch.setattr(papers, "reproduce", lambda *_: iter(()))
    assert main(["papers", "handbook"]) == 0
    assert capsys.readouterr().out.partition("\n\n")[2].startswith(introduction("handbook"))
