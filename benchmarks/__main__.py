"""The command: it chooses the cells of each table."""

from __future__ import annotations

import json
from pathlib import Path
from time import monotonic
from typing import Any

import click
import numpy as np

from . import tables
from .cells import run, threads
from .clusters.command import dask
from .datasets import CASES, DATA
from .facts import write as facts
from .libraries import CACHE, LIBRARIES
from .yardstick import MEASURED_ROWS

REPEATS = 3  # Processes of a cell; medians are shown.
GAP = 1e-6  # Relative gap of the certified fits.
WIDEST_CELL = {"rows": 1_000_000, "features": 784, "vectors": 10_000}
GROWTH, SHARE = 500e6, 0.5  # Wanted for the prediction of many rows: bytes, and fraction of a matrix product's rate.
QUICK = ("10,000 x 16, 26 classes", "10,000 x 100", "12,000 x 22, noisy", "20,000 x 20, C 1", "moons 20,000")
PICTURED = (  # Sets of the short picture: all kinds and sizes, the least favourable ratio among them.
    "heart_scale", "USPS", "10,000 x 16, 26 classes", "12,000 x 784", "20,000 x 20, C 100", "cal.housing, regression",
    "a9a", "ijcnn1", "MNIST", "moons 200,000",
)  # fmt: skip
FIRST_USES = ("fit", "small fit", "search", "train", "warmup")
UNLIMITED = 1e4  # Minutes of an attack that ends after a number of programs.
LONG = 60.0  # Seconds from which on a fit is measured once.
SCALING_ROWS = (2_000, 4_000, 8_000, 16_000, 32_000, 64_000)
SCALING_DATA, SCALING_FROM = "20,000 x 20, C 1", 8_000
TIMES = [("data", "data", "name"), ("library", "library", "name"), ("threads", "threads", "name"),
         ("seconds", "seconds", "time"), ("/ adatron", "ratio", "ratio"), ("first call", "first", "time")]  # fmt: skip
PROOF = [("dual objective", "dual_objective", "objective"), ("KKT violation", "kkt_violation", "small"),
         ("relative gap", "relative_gap", "small"), ("SVs", "support_vectors", "count")]  # fmt: skip
PEAK = ("peak MB", "extra", "MB")

ResultRows = list[dict[str, Any]]


data_option = click.option(
    "--data", multiple=True, type=click.Choice(list(CASES)), help="Data sets.  [default: all but the largest]"
)
library_option = click.option(
    "--library", multiple=True, type=click.Choice(list(LIBRARIES)), default=list(LIBRARIES), help="Libraries."
)
output_option = click.option(  # published results are overwritten on request only
    "--output",
    type=click.Path(path_type=Path),
    default=Path(__file__).parent / "own",
    help="Folder.  [default: benchmarks/own]",
)


def options(command: Any) -> Any:
    """Add the options of every task."""
    return output_option(click.option("--fresh", is_flag=True, help="Measure again what is on disk.")(command))


def measured(task: str, data: tuple[str, ...], library: tuple[str, ...], fresh: bool, **more: Any) -> ResultRows:
    """Return a row for each data set and library: the libraries take turns, a long cell runs once."""
    rows = []
    for name in data or [name for name, case in CASES.items() if not case.large]:
        common = {"task": task, "data": name, "measure": True, **more}
        specs = [{**common, "library": one} for one in library]
        cells = [[cell] for cell in run(specs, fresh)]
        for repeat in range(1, REPEATS):
            short = [k for k, (cell, *_) in enumerate(cells) if "failed" not in cell and cell["seconds"] < LONG]
            again = [{**specs[k], "measure": False, "repeat": repeat} for k in short]
            for k, cell in zip(short, run(again, fresh), strict=True):
                cells[k].append(cell)
        for spec, own in zip(specs, cells, strict=True):
            used = LIBRARIES[spec["library"]].threads
            count = spec.get("parameters", {}).get("n_jobs") or (threads() if used == "all" else used)
            rows.append({**spec, **tables.combined(own), "threads": count})
            if "peak" in rows[-1]:
                rows[-1]["extra"] = rows[-1]["peak"] - rows[-1]["baseline"]
    return tables.with_ratios(rows)


