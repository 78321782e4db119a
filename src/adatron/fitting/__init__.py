"""From samples to coefficients: programs, their solutions, their certificates. No scikit-learn.

A problem has a name for each thing that becomes known about it, in this order:

===============  ========================  ==========================================================================
``Formulation``  ``fitting.formulation``   the programs of a kind of machine, for any samples
``Problems``     ``fitting.problems``      the classes in each problem, and what makes its program of their samples
``_Programs``    ``fitting.engine``        these programs over the given samples: their sizes, and which are open
``Tasks``        ``solvers.tasks``         the open ones over one kernel matrix, and where each starts
``Dual``         ``problems.dual``         the numbers of one program: targets, bounds, equalities
``Programs``     ``solvers.small``         many small programs in arrays; ``One`` is one of them, at its places
===============  ========================  ==========================================================================

So has a result:

===============  ========================  ==========================================================================
``Solution``     ``solvers.solution``      the point of one program, its certificate and its trace
``Found``        ``solvers.found``         the solutions of all programs, in arrays
``Fits``         ``fitting.fits``          these with the samples of each problem; ``Fitted`` is one of them
===============  ========================  ==========================================================================
"""
