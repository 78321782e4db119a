"""An attribute that is computed once."""

from adatron.compiled.cache.uninterrupted import cached_property


class Counted:
    """Counts how often its attribute is computed."""

    calls = 0

    @cached_property
    def value(self):
        """The number of calls."""
        self.calls += 1
        return self.calls


def test_an_attribute_is_computed_when_it_is_first_asked_for():
    one, other = Counted(), Counted()
    assert one.calls == 0
    assert [one.value, one.value, other.value] == [1, 1, 1]
    assert vars(one)["value"] == 1
    del one.value  # then it is computed anew
    assert one.value == 2
