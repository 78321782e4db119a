"""Check proofs of optimality of kernel machines: python verify.py FILE ...

This program needs Python 3.11 or newer and nothing else. README.md beside it describes the file and the statements. All
bounds are rounded outwards: [a, b] below is a pair of floats with the true number between them. The exit status is 0 if
all files are accepted, 1 if one is refused, and 2 if one cannot be read.
"""

import hashlib
import sys
from fractions import Fraction
from math import fsum, inf, isfinite, nextafter

KINDS = ("csvc", "nusvc", "svr", "nusvr", "quantile", "oneclass", "svdd")
BITS = 200  # Digits behind the binary point of numbers in the exponential function.
UNIT = 2.0**-53  # A float operation is wrong by this fraction at most, unless its result is below TINY.
TINY = 1e-300


class Refused(Exception):
    """A statement that does not hold, or cannot be shown to hold."""


def enclosed(x):
    """Return the smallest pair of floats around a fraction."""
    near = float(x)
    return (near, near) if near == x else (nextafter(near, -inf), nextafter(near, inf))


def outwards(a, b):
    if not (isfinite(a) and isfinite(b)):
        raise OverflowError("a number is too large for a float")
    return nextafter(a, -inf), nextafter(b, inf)


def add(*pairs):
    """Return the sum; fsum rounds the exact sum of floats once."""
    return outwards(fsum(a for a, _ in pairs), fsum(b for _, b in pairs))


def times(x, y):
    ends = x[0] * y[0], x[0] * y[1], x[1] * y[0], x[1] * y[1]
    return outwards(min(ends), max(ends)) if isfinite(sum(map(abs, ends))) else outwards(inf, inf)


def minus(x):
    return -x[1], -x[0]


def positive(x):
    return max(0.0, x[0]), max(0.0, x[1])


