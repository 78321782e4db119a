"""A fit goes on from its checkpoint, with the bits of a fit that was never stopped."""

import numpy as np
import pytest

from adatron import dask as ad
from adatron.dask.checkpoint import Checkpoint
from clusters import alone, bits, blobs

X, Y = blobs(3000, 10)
Y = np.where(np.arange(len(Y)) % 7 == 0, 1 - Y, Y)
FEW, SOME = X[:1600], Y[:1600]
ARRAYS = [np.array([1.5, -0.0, np.inf]), np.arange(4)]
PROGRAMS = {
    "blocks": ("SVC", X, Y, {"C": 10.0}),
    "Newton steps": ("SVC", X, Y, {"C": 100.0, "gap_tol": 1e-6}),
    "parts": ("SVC", FEW, SOME, {"cache_size": 0.3}),
    "several problems": ("SVC", FEW, np.where(FEW[:, 3] > 0.5, 2, SOME), {"cache_size": 0.6}),
    "regression": ("SVR", X, np.sin(X[:, 0]), {"C": 10.0}),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_stopped_fit_goes_on(client, tmp_path, name):
    machine, rows, y, parameters = PROGRAMS[name]
    path = tmp_path / "fit"

    def stop(_):
        raise RuntimeError("no more")

    kind = getattr(ad, f"Dask{machine}")
    with pytest.raises(RuntimeError, match="no more"):
        kind(**parameters, checkpoint=path, callback=stop).fit(rows, y)
    assert path.stat().st_size > 1000
    model = kind(**parameters, checkpoint=path).fit(rows, y)
    assert bits(model) == alone(machine, rows, y, **parameters)
    assert not path.exists()
    assert not hasattr(model.to_local(), "checkpoint")


def test_a_checkpoint_belongs_to_a_training_set_and_parameters(client, tmp_path):
    path = tmp_path / "fit"
    with pytest.warns(UserWarning, match="max_iter"):
        ad.DaskSVC(max_iter=2000, checkpoint=path).fit(X, Y)
    assert path.exists()
    for parameters, rows in (({"C": 2.0}, X), ({}, X + 1.0)):
        with pytest.raises(ValueError, match="the file of another fit"):
            ad.DaskSVC(**parameters, max_iter=2000, checkpoint=path).fit(rows, Y)
    same = {"break_ties": True, "random_state": np.random.RandomState(0), "shrinking": False}
    with pytest.warns(UserWarning, match="max_iter"):  # these change no bit, and it goes on from the file
        ad.DaskSVC(**same, max_iter=2000, checkpoint=path).fit(X, Y)


def test_rows_without_weight_that_change_a_number_of_the_program_make_another_fit(client, tmp_path):
    y = np.where(np.arange(len(Y)) % 10 == 0, 2, Y)
    model = ad.DaskSVC(class_weight={2: 0.0}, gamma=0.1, bias="augmented", augment="auto", max_iter=2000)
    model.set_params(checkpoint=tmp_path / "fit")
    with pytest.warns(UserWarning, match="max_iter"):
        model.fit(X, y)
    with pytest.raises(ValueError, match="the file of another fit"):
        model.fit(np.where((y == 2)[:, None], 9.0 * X, X), y)


def test_a_damaged_end_is_left_out(tmp_path):
    path = tmp_path / "file"
    with Checkpoint(path, "ab") as file:
        stream = file.stream("program", 1)
        for number in range(3):
            stream.put(b"s", number, number, ARRAYS)
    whole = path.read_bytes()
    for size in range(len(whole) - 1, 0, -1):
        path.write_bytes(whole[:size])
        with Checkpoint(path, "ab") as file:
            stream = file.stream("program", 1)
            found = [stream.get(b"s", number) for number in range(3)]
            assert found[2] is None
            assert all(one is None or [a.tobytes() for a in one] == [a.tobytes() for a in ARRAYS] for one in found)
            assert stream.reach == sum(one is not None for one in found) - 1
            stream.put(b"s", 9, 9, ARRAYS)
        with Checkpoint(path, "ab") as file:
            assert file.stream("program", 1).reach == 9


def test_changed_bytes_are_never_taken(tmp_path):
    path, rng = tmp_path / "file", np.random.default_rng(0)
    with Checkpoint(path, "ab") as file:
        file.stream("program").put(b"s", 1, 1, ARRAYS)
    whole = path.read_bytes()
    for at in rng.integers(len(b"adatron-checkpoint 1 ab\n"), len(whole), 40):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x41]) + whole[at + 1 :])
        with Checkpoint(path, "ab") as file:
            assert file.stream("program").get(b"s", 1) is None


def test_other_files_are_refused(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"some text that somebody needs")
    with pytest.raises(ValueError, match="the file of something else"):
        Checkpoint(path, "ab")
    assert path.read_bytes() == b"some text that somebody needs"
    path.unlink()
    with Checkpoint(path, "ab"), pytest.raises(ValueError, match="another fit is using"):
        Checkpoint(path, "ab")
    with pytest.raises(ValueError, match="the file of another fit"):
        Checkpoint(path, "cd")


def test_programs_that_are_alike_have_their_own_records(tmp_path):
    with Checkpoint(tmp_path / "file", "ab") as file:
        one, two = file.stream("program"), file.stream("program")
        one.put(b"s", 1, 1, ARRAYS)
        assert two.get(b"s", 1) is None
        assert one.get(b"s", 1) is not None
