"""Where a file is tested: its own path in ``tests``, or in the file that a table names."""

import ast
import re
from pathlib import Path

import adatron

ROOT = Path(adatron.__file__).parent
TESTS = Path(__file__).parents[1]
APART = ("compat", "whole", "twins", "toys")  # scikit-learn's own tests, those of several folders, and their helpers
OWN = [path for path in sorted(TESTS.rglob("test_*.py")) if path.relative_to(TESTS).parts[0] not in APART]
FILES = [path.relative_to(ROOT).with_suffix("") for path in sorted(ROOT.rglob("*.py")) if path.name != "__init__.py"]

# Files without tests of their own name, by the tests that would fail if they were wrong. A name without a folder is one
# of the folder that the tests mirror.
TESTED_IN = {
    "cli/commands/test_info_doctor.py": "cli/installation",
    "cli/commands/test_evaluate.py": "cli/scores",
    "cli/commands/test_search.py": "cli/searched",
    "cli/commands/test_stream.py": "cli/streams/follower estimators/incremental/steps",
    "cli/commands/test_stream_inputs.py": "cli/streams/inputs",
    "cli/commands/test_train_tasks.py": "cli/preparing/training",
    "cli/test_cli_models.py": "report",
    "cli/test_progress_interrupt.py": "fit cli/commands/warmup __main__",
    "compiled/cache/test_folder.py": "trust",
    "compiled/test_panels.py": "micro",
    "dask/test_fetched.py": "gram/elsewhere",
    "dask/test_machine.py": "gradient slab state",
    "devices/test_cuda_tiles.py": "plain steps tiles",
    "devices/test_nvrtc.py": "structures",
    "estimators/base/test_attributes.py": "model/sound",
    "estimators/base/test_machine.py": "classifier one_program parameters regressor",
    "estimators/test_svdd.py": "estimators/base/novelty",
    "estimators/checks/test_columns.py": "objects",
    "estimators/checks/test_inputs.py": "fitting/storage",
    "estimators/incremental/test_c_path.py": "track",
    "estimators/incremental/test_learner.py": "classifier machine novelty nusvc oneclass report svc svdd svr",
    "estimators/incremental/test_learner_failures.py": "store estimators/base/convergence compiled/cache/uninterrupted",
    "estimators/input_space/test_svc.py": "margins/hyperplane margins/tilted margins/worth "
    "margins/algorithm model/tilted",
    "estimators/input_space/test_measure.py": "affine",
    "estimators/forms/test_way.py": "taken",
    "files/models/test_codec.py": "own_values",
    "files/models/test_libsvm_text.py": "estimators/forms/adopt",
    "files/models/test_model.py": "keeper",
    "files/onnx/test_converter.py": "onnx",
    "files/onnx/test_export.py": "decisions functions graph kernels network",
    "files/tables/delimited/test_read.py": "dialect lines",
    "files/tables/test_memory.py": "files/source",
    "files/tables/test_readers.py": "cells files/table",
    "files/tables/test_readers_formats.py": "arrays parquet",
    "fitting/test_layout.py": "gram/between_classes fits",
    "fitting/test_samples.py": "binary",
    "estimators/base/test_probability.py": "fitting/folds",
    "gram/test_errors.py": "compiled/precision",
    "gram/test_gram.py": "points source square sums view gram/backends/given gram/backends/row_store",
    "compiled/cache/test_pointer.py": "gram/backends/tile_loop",
    "insight/test_deletion.py": "labels leave_one_out twin",
    "insight/test_plane.py": "sensitivity",
    "plots/test_sensitivity.py": "insight/names",
    "kernels/test_kernels.py": "base compose derivatives exponential function given laplacian linear polynomial "
    "precomputed rbf sigmoid",
    "margins/test_nearest.py": "certified crossings field metric projection",
    "papers/test_kernel_adatron.py": "data",
    "plots/test_axes.py": "influence labels leave_one_out",
    "model/test_model.py": "expansion function",
    "reports/test_report.py": "facts parts reports/panels/boundary reports/panels/chosen "
    "reports/panels/deciding reports/panels/features reports/panels/good reports/panels/optimal reports/panels/robust "
    "reports/panels/suspicious",
    "selection/search/test_grid.py": "cells evaluate programs rows scoring solve",
    "selection/test_kernel_path.py": "gaussians gram/gaussian_rows",
    "solvers/blocks/test_block.py": "gradient solvers/tasks solvers/watch",
    "solvers/blocks/test_shard.py": "compiled/scan",
    "solvers/device/test_place.py": "fitting/placing",
    "solvers/device/test_solve.py": "parts",
    "solvers/dense/test_pairs.py": "singles",
    "solvers/linalg/test_factor.py": "newton_system",
    "solvers/path/test_path.py": "rows state step",
    "solvers/test_chains.py": "fitting/problems",
    "solvers/test_loop.py": "solution status",
    "solvers/test_table.py": "ascent base start solvers/classic/active solvers/classic/decomposition "
    "solvers/classic/isda solvers/classic/kernel_adatron solvers/classic/secant solvers/classic/smo "
    "solvers/classic/svmseq",
    "solvers/small/test_many.py": "arranged bundle chain rounds solvers/found solvers/plan solvers/route gram/shared",
    "solvers/small/test_one.py": "solvers/dense/inner solvers/dense/layout",
    "whole/test_family.py": "estimators/nusvc estimators/nusvr estimators/oneclass estimators/svr",
    "whole/test_truth.py": "solvers/units gram/symmetry",
    "whole/test_warnings.py": "estimators/base/quiet",
}