def exp_minus(a):
    """Return an enclosure of exp(-a) for a >= 0: a series of whole numbers at a / 2^k, squared k times.

    The terms of the series fall and change sign, so the sum lies between two partial sums.
    """
    if a > 100.0:
        return 0.0, 2.0**-144
    (p, q), one, ends = a.as_integer_ratio(), 1 << BITS, []
    k = (p // q).bit_length() + 1
    for r in ((p << BITS) // (q << k), -((-p << BITS) // (q << k))):  # below and above a / 2^k, which is at most 1/2
        total, term, n = one, one, 0
        while term:
            n += 1
            term = term * r // (n << BITS)
            total += -term if n % 2 else term
        ends.append((total, n))
    low, high = ends[1][0] - 2 * ends[1][1] - 2, min(one, ends[0][0] + 2 * ends[0][1] + 2)
    for _ in range(k):
        low, high = max(0, low) ** 2 >> BITS, -(-(high**2) >> BITS)
    return max(0.0, enclosed(Fraction(max(0, low), one))[0]), enclosed(Fraction(high, one))[1]


def kernel_of(name, numbers):
    """Return a function of two rows to a pair; the kernel must be positive semi-definite for all rows."""

    def product(x, z):
        parts = [a * b for a, b in zip(x, z)]
        error = 4.0 * UNIT * fsum(map(abs, parts)) + TINY * (len(x) + 1)
        return add((fsum(parts),) * 2, (-error, error))

    def rbf(x, z):
        apart = [a - b for a, b in zip(x, z)]
        total, care = fsum(d * d for d in apart), TINY * (len(x) + 1)
        if not any(apart):
            return 1.0, 1.0
        around = add(times((total, total), (1.0 - 8.0 * UNIT, 1.0 + 8.0 * UNIT)), (-care, care))
        low, high = times((numbers[0],) * 2, positive(around))
        return exp_minus(high)[0], exp_minus(max(0.0, low))[1]

    def polynomial(x, z):
        base = value = add(times((numbers[0],) * 2, product(x, z)), (numbers[2],) * 2)
        for _ in range(int(numbers[1]) - 1):
            value = times(value, base)
        return value

    count, kernel = {"linear": (0, product), "rbf": (1, rbf), "polynomial": (3, polynomial)}.get(name, (-1, None))
    degree, coef0 = numbers[1:] if count == len(numbers) == 3 else (1, 0)
    if len(numbers) == count and (not numbers or numbers[0] > 0) and degree in range(1, 101) and coef0 >= 0:
        return kernel
    raise Refused(f"kernel: {name} with the numbers {numbers} is not known to be positive semi-definite")


def feasible(one, labels, low, high):
    """Return coefficients that fulfil all conditions exactly, as fractions, near those of the file."""
    kind, explicit, beta = one["problem"], one["bias"] == "explicit", [Fraction(b) for b in one["beta"]]
    for i, b in enumerate(beta):
        if not -low[i] <= b <= high[i]:
            raise Refused(f"coefficient {i} is {float(b):g}, outside of [{-low[i]:g}, {high[i]:g}]")
    n, sums, mass = len(beta), [], Fraction(1)  # sums: of which samples, times which sign, must be what
    if kind in ("nusvc", "nusvr", "oneclass"):
        mass = Fraction(one["parameter"]) * sum(Fraction(max(costs)) for costs in zip(low, high))
    if kind == "nusvc":
        sides = [[i for i in range(n) if labels[i] == side] for side in (1.0, -1.0)]
        mass = min(mass, *(2 * sum(Fraction(max(low[i], high[i])) for i in side) for side in sides))
        sums = [(sides[0], mass / 2), (sides[1], -mass / 2)] if explicit else [(range(n), mass)]
    elif kind in ("oneclass", "svdd"):
        sums = [(range(n), mass)]
    elif explicit:
        sums = [(range(n), Fraction(0))]
    signs = [int(y) if kind == "nusvc" and not explicit else 1 for y in labels]
    for own, wanted in sums:
        missing = wanted - sum(signs[i] * beta[i] for i in own)
        for i in sorted(own, key=lambda i: -abs(beta[i])):  # what is missing goes to the largest that have room
            step = signs[i] * missing
            end = high[i] if step > 0 else -low[i]
            end = Fraction(end) if isfinite(end) else beta[i] + step
            if wanted == 0:  # coefficients only shrink, which no other condition minds
                end = beta[i] if beta[i] * step >= 0 else 0
            part = max(-abs(end - beta[i]), min(abs(end - beta[i]), step))
            beta[i], missing = beta[i] + part, missing - signs[i] * part
        if missing:
            raise Refused(f"coefficients: a sum is off by {float(missing):g}, and the bounds leave no room")
    size = sum(map(abs, beta))
    if kind == "nusvr" and size > mass:
        beta = [b * mass / size for b in beta]
    return beta, mass


def bounds_of(one, value):
    """Return enclosures of both objectives; ``value`` takes two numbers of rows to an enclosure of the kernel."""
    kind, ids, labels, low, high = one["problem"], one["ids"], one["labels"], one["low"], one["high"]
    check_problem(one)
    exact, mass = feasible(one, labels, low, high)
    beta, support = [enclosed(b) for b in exact], [i for i, b in enumerate(exact) if b]
    extra = times((one["augment"],) * 2, (one["augment"],) * 2) if one["bias"] == "augmented" else (0.0, 0.0)
    shift = times(extra, enclosed(sum(exact)))
    f = [add(shift, *(times(beta[j], value(ids[i], ids[j])) for j in support)) for i in range(len(ids))]
    half = times((0.5, 0.5), positive(add((0.0, 0.0), *(times(beta[i], f[i]) for i in support))))
    b, e = (one["b"],) * 2, (one["width"],) * 2
    t, edge, constant = [(y, y) for y in labels], (0.0, 0.0), (0.0, 0.0)
    if kind in ("svr", "nusvr"):
        edge = e if kind == "nusvr" else (one["parameter"],) * 2
        constant = times(enclosed(mass), e) if kind == "nusvr" else constant
    elif kind in ("nusvc", "oneclass"):
        t, constant = [times((y, y), e) for y in labels], minus(times(enclosed(mass), e))
    elif kind == "svdd":
        t, constant = [times((0.5, 0.5), value(i, i)) for i in ids], b
    gain = [times(beta[i], t[i]) for i in support] if kind not in ("nusvc", "oneclass") else []
    if kind == "svr":
        gain.append(minus(times(edge, enclosed(sum(map(abs, exact))))))
    dual = add(minus(half), *gain)
    hard = [i for i in range(len(ids)) if inf in (low[i], high[i])]
    if hard and kind == "csvc":  # the plane is made longer until no sample is inside of the margin
        margin = min(times((labels[i],) * 2, add(f[i], b))[0] for i in hard)
        if not margin > 0.0:
            raise Refused(f"primal objective: a sample of infinite cost has the margin {margin:g}")
        longer = (nextafter(1.0 / margin, inf),) * 2
        half, f, b = times(times(half, longer), longer), [times(longer, one) for one in f], times(longer, b)
    losses = [half, constant]
    for i, value_i in enumerate(f):
        error = add(t[i], minus(value_i), minus(b))
        for cost, size in ((high[i], error), (low[i], minus(error))):
            loss = positive(add(size, minus(edge)))
            if isfinite(cost):
                losses.append(times((cost, cost), loss))
            elif loss[1] > 0.0 and kind != "csvc":
                raise Refused(f"primal objective: sample {ids[i]} has an infinite cost and an error")
    return dual, add(*losses)


def check_problem(one):
    """Refuse a program that is not of the kind that its name says."""
    kind, sided = one["problem"], one["problem"] in ("csvc", "nusvc", "svdd", "oneclass")
    for i, y, low, high in zip(one["ids"], one["labels"], one["low"], one["high"]):
        wrong = low < 0.0 or high < 0.0 or (sided and (y not in (1.0, -1.0) or (low if y > 0 else high) != 0.0))
        even = kind in ("svr", "nusvr") and low != high
        if wrong or even or (kind == "oneclass" and y != 1.0) or (kind[:2] == "nu" and not isfinite(low + high)):
            raise Refused(f"problem: the label {y:g} and the costs {low:g} and {high:g} of row {i} do not fit {kind}")
    other = one["bias"] != "explicit"
    if (kind in ("oneclass", "svdd") and other) or (one["b"] != 0.0 and (kind == "oneclass" or other)):
        raise Refused("problem: oneclass and svdd have no other bias, and b must be 0 unless the bias is explicit")
    if kind in ("nusvc", "nusvr", "oneclass") and not 0.0 < one["parameter"] <= 1.0:
        raise Refused(f"problem: nu is {one['parameter']:g}, not in (0, 1]")
    if one["parameter"] < 0.0 or (kind == "nusvr" and one["width"] < 0.0):
        raise Refused("problem: the width of the tube is below 0")


def judge(one, value):
    """Refuse a program whose claims do not follow, or return what is proven."""
    dual, primal = bounds_of(one, value)
    lower, upper, gap = one["lower"], one["upper"], one["gap"]
    if not lower <= dual[0]:
        raise Refused(f"lower: {lower!r} is claimed, and {dual[0]!r} is proven")
    if not primal[1] <= upper:
        raise Refused(f"upper: {upper!r} is claimed, and {primal[1]!r} is proven")
    a, b = Fraction(lower), Fraction(upper) if isfinite(upper) else inf
    true = (b - a) / min(abs(a), abs(b)) if a * b > 0 and isfinite(upper) else inf if a != b else 0
    if not gap >= true:
        raise Refused(f"gap: {gap!r} is claimed, and the claimed bounds leave {float(true)!r}")
    return f"the optimum of {one['problem']} lies in [{lower!r}, {upper!r}], relative gap <= {gap:.3g}"


def number(text, infinite=False):
    x = float.fromhex(text)
    if not isfinite(x) and not (infinite and x == inf):
        raise ValueError(f"{text} is not allowed here")
    return x


def read(text):
    """Return the kernel, the rows and the programs of a file."""
    lines = iter(text.splitlines())

    def field(name, count=1):
        words = next(lines).split()
        if words[:1] != [name] or (count and len(words) != count + 1):
            raise ValueError(f"{' '.join(words)!r} stands where a line of {name!r} is due")
        return words[1:]

    try:
        if next(lines) != "adatron proof 1":
            raise ValueError("the first line is not 'adatron proof 1'")
        digest, (name, *numbers), counts = field("digest")[0], field("kernel", 0), field("rows", 2)
        n, d = map(int, counts)
        data = [next(lines) for _ in range(n)]
        rows = [[number(x) for x in line.split()] for line in data]
        programs = []
        for _ in range(int(field("programs")[0])):
            one = {"problem": field("problem")[0], "bias": field("bias")[0]}
            for key in ("augment", "parameter", "b", "width", "lower", "upper", "gap"):
                one[key] = number(field(key)[0], key in ("upper", "gap"))
            samples = [next(lines).split() for _ in range(int(field("samples")[0]))]
            data.extend(" ".join(words[:4]) for words in samples)
            ids, labels, low, high, beta = zip(*samples)
            one.update(ids=list(map(int, ids)), labels=list(map(number, labels)), beta=list(map(number, beta)))
            one.update(low=[number(x, True) for x in low], high=[number(x, True) for x in high])
            if not all(0 <= i < n for i in one["ids"]) or len(set(one["ids"])) < len(ids):
                raise ValueError("a sample stands twice, or has no row")
            if one["problem"] not in KINDS or one["bias"] not in ("explicit", "augmented", "none"):
                raise ValueError(f"{one['problem']} with the bias {one['bias']} is unknown")
            programs.append(one)
        if not programs or list(lines) or any(len(row) != d for row in rows):
            raise ValueError("there is no program, text behind the last one, or a row of another length")
        return digest, (name, [number(x) for x in numbers]), rows, programs, data
    except (ValueError, StopIteration, OverflowError) as error:
        raise SyntaxError(str(error) or "the file ends too early") from None


def verify(text):
    """Return what a proof proves, in sentences."""
    digest, (name, numbers), rows, programs, data = read(text)
    if hashlib.sha256("\n".join(data).encode()).hexdigest() != digest:
        raise Refused("digest: the data are not those of the digest")
    if name == "given" and [tuple(row) for row in rows] != list(zip(*rows)):
        raise Refused("kernel: the given matrix is not symmetric")
    kernel, known = None if name == "given" else kernel_of(name, numbers), {}
    trust = "" if kernel else "; taken on trust: the given kernel matrix is positive semi-definite"

    def value(i, j):
        key = (i, j) if i < j else (j, i)
        if key not in known:
            known[key] = (rows[i][j],) * 2 if kernel is None else kernel(rows[i], rows[j])
        return known[key]

    try:
        return [judge(one, value) + trust for one in programs]
    except (OverflowError, ValueError) as error:
        raise Refused(f"numbers: {error}") from None


def main(files):
    status = 0 if files else 2
    for path in files:
        try:
            with open(path, encoding="ascii") as stream:
                print(*(f"{path}: accepted: {line}" for line in verify(stream.read())), sep="\n")
        except Refused as error:
            print(f"{path}: refused: {error}")
            status = max(status, 1)
        except (SyntaxError, OSError, UnicodeDecodeError) as error:
            print(f"{path}: unreadable: {error}")
            status = 2
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