def measured_rates() -> dict[str, float]:
    """Return the present rates of the machine."""
    return run([{"task": "rates", "threads": threads()}], fresh=True)[0]


def add_floors(rows: ResultRows, rates: dict[str, float]) -> None:
    """Add to rows of adatron that say how many products they need the seconds these products take at least."""
    for row in rows:
        if row["library"] == "adatron" and "products" in row:
            row["floor"] = tables.floor(row, rates)


def _at_the_speed_of(rates: dict[str, float]) -> str:
    return (
        f"at the speed of a matrix product ({rates['gemm32'] / 1e9:.0f} GFLOP/s in float32) and one exponential each "
        f"({rates['map'] / 1e9:.2f}e9/s)"
    )


@click.group()
def main() -> None:
    """Measure adatron and its peers; tables, JSON and plots go to benchmarks/own, those published are in results."""


@main.command()
@data_option
@library_option
@click.option("--quick", is_flag=True, help="Five minutes: made data, and the libraries that are installed.")
@options
def fit(data: tuple[str, ...], library: tuple[str, ...], quick: bool, fresh: bool, output: Path) -> None:
    """Measure the time, certificate, accuracy and memory of a fit to tol 1e-3."""
    if quick:
        data = data or QUICK
        library = tuple(one for one in library if LIBRARIES[one].installed)
    rates, rows = measured_rates(), measured("fit", data, library, fresh)
    add_floors(rows, rates)
    notes = (
        f"RBF kernel, tol 1e-3, cache_size {CACHE}. Seconds are medians of three processes, the libraries in turn, in "
        "each the fits after the first one, or the first one if it took more than 20 s. A fit of more than a minute is "
        "measured once, one of more than 600 s is cut off (≥). The first call is the first fit of a process. "
        "Objective, violation and gap are recomputed in float64 from the model's coefficients. The floor is what the "
        f"products of all support vectors with all samples take {_at_the_speed_of(rates)}, "
        "without any certificate. Peak is the memory of the process beyond what it had before the fit."
    )
    columns = [*TIMES, ("floor", "floor", "time"), *PROOF, ("accuracy %", "accuracy", "percent"), PEAK]
    click.echo(tables.write(output, "fit", notes, rows, columns))
    _draw_fits(output, rows)
    click.echo(f"The picture is {output / 'fit.png'}; benchmarks/README.md says how to send table and picture.")


@main.command()
@output_option
def picture(output: Path) -> None:
    """Draw the pictures of the fits in fit.json anew."""
    _draw_fits(output, json.loads((output / "fit.json").read_text())["rows"])


def _draw_fits(output: Path, rows: ResultRows) -> None:
    """Draw fit.png; after a measurement of all sets it shows some of them, and fit-all.png shows all."""
    whole = {row["data"] for row in rows}.issuperset(PICTURED)
    tables.plot(output, "fit", rows, PICTURED if whole else ())
    if whole:
        tables.plot(output, "fit-all", rows)


@main.command()
@data_option
@library_option
@click.option("--rows", type=int, default=WIDEST_CELL["rows"], show_default=True, help="Rows of the line of many rows.")
@click.option("--vectors", type=int, default=WIDEST_CELL["vectors"], show_default=True, help="Its support vectors.")
@click.option("--many-only", is_flag=True, help="Only the line of many rows.")
@options
def predict(
    data: tuple[str, ...], library: tuple[str, ...], rows: int, vectors: int, many_only: bool, fresh: bool, output: Path
) -> None:
    """Measure the time to predict the test samples, and memory and speed for many rows (unless --data is given)."""
    if not many_only:
        _test_samples(data, library, fresh, output)
    if many_only or not data:
        _many_rows({**WIDEST_CELL, "rows": rows, "vectors": vectors}, fresh, output)


