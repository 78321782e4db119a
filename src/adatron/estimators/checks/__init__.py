"""What comes in, checked as scikit-learn does."""
