"""What the tests of the papers look at."""

from reproductions.report import Sheet

NO_FIGURES = Sheet(None)
# Lines that are known to be crosses in a quick run: the paper is wrong there, or its data are others.
CROSSES = {
    # svmseq
    "improved by bias, sonar",
    "improved by soft margin (C = 1), sonar",
    "improved by both, sonar",
    "operations, dense / SVMseq at epoch 50",
    "operations, dense / SVMseq at epoch 130",
    "epochs, clusters, λ = 2 / λ = 0.1",
    "support vectors, Kernel-Adatron - SVMseq",
    "plateau: epochs, Kernel-Adatron / SVMseq at the same rate",
    "λ = 0: objective, optimum and after 60 epochs as printed",
    # kernel_adatron
    "k(x, x) = (‖x‖ + 1)^d, as printed: largest relative difference",
    # isda
    "updates, k = ∞ / k = 10",
}


def assert_holds(section):
    """No line is a cross, except those that are known; a reason excuses no other."""
    crosses = {line.what for line in section.lines if line.holds is False}
    assert crosses <= CROSSES, crosses - CROSSES
    assert not section.failures
    assert section.title in section.markdown()
