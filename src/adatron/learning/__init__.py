"""Learning and unlearning single samples: the solution follows its exact path. No scikit-learn."""