def _many_rows(sizes: dict[str, int], fresh: bool, output: Path) -> None:
    (row,) = run([{"task": "many", "library": "adatron", **sizes}], fresh)
    if "failed" in row:
        raise click.ClickException(row["failed"])
    for key in ("rate", "gemm32"):
        row[f"{key}_G"] = round(row[key] / 1e9)
    notes = (
        "Two classes of float32 rows that are in memory before, RBF kernel. Growth is the peak of the process beyond "
        f"what it had before the prediction (allowed: {GROWTH / 1e6:.0f} MB). The rate is 2 x rows x features x SVs "
        "operations by the time of predict, beside that of a float32 matrix product (3,000 x 3,000) in the same "
        f"process (wanted: {SHARE})."
    )
    columns = [("rows", "rows", "count"), ("features", "features", "count"), ("SVs", "support_vectors", "count"),
               ("seconds", "seconds", "time"), ("growth MB", "extra", "MB"), ("GFLOP/s", "rate_G", "count"),
               ("matrix product", "gemm32_G", "count"), ("share %", "share", "percent")]  # fmt: skip
    click.echo(tables.write(output, "predict-many", notes, [{"library": "adatron", **row}], columns))
    if not (row.get("extra", np.inf) < GROWTH and row.get("share", 0.0) >= SHARE):
        raise click.ClickException("the prediction of many rows grew too much or was too slow")


def _test_samples(data: tuple[str, ...], library: tuple[str, ...], fresh: bool, output: Path) -> None:
    rates, rows = measured_rates(), measured("predict", data, library, fresh)
    for row in (row for row in rows if "seconds" in row):
        row["products"] = row["rows"] * row["support_vectors"]
    add_floors(rows, rates)
    notes = (
        "Classes of the test samples, or of the training samples where there are none; medians as for fit. The floor "
        f"is what the products of all support vectors with these take {_at_the_speed_of(rates)}."
    )
    columns = [*TIMES, ("floor", "floor", "time"), ("samples", "rows", "count"), ("SVs", "support_vectors", "count")]
    click.echo(tables.write(output, "predict", notes, rows, columns))


@main.command()
@data_option
@library_option
@options
def memory(data: tuple[str, ...], library: tuple[str, ...], fresh: bool, output: Path) -> None:
    """Measure the peak memory of a fit beyond what the process had before it."""
    rows = measured("fit", data or ("MNIST",), library, fresh)
    for row in (row for row in rows if "peak" in row):
        row["allowed"] = 4 * row["rows"] * row["features"] + (CACHE + 300) * 1e6
    notes = f"Beyond the imported library and X: allowed are one float32 copy, cache_size ({CACHE} MB) and 300 MB."
    columns = [*TIMES[:2], ("X MB", "X_bytes", "MB"), ("baseline MB", "baseline", "MB"), ("peak MB", "peak", "MB"),
               ("peak - baseline", "extra", "MB"), ("allowed", "allowed", "MB")]  # fmt: skip
    click.echo(tables.write(output, "memory", notes, rows, columns))


@main.command()
@library_option
@options
def scaling(library: tuple[str, ...], fresh: bool, output: Path) -> None:
    """Measure time and memory by number of samples, with exponents, and by number of threads; C = 1."""
    rows: ResultRows = []
    counts = sorted({1, 2, threads()})
    for n in SCALING_ROWS:
        own: ResultRows = []
        size = {"rows": n, "of": SCALING_ROWS[-1]}
        for count in counts:
            own += measured("fit", (SCALING_DATA,), ("adatron",), fresh, **size, parameters={"n_jobs": count})
        peers = tuple(one for one in library if one != "adatron")
        both = own + measured("fit", (SCALING_DATA,), peers, fresh, **size)
        fastest = own[-1].get("seconds", 0.0)
        rows += [{**row, "data": f"{n:,} x 20", "ratio": row["seconds"] / fastest} for row in both if "seconds" in row]
    notes = (
        f"The first n rows of {SCALING_ROWS[-1]:,} made as the 20,000 x 20 family, C 1; adatron with 1, 2 and all "
        f"threads. Exponents of n from {SCALING_FROM:,} on: {_exponents(rows)}."
    )
    click.echo(tables.write(output, "scaling", notes, rows, [*TIMES, *PROOF, PEAK]))


