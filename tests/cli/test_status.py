"""Warnings on stderr."""

import warnings

import pytest

from adatron.cli.outputs import echo_rows, warnings_as_lines, write_result


def test_warnings_are_printed_at_once_by_the_filters_of_python(capsys):
    with warnings.catch_warnings():
        warnings.resetwarnings()
        warnings.filterwarnings("ignore", category=DeprecationWarning)
        with warnings_as_lines():
            for _ in range(2):
                warnings.warn("raise\nmax_time", UserWarning, stacklevel=1)
            assert capsys.readouterr().err == "warning: raise max_time\n"
            warnings.warn("old", DeprecationWarning, stacklevel=1)
            with warnings_as_lines(str):
                warnings.warn("column max_time", UserWarning, stacklevel=1)
    assert capsys.readouterr().err == "warning: column max_time\n"


@pytest.mark.parametrize("write", [lambda: write_result("{}", None), lambda: echo_rows([("a", 1)], err=False)])
def test_an_error_names_standard_output(write, monkeypatch):
    def full(*arguments, **keywords):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("sys.stdout.write", full)
    with pytest.raises(OSError, match="No space left") as caught:
        write()
    assert caught.value.filename == "standard output"
