"""The picture of a plane names what is seen in it."""

from dataclasses import replace

import pytest
from sklearn.datasets import load_iris

from adatron import SVC
from adatron.insight import boundary_plane
from adatron.plots import BoundaryPlaneDisplay

pytest.importorskip("matplotlib")


@pytest.mark.parametrize(("part", "seen"), [(0.5, True), (1e-3, False)])
def test_a_circle_that_a_mark_hides_is_not_in_the_legend(part, seen):
    X, y = load_iris(return_X_y=True)
    model = SVC(C=10).fit(X, y)
    plane = boundary_plane(model, X, y)
    width = plane.grid[0][-1] - plane.grid[0][0]
    display = BoundaryPlaneDisplay.of(replace(plane, certified=part * width), model, y).plot()
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert ("proven: no change inside" in texts) is seen
    order = {line.get_label(): line.get_zorder() for line in display.ax_.get_lines()}
    assert order[f"row {plane.numbers[0]}"] > order["nearest boundary point"]
