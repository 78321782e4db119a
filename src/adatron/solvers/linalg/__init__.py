"""Linear equations of solvers: tiled Cholesky factors, Newton systems, factors that gain and lose rows."""
