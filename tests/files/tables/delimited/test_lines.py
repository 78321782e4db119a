"""Lines of white space tables become records, of which a quote may join several."""

import csv

from hypothesis import example, given
from hypothesis import strategies as st

from adatron.files.tables.delimited import lines as module
from adatron.files.tables.delimited.lines import split_records
from moments import calls

LINES = st.lists(st.text('ab" ', max_size=8).map(lambda text: text + "\n"), max_size=6)


def outcome(work):
    try:
        return list(work())
    except csv.Error as error:
        return str(error)


def plainly(lines):
    """Each record is read anew whenever a line has come."""
    record = ""
    for line in lines:
        record += line
        fields = module._words(record)
        if fields and fields[-1][0] == '"' and fields[-1].count('"') % 2:
            continue
        yield [module._unquoted(field) for field in fields]
        record = ""
    if record:
        yield [module._unquoted(field) for field in module._words(record)]


@given(LINES)
@example(['a "b\n', '" "\n', 'c" d\n'])
@example(['"\n', '""\n', 'a"\n'])
@example(['"a\n', '" b"\n', "c\n"])
def test_quotes_join_lines_as_if_each_record_were_read_anew(lines):
    assert outcome(lambda: split_records(lines, " ")) == outcome(lambda: plainly(lines))


def test_a_quote_without_an_end_is_looked_at_once():
    for line in ("a b\n", 'a "" b\n', 'a" "b\n'):
        with calls(module._words) as seen:
            outcome(lambda line=line: split_records(['"\n', *[line] * 5000], " "))
        assert len(seen) <= 1 + 5000 * len(line) // csv.field_size_limit() + 1