def _exponents(rows: ResultRows) -> str:
    """Return the slopes of time and of memory over the number of samples, on logarithmic scales."""
    found = []
    for library, count in dict.fromkeys((row["library"], row["threads"]) for row in rows):
        same = (r for r in rows if (r["library"], r["threads"]) == (library, count) and "extra" in r)
        own = [r for r in same if r["rows"] >= SCALING_FROM and not r.get("cut")]
        if len(own) < 2:
            continue
        n = np.log([row["rows"] for row in own])
        time, memory = (float(np.polyfit(n, np.log([row[key] for row in own]), 1)[0]) for key in ("seconds", "extra"))
        unit = "thread" if str(count) == "1" else "threads"
        found.append(f"{library} ({count} {unit}) time {time:.2f}, memory {memory:.2f}")
    return "; ".join(found)


@main.command()
@data_option
@options
def certify(data: tuple[str, ...], fresh: bool, output: Path) -> None:
    """Measure the time to a certified relative gap of 1e-6, the gap recomputed."""
    loose = measured("fit", data, ("adatron",), fresh)
    rows = measured("fit", data, ("adatron",), fresh, parameters={"gap_tol": GAP})
    for row, other in zip(rows, loose, strict=True):
        if "seconds" in row and "seconds" in other:
            row["ratio"] = row["seconds"] / other["seconds"]
    notes = "adatron with gap_tol 1e-6; the ratio is to its time with tol 1e-3 alone."
    columns = [("/ tol 1e-3" if key == "ratio" else heading, key, kind) for heading, key, kind in TIMES]
    click.echo(tables.write(output, "certify", notes, rows, [*columns, *PROOF]))
    wrong = [row["data"] for row in rows if not row.get("relative_gap", np.inf) <= GAP * (1.0 + 1e-6)]
    if wrong:
        raise click.ClickException(f"no relative gap below {GAP} was recomputed for {', '.join(wrong)}")


@main.command()
@options
def margins(fresh: bool, output: Path) -> None:
    """Measure accuracy, distances and certificates of SVC and InputMarginSVC, and their accuracy under an attack."""
    from .margins import rows

    notes = (
        "SVC against InputMarginSVC with the same C and gamma; the test samples (at most 300). Distance and certified "
        "are means over the samples that are right. Attacked: the part of all that is right and stays so under the "
        "attack of `benchmarks/margins.py` within the median distance of the SVC's right samples; proven: the same by "
        "the certificates. Nearer: samples for which the attack found a point that is nearer than our projection; "
        "violations: nearer than our certificate (must be 0). Seconds: the shortest of three fits in a row."
    )
    table = list(rows(3))
    columns = [("data", "data", "name"), ("machine", "machine", "name"), ("seconds", "seconds", "time"),
               ("/ SVC", "ratio", "ratio"), ("accuracy %", "accuracy", "percent"),
               ("distance", "distance", "objective"),
               ("certified", "certified", "objective"), ("converged %", "converged", "percent"),
               ("attacked %", "attacked", "percent"), ("proven %", "proven", "percent"),
               ("nearer", "nearer", "count"), ("violations", "violations", "count")]  # fmt: skip
    click.echo(tables.write(output, "margins", notes, table, columns))
    if any(row["violations"] for row in table):
        raise click.ClickException("the attack found a point nearer than a certificate")


