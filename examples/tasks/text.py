"""
Text in sparse rows
===================

Words make rows of many columns that are nearly all zero. Sparse rows (CSR) go in as they are, and only what is not zero
costs time. Here a model tells which library a help text comes from.
"""

import inspect
import re

import matplotlib.pyplot as plt
import numpy as np
import scipy.signal
import scipy.stats
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import train_test_split

from adatron import SVC


def help_texts(module):
    """Return the descriptions of a module's functions, without headings, code and names."""
    texts = {}
    for name in dir(module):
        text = inspect.getdoc(getattr(module, name)) or ""
        if not name.startswith("_") and len(text) > 200:
            lines = [
                line
                for line in text.splitlines()
                if not re.match(r">>>|\.\.\.|---", line.strip())
            ]
            texts[" ".join(lines[1:80])] = name
    return list(texts)


topics = {"statistics": help_texts(scipy.stats), "signals": help_texts(scipy.signal)}
texts = [text for some in topics.values() for text in some]
labels = np.repeat(list(topics), [len(some) for some in topics.values()])
words = TfidfVectorizer(
    token_pattern=r"[a-z]{3,}", stop_words="english", sublinear_tf=True
)
X = words.fit_transform(texts)
print(
    f"{X.shape[0]} texts, {X.shape[1]} words, {X.nnz / np.prod(X.shape):.1%} of the entries are not zero"
)

X_train, X_test, y_train, y_test = train_test_split(X, labels, random_state=0)
model = SVC(kernel="linear", C=10).fit(X_train, y_train)
print(f"accuracy on new texts: {model.score(X_test, y_test):.3f}")
print(f"relative duality gap: {model.duality_gap_:.1e}")

# %%
# A linear kernel has one weight for each word. **The largest weights show what the model has learned, and whether it
# learned what you meant**: here mostly the words of the two trades.

weights = model.coef_.toarray().ravel()
names = words.get_feature_names_out()
order = np.argsort(weights)
shown = np.concatenate([order[:10], order[-10:]])
figure, ax = plt.subplots(figsize=(6, 5), layout="constrained")
ax.barh(names[shown], weights[shown], color=np.where(weights[shown] < 0, "C0", "C1"))
first, second = model.classes_
ax.set(
    xlabel=f"weight: {first} (negative), {second} (positive)", title="Words that decide"
)
plt.show()