def table_rows():
    """Each file of the table and where it is tested."""
    for test, names in TESTED_IN.items():
        for name in names.split():
            beside = Path(test).parent / name
            yield (beside if beside in FILES else Path(name)), test


def has_tests_of_its_name(path):
    """Whether tests bear the name of a file, or of its folder, beside the folder."""
    named = (path, path.parent) if path.parent.name else (path,)
    return any(any((TESTS / one.parent).glob(f"test_{one.name}{end}.py")) for one in named for end in ("", "_*"))


def mentioned(path, text):
    """Whether a test names a file, or one of the file's public names."""
    named = {path.name, *defined(path)}
    return re.search(rf"\b({'|'.join(sorted(named))})\b", text) is not None


def defined(path):
    """The public names of a file."""
    for node in ast.parse((ROOT / path).with_suffix(".py").read_text()).body:
        targets = getattr(node, "targets", None) or [getattr(node, "target", node)]
        names = (getattr(one, "name", getattr(one, "id", "_")) for one in targets)
        yield from (name for name in names if not name.startswith("_") and len(name) > 2)


def test_every_folder_of_tests_is_one_of_the_package():
    folders = [path.relative_to(TESTS) for path in TESTS.rglob("*") if path.is_dir() and path.name != "__pycache__"]
    assert [str(path) for path in folders if path.parts[0] not in APART and not (ROOT / path).is_dir()] == []


def test_a_test_is_found_by_the_path_of_its_file():
    """tests/<folder>/test_<name>[_<what>].py tests <name>.py or <name>/ of that folder, or the folder itself."""
    lost = []
    for path in OWN:
        folder = ROOT / path.relative_to(TESTS).parent
        names = {one.stem for one in folder.iterdir()} | {folder.name} if folder.is_dir() else set()
        if not any(f"{path.stem}_".startswith(f"test_{name}_") for name in names):
            lost.append(str(path.relative_to(TESTS)))
    assert lost == []


def test_every_file_is_tested_where_its_path_or_the_table_says():
    known = {path for path, _ in table_rows()}
    assert [str(path) for path in FILES if path not in known and not has_tests_of_its_name(path)] == []


def test_the_table_names_files_and_tests_that_know_them():
    listed = [path for path, _ in table_rows()]
    assert sorted({str(path) for path in listed if listed.count(path) > 1}) == []
    assert [str(path) for path in listed if path not in FILES or has_tests_of_its_name(path)] == []
    texts = {test: (TESTS / test).read_text() for test in TESTED_IN}
    assert [f"{path} in {test}" for path, test in table_rows() if not mentioned(path, texts[test])] == []


def test_contributing_names_files_that_are_there():
    text = (TESTS.parent / "CONTRIBUTING.md").read_text()
    named = set(
        re.findall(r"`((?:tests|docs|benchmarks|scripts|examples|constraints)?[a-z_0-9/]+\.(?:py|md|txt))`", text)
    )
    roots = (ROOT, TESTS.parent, TESTS.parent / "src")
    assert sorted(one for one in named if not any((root / one).exists() for root in roots)) == ["quantile.py"]  # a toy
    for table, file in re.findall(r"`([A-Z]+)`(?: in| of)\s+`([a-z_/]+\.py)`", text):
        assert re.search(rf"^{table}\b", (ROOT / file).read_text(), re.MULTILINE), (table, file)