@main.command()
@click.option("--minutes", type=float, help="How long to go on.  [default: 30, or no limit with --programs]")
@click.option("--programs", type=int, default=None, help="How many programs at most.")
@click.option("--kind", "kinds", multiple=True, help="Kinds in `benchmarks/attack.py`.  [default: all]")
@click.option("--seed", type=int, default=0, show_default=True, help="Which sequence of programs.")
@click.option("--only", type=int, default=None, help="One program of the sequence, by its number.")
@click.option("--limit", type=float, default=60.0, show_default=True, help="Seconds for a program.")
@click.option("--output", type=click.Path(path_type=Path), help="Folder for attack.md and attack.json.")
def attack(
    minutes: float | None, programs: int | None, kinds: tuple[str, ...], seed: int, only: int | None, limit: float,
    output: Path | None,
) -> None:  # fmt: skip
    """Check every claim of fits of random programs in long double; fails if one is false."""
    from . import attack as attacks

    for kind in kinds:
        if kind not in attacks.KINDS:
            raise click.BadParameter(f"{kind!r} is none of {', '.join(attacks.KINDS)}")
    table, started = attacks.Table(), monotonic()
    if minutes is None:
        minutes = 30.0 if programs is None else UNLIMITED
    try:
        for one in attacks.verdicts(seed, minutes, only, limit, programs, kinds):
            table.add(seed, one)
    except KeyboardInterrupt:
        click.echo("interrupted")
    click.echo(table.text())
    if output is not None:
        count, seconds = sum(row["programs"] for row in table.rows()), monotonic() - started
        used = f"{threads()} thread{'s' * (threads() > 1)}"
        notes = attacks.NOTES.format(seed=seed, programs=count, seconds=seconds, threads=used)
        tables.write(output, "attack", notes, table.rows(), attacks.HEADINGS)
    if table.failed:
        raise click.ClickException(f"{table.failed} programs with a false claim, a leaked warning or another exception")


@main.command()
@click.option(
    "--data",
    multiple=True,
    type=click.Choice(list(MEASURED_ROWS)),
    default=list(MEASURED_ROWS),
    help="Rows.  [default: all]",
)
@library_option
@click.option("--first-rows", type=int, help="Only the first rows of the data, to try the command.")
@options
def yardstick(
    data: tuple[str, ...], library: tuple[str, ...], first_rows: int | None, fresh: bool, output: Path
) -> None:
    """Measure rows of scikit-learn_bench's SVM configuration, as they are there and to convergence."""
    from .yardstick import COLUMNS, NOTES, both

    size = {} if first_rows is None else {"first_rows": first_rows}
    rows = both(lambda limit: measured("fit", data, library, fresh, parameters={"max_iter": limit}, **size))
    click.echo(tables.write(output, "yardstick", NOTES, rows, COLUMNS))


@main.command()
@click.option("--data", multiple=True, help="Names in `benchmarks/search.py`.  [default: all]")
@click.option("--values", type=int, default=10, show_default=True, help="Values of C, and of gamma.")
@click.option("--folds", type=int, default=5, show_default=True, help="Folds.")
@click.option("--rows", type=int, help="Only the first samples.")
@click.option("--repeats", type=int, default=3, show_default=True, help="Turns, of which the median counts.")
@click.option("--theirs", is_flag=True, help="Measure scikit-learn's search over sklearn.svm, too.")
@click.option("--limit", type=float, default=1800.0, show_default=True, help="Seconds after which a search is cut off.")
@click.option("--quick", is_flag=True, help="Some minutes: 600 samples, 4 values, 3 folds, 1 turn.")
@output_option
def search(
    data: tuple[str, ...], values: int, folds: int, rows: int | None, repeats: int, theirs: bool, limit: float,
    quick: bool, output: Path,
) -> None:  # fmt: skip
    """Measure searches over C and gamma, ours and scikit-learn's in turn."""
    from . import search as searches

    for name in data:
        if name not in searches.CASES:
            raise click.BadParameter(f"{name!r} is none of {', '.join(searches.CASES)}")
    if quick:
        values, folds, rows, repeats = 4, 3, rows or searches.QUICK, 1
    ways = [searches.OURS, searches.PLAIN, *([searches.THEIRS] if theirs else [])]
    sizes = {"values": values, "folds": folds, "rows": rows, "limit": limit}
    page = ""
    for name in data or list(searches.CASES):
        found = searches.searched(name, ways, sizes, repeats)
        page, seconds = searches.write(output, found), [f"{row['seconds']:.2f} s" for row in found]
        click.echo(f"{name}: {', '.join(seconds)}", err=True)
    click.echo(page)


