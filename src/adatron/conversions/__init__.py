"""Other forms of a fitted model: of scikit-learn, of other programs' coefficients, smaller ones, and proofs."""
