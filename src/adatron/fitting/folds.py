"""Stratified folds of the distinct samples, as segments of one Gram matrix: all folds share its rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .samples import Ids, Samples

FOLDS = 5  # Folds of the cross-validation behind probabilities, as many as LIBSVM has.


@dataclass(frozen=True)
class Folds:
    """Samples class by class, and in each class fold by fold.

    Equal samples of a class are one, so they are left out together. Neither the order of the rows nor the difference
    between a weight and a repetition can matter.

    samples : a segment for each class and fold
    classes : (m,) class of each sample
    out : (m,) the fold that leaves a sample out; -1 for the only sample of a class, which all folds keep
    before : (m,) number of each sample among the samples that were divided
    """

    samples: Samples
    classes: Ids
    out: Ids
    before: Ids

    def by_class(self) -> Samples:
        """Return the samples with a segment for each class."""
        return replace(self.samples, sizes=self.samples.sizes.reshape(-1, FOLDS).sum(axis=1))

    def kept(self, fold: int) -> list[list[int]]:
        """Return the segments of each class, except those that a fold leaves out."""
        sizes = self.samples.sizes.reshape(-1, FOLDS)
        alone = sizes.sum(axis=1) == 1
        return [[c * FOLDS + f for f in range(FOLDS) if f != fold or alone[c]] for c in range(len(sizes))]


def divide(samples: Samples, rng: np.random.RandomState) -> Folds:
    """Deal the samples of each class out to five folds.

    Parameters
    ----------
    rng : RandomState
        Shuffles the samples.

    Raises
    ------
    ValueError
        If each class has only one distinct sample, so that none can be left out.
    """
    if samples.sizes.max() < 2:
        raise ValueError("probability=True needs a class with at least 2 distinct samples. Got one of each class.")
    classes = np.repeat(np.arange(len(samples.sizes)), samples.sizes)
    shuffled = rng.permutation(len(classes))
    dealt = np.empty(len(classes), np.int64)
    dealt[shuffled[np.argsort(classes[shuffled], kind="stable")]] = np.arange(len(classes)) % FOLDS
    before = np.lexsort((dealt, classes))
    classes, dealt = classes[before], dealt[before]
    arranged = replace(
        samples,
        rows=samples.rows[before],
        sizes=np.bincount(classes * FOLDS + dealt, minlength=len(samples.sizes) * FOLDS),
        weight=samples.weight[before],
        group=np.argsort(before)[samples.group],
    )
    return Folds(arranged, classes, np.where(samples.sizes[classes] == 1, -1, dealt), before)
