"""One measurement in a process of its own: ``python -m benchmarks.cell SPECIFICATION``, both in JSON."""

from __future__ import annotations

import json
import signal
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from .datasets import CASES, family
from .libraries import LIBRARIES
from .quality import quality, support_vectors
from .yardstick import MEASURED_ROWS

LIMIT = 600  # Seconds after which a fit is cut off.
LONG = 20.0  # Seconds above which a fit is not repeated in a process.
SHORT = 0.5  # Seconds for which short fits are repeated.
MOST_REPETITIONS = 9  # Most such repetitions.
MADE = 4096  # Rows generated at a time.
PEAKS = Path("/proc/self/clear_refs")  # Only Linux has it; elsewhere the tables name no memory.


def fit(spec: dict[str, Any]) -> dict[str, Any]:
    """Make a first fit and, if it was not long, further ones; return memory and quality of the first."""
    library, case = LIBRARIES[spec["library"]], {**CASES, **MEASURED_ROWS}[spec["data"]]
    split = library.data(family(spec["rows"], spec["of"]) if "rows" in spec else case.load())
    if "first_rows" in spec:
        split = split._replace(X=split.X[: spec["first_rows"]], y=split.y[: spec["first_rows"]])
    result: dict[str, Any] = {"rows": split.X.shape[0], "features": split.X.shape[1], "X_bytes": _bytes(split.X)}
    parameters = {**case.parameters, **spec.get("parameters", {})}
    if parameters.get("gamma") == "scale":  # one number for every library and type
        parameters["gamma"] = float(1.0 / (split.X.shape[1] * np.var(split.X, dtype=np.float64)))
    make = partial(library.make, case.machine, case.one_vs_rest, **parameters)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = make()
        if PEAKS.exists():
            result["baseline"] = _memory("VmRSS")
            PEAKS.write_text("5")  # from here on VmHWM is the peak of the fit
        result["first"] = _limited(lambda: model.fit(split.X, split.y))
        if PEAKS.exists():
            result["peak"] = _memory("VmHWM")
        result["seconds"] = result["first"]
        if result["first"] < LONG:
            result["seconds"] = _repeated(lambda: make().fit(split.X, split.y))
    result["warnings"] = sorted({" ".join(str(w.message).split())[:200] for w in caught})
    if spec["measure"]:
        result |= quality(model, split.X, split.y, parameters, case.machine, case.one_vs_rest)._asdict()
        if split.X_test is not None:
            result["accuracy"] = float(model.score(split.X_test, split.y_test))
    return result


def predict(spec: dict[str, Any]) -> dict[str, Any]:
    """Predict the test samples (or the training samples): a first call, and three more."""
    library, case = LIBRARIES[spec["library"]], CASES[spec["data"]]
    split = library.data(case.load())
    X = split.X if split.X_test is None else split.X_test
    model = library.make(case.machine, case.one_vs_rest, **case.parameters)
    _limited(lambda: model.fit(split.X, split.y))
    result = {"rows": X.shape[0], "features": X.shape[1], "support_vectors": support_vectors(model)}
    return {**result, "first": _limited(lambda: model.predict(X)), "seconds": _repeated(lambda: model.predict(X))}


def many(spec: dict[str, Any]) -> dict[str, Any]:
    """Predict many float32 rows: memory beyond the rows and the result, and speed compared with a matrix product's."""
    n, d, m = spec["rows"], spec["features"], spec["vectors"]
    generator = np.random.default_rng(0)
    X = np.empty((n, d), np.float32)  # filled in place, so that only its own memory is there before the measurement
    for start in range(0, n, MADE):
        generator.standard_normal(dtype=np.float32, out=X[start : start + MADE])
    # With so small a C every sample is at its bound, a support vector.
    model = LIBRARIES[spec["library"]].make(C=1e-4, gamma=1.0 / d)
    vectors = generator.standard_normal((m, d), np.float32)
    model.fit(vectors, np.arange(m) % 2)
    model.predict(X[: min(n, MADE)])
    product = _product_rate(np.float32)
    result = {"rows": n, "features": d, "support_vectors": len(model.support_), "baseline": _memory("VmRSS")}
    PEAKS.write_text("5")
    result["seconds"] = _limited(lambda: model.predict(X))
    result["extra"] = _memory("VmHWM") - result["baseline"]
    result["rate"] = 2.0 * n * d * len(model.support_) / result["seconds"]
    result["gemm32"] = max(product, _product_rate(np.float32))
    return {**result, "share": result["rate"] / result["gemm32"]}


def rates(spec: dict[str, Any]) -> dict[str, Any]:
    """Return the machine's rates: operations of a matrix product (two per multiply-add) and exponentials, a second."""
    result: dict[str, Any] = {"gemm32": _product_rate(np.float32)}
    values = [np.full(1 << 15, -0.5, np.float32) for _ in range(spec["threads"])]
    outs = [np.empty_like(v) for v in values]
    with ThreadPoolExecutor(spec["threads"]) as pool:

        def all_exponentials() -> None:
            list(pool.map(lambda i: [np.exp(values[i], out=outs[i]) for _ in range(100)], range(len(values))))

        seconds = min(_seconds(all_exponentials) for _ in range(5))
    result["map"] = 100 * len(values) * (1 << 15) / seconds
    return result


def _product_rate(dtype: Any) -> float:
    """Return the operations a second of a matrix product."""
    A = np.ones((3000, 3000), dtype)
    return 2.0 * 3000**3 / min(_seconds(lambda: A @ A) for _ in range(5))


def _seconds(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _limited(work: Callable[[], Any]) -> float:
    """Return the seconds of some work; SIGALRM kills the process if they are too many, compiled code or not.

    Windows has no such signal: there only the process that waits for this one ends it.
    """
    if not hasattr(signal, "SIGALRM"):
        return _seconds(work)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(LIMIT)
    seconds = _seconds(work)
    signal.alarm(0)
    return seconds


def _repeated(work: Callable[[], Any]) -> float:
    """Return the median of as many repetitions as fit in half a second, at least one."""
    times = [_limited(work)]
    while len(times) < MOST_REPETITIONS and sum(times) < SHORT:
        times.append(_limited(work))
    return statistics.median(times)


def _memory(field: str) -> int:
    """Return bytes of this process."""
    status = Path("/proc/self/status").read_text()
    return 1024 * int(next(line for line in status.splitlines() if line.startswith(field)).split()[1])


def _bytes(X: Any) -> int:
    return X.nbytes if isinstance(X, np.ndarray) else X.data.nbytes + X.indices.nbytes + X.indptr.nbytes


TASKS = {"fit": fit, "predict": predict, "many": many, "rates": rates}

if __name__ == "__main__":
    specification = json.loads(sys.argv[1])
    json.dump(TASKS[specification["task"]](specification), sys.stdout)
