"""From samples to coefficients: programs, their solutions, their certificates. No scikit-learn."""
