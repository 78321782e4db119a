"""Warnings on stderr."""

import warnings

from adatron.cli.status import warnings_as_lines


def test_warnings_are_printed_at_once_by_the_filters_of_python(capsys):
    with warnings.catch_warnings():
        warnings.resetwarnings()
        warnings.filterwarnings("ignore", category=DeprecationWarning)
        with warnings_as_lines():
            for _ in range(2):
                warnings.warn("raise\nmax_time", UserWarning, stacklevel=1)
            assert capsys.readouterr().err == "warning: raise --max-time\n"
            warnings.warn("old", DeprecationWarning, stacklevel=1)
            with warnings_as_lines(str):
                warnings.warn("column max_time", UserWarning, stacklevel=1)
    assert capsys.readouterr().err == "warning: column max_time\n"