@main.command()
@click.option("--only", default="", help="Only the cases whose name has this in it.")
@output_option
def small(only: str, output: Path) -> None:
    """Measure fits of a few hundred samples and predictions of one row, ours and scikit-learn's in turn."""
    from . import small as smalls

    rows: ResultRows = []
    for row in smalls.rows(only):
        rows.append(row)
        click.echo(f"{row['data']:<60} {row['ratio']:.2f}", err=True)
    columns = [("case", "data", "name"), ("adatron, ms", "ours", "ms"), ("scikit-learn, ms", "theirs", "ms"),
               ("ratio", "ratio", "fraction"), ("wanted", "wanted", "fraction")]  # fmt: skip
    click.echo(tables.write(output, "small", smalls.NOTES, rows, columns))
    tables.plot(output, "small", rows)


@main.command()
@click.option("--data", multiple=True, help="Sets in `benchmarks/linear.py`.  [default: all but the largest]")
@click.option("--rows", type=int, help="Only the first samples, to try the command.")
@click.option("--quick", is_flag=True, help="Some minutes: C 1, and two made sets unless --data.")
@output_option
def linear(data: tuple[str, ...], rows: int | None, quick: bool, output: Path) -> None:
    """Measure linear machines of several libraries in turn, and how far above the optimum each ends."""
    from . import linear as machines

    for name in data:
        if name not in machines.CASES:
            raise click.BadParameter(f"{name!r} is none of {', '.join(machines.CASES)}")
    for name, one in machines.LIBRARIES.items():
        if not one.installed:
            click.echo(f"{name}: not installed, skipped", err=True)
    page = ""
    for name in data or (
        machines.SMALL if quick else [name for name, case in machines.CASES.items() if not case.large]
    ):
        lacking = [file for file in machines.CASES[name].files if not (DATA / file).exists()]
        if lacking:
            click.echo(f"{name}: skipped, no {lacking[0]} in {DATA} (ADATRON_DATA)", err=True)
            continue
        for spec in machines.specifications(name, rows, quick):
            found = machines.measured(spec)
            page, times = (
                machines.write(output, found),
                [f"{r['library']} {r.get('seconds', np.nan):.3f} s" for r in found],
            )
            click.echo(f"{found[0]['data']}, C {spec['C']:g}, {spec['program']}: {', '.join(times)}", err=True)
    click.echo(page)


@main.command()
@click.option("--write", type=click.Path(dir_okay=False, path_type=Path), help="Write the digests to this file.")
@click.option("--against", type=click.Path(exists=True, path_type=Path), help="Compare with those of an earlier file.")
@click.option("--only", default="", help="Only the fits whose name has this in it.")
def bits(write: Path | None, against: Path | None, only: str) -> None:
    """Print digests of fits of every kind; fail if one differs from an earlier file's."""
    from .bits import digest, fits

    before = json.loads(against.read_text()) if against else {}
    found, changed = {}, 0
    for one in fits():
        if only in one.name:
            found[one.name] = digest(one)
            known = before.get(one.name, {})  # a fit may be new
            parts = [part for part, value in found[one.name].items() if known and known[part] != value]
            changed += bool(parts)
            click.echo(f"{one.name:40} {' '.join(found[one.name].values())}" + (f"  other: {parts}" if parts else ""))
    if write:
        write.write_text(json.dumps(found, indent=1))
    click.echo(f"{len(found)} fits" + (f", {changed} with other bits" if before else ""))
    if changed:
        raise click.ClickException("bits have changed")


@main.command("compile")
@click.option("--use", multiple=True, type=click.Choice(FIRST_USES), default=FIRST_USES, help="First uses.")
@output_option
def compile_(use: tuple[str, ...], output: Path) -> None:
    """Measure what the first uses of an installation compile."""
    from . import compile as compiling

    rows = [row for one in use for row in compiling.measured(one)]
    click.echo(tables.write(output, "compile", compiling.NOTES, rows, compiling.COLUMNS))


main.add_command(dask)
main.add_command(facts)

if __name__ == "__main__":
    main(prog_name="python -m benchmarks")
