"""When a curve ends."""

from benchopt.stopping_criterion import StoppingCriterion


class Proven(StoppingCriterion):
    """Stop at a relative duality gap, or when a smaller tolerance changes nothing any more."""

    def __init__(self, gap=1e-6, strategy=None, key_to_monitor="value", minimize=True):
        super().__init__(gap=gap, strategy=strategy, key_to_monitor=key_to_monitor, minimize=minimize)
        self.gap = gap

    def check_convergence(self, objective_list):
        values = [one["objective_value"] for one in objective_list]
        same = len(values) > 1 and values[-1] == values[-2]
        return values[-1] <= self.gap or same, self.gap / max(values[-1], self.gap)
