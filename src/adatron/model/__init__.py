"""From coefficients to decision values and labels. No scikit-learn."""
