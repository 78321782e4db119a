"""The classical algorithms, one a file, each with the certificate that all solvers share."""
