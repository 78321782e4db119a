"""
A kernel of your own, on strings
================================

A kernel may be any function of two lists of samples, and the samples may be anything: here names of towns, as text. No
features are made. The model learns which names are German and which are Italian.
"""

import matplotlib.pyplot as plt
import numpy as np

from adatron import SVC

GERMAN = """berlin hamburg münchen köln frankfurt stuttgart düsseldorf leipzig dortmund essen bremen dresden hannover
nürnberg duisburg bochum wuppertal bielefeld bonn münster mannheim karlsruhe augsburg wiesbaden gelsenkirchen aachen
mönchengladbach braunschweig kiel chemnitz halle magdeburg freiburg krefeld mainz lübeck erfurt oberhausen rostock
kassel"""
ITALIAN = """roma milano napoli torino palermo genova bologna firenze bari catania venezia verona messina padova trieste
brescia taranto prato parma modena reggio perugia ravenna livorno cagliari foggia rimini salerno ferrara sassari latina
monza siracusa pescara bergamo forlì trento vicenza terni bolzano"""


def shared_parts(A, B):
    """Return how many parts of one to three letters two names share, for all pairs: a kernel matrix."""
    names = sorted({*A, *B})
    parts = [
        {f"^{name}$"[i : i + k] for k in (1, 2, 3) for i in range(len(name) + 3 - k)}
        for name in names
    ]
    place = {name: number for number, name in enumerate(names)}
    return np.array(
        [
            [
                len(parts[place[a]] & parts[place[b]])
                / np.sqrt(len(parts[place[a]]) * len(parts[place[b]]))
                for b in B
            ]
            for a in A
        ]
    )


german, italian = GERMAN.split(), ITALIAN.split()
names = np.array(german + italian)
country = np.repeat(["German", "Italian"], [len(german), len(italian)])
order = np.random.default_rng(0).permutation(len(names))
train, test = order[:50], order[50:]
model = SVC(kernel=shared_parts, C=10).fit(list(names[train]), country[train])
print(
    f"accuracy on {len(test)} new names: {model.score(list(names[test]), country[test]):.2f}"
)
print(f"relative duality gap: {model.duality_gap_:.1e}")

# %%
# **The function gets the samples as they are and returns the matrix of their similarities.** Everything else stays:
# certificate, support vectors, decision values. The picture shows the decision values of names that were not learned.
# Names near 0 sound like both languages.

values = model.decision_function(list(names[test]))
rank = np.argsort(values)
colors = np.where(country[test][rank] == "German", "C0", "C1")
figure, ax = plt.subplots(figsize=(6, 7), layout="constrained")
ax.barh(names[test][rank], values[rank], color=colors)
ax.axvline(0, color="0.3")
ax.set(
    xlabel="decision value: German (negative), Italian (positive)",
    title="Names that were not learned",
)
ax.tick_params(axis="y", labelsize="small")
plt.show()
