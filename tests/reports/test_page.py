"""The page in a real browser: it opens, nothing is asked for, the console is silent, tables can be sorted."""

import pytest
from sklearn.datasets import load_iris, make_moons

import adatron
from browser import MISSING, Browser, found

pytestmark = pytest.mark.skipif(found() is None, reason=MISSING)
COLUMN = (
    "[...document.querySelectorAll('#panel-4 table')[1].tBodies[0].rows].map(row => Number(row.cells[{}].textContent))"
)
CLICK = "document.querySelectorAll('#panel-4 table')[1].tHead.rows[0].cells[{}].querySelector('button').click()"


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    X, y = make_moons(80, noise=0.25, random_state=0)
    target = tmp_path_factory.mktemp("report") / "fit.html"
    adatron.report(adatron.SVC(C=5).fit(X, y), X, y, X, y).save(target)
    return target


@pytest.fixture(scope="module")
def browser():
    with Browser() as writable:
        yield writable


@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_it_opens_in_any_window_and_asks_for_nothing(path, browser, width, dark):
    browser.open(path, width, dark=dark)
    assert browser.run("document.querySelectorAll('section').length") == 8
    assert browser.run("document.documentElement.scrollWidth <= window.innerWidth")
    assert browser.run("[...document.querySelectorAll('figure svg')].every(one => one.clientWidth > 200)")
    assert browser.requests() == [path.as_uri()]
    assert browser.complaints() == []
    ink = browser.run("getComputedStyle(document.querySelector('figure svg')).color")
    paper = browser.run("getComputedStyle(document.body).backgroundColor")
    light = [sum(map(int, one[4:-1].split(", "))) for one in (ink, paper)]
    assert (light[0] > light[1] + 300) is dark
    assert (light[1] > light[0] + 300) is not dark


def test_tables_can_be_sorted(path, browser):
    browser.open(path)
    column = 4  # the mean change
    browser.run(CLICK.format(column))
    ascending = browser.run(COLUMN.format(column))
    assert ascending == sorted(ascending)
    browser.run(CLICK.format(column))
    assert browser.run(COLUMN.format(column)) == ascending[::-1]
    head = "document.querySelectorAll('#panel-4 th[aria-sort]').length"
    assert browser.run(head) == 1
    browser.run(CLICK.format(0))
    assert browser.run(head) == 1
    assert browser.complaints() == []


@pytest.mark.slow
def test_a_small_set_fits_on_three_screens_in_two_columns(browser, tmp_path):
    frame, y = load_iris(return_X_y=True, as_frame=True)
    adatron.report(adatron.SVC().fit(frame, y), frame, y).save(target := tmp_path / "iris.html")
    browser.open(target)
    assert browser.run("document.documentElement.scrollHeight") <= 3000
    lefts = browser.run(
        "[...document.querySelectorAll('section')].map(one => Math.round(one.getBoundingClientRect().left))"
    )
    assert len(set(lefts)) == 2
    tops = browser.run("[...document.querySelectorAll('.answers li')].map(one => one.getBoundingClientRect().top)")
    assert [tops.count(top) for top in sorted(set(tops))] == [4, 4]  # no tile is empty
    browser.resize(400)
    lefts = browser.run("[...document.querySelectorAll('section')].map(one => one.getBoundingClientRect().left)")
    assert len(set(lefts)) == 1


def test_a_printed_page_shows_what_is_folded(path, browser):
    browser.open(path)
    assert browser.run("document.querySelectorAll('details:not([open])').length") > 0
    browser.run("dispatchEvent(new Event('beforeprint'))")
    assert browser.run("document.querySelectorAll('details:not([open])').length") == 0
