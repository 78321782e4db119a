"""scikit-learn's own tests of its support vector machines, run with adatron's classes in their place."""
