"""From checked samples and a problem to a model: ``fit.fit``. No scikit-learn.

A program has a name for each thing that becomes known about it, in this order:

===============  ========================  ==========================================================================
``Problem``      ``problems.problem``      the parameters; it makes the program of any samples
``Programs``     ``fitting.programs``      the classes in each program, and what makes it of their samples
``Tasks``        ``solvers.tasks``         these over one kernel matrix: which are open, and where each starts
``Dual``         ``problems.dual``         the numbers of one program: targets, bounds, equalities
``Programs``     ``solvers.batch``         many small programs in arrays; ``One`` is one of them, at its places
===============  ========================  ==========================================================================

So has a result:

===============  ========================  ==========================================================================
``Solution``     ``solvers.results``       the point of one program, its certificate and its trace
``Found``        ``solvers.results``       the solutions of all programs, in arrays
``Fits``         ``fitting.fits``          these with the samples of each problem; ``Fitted`` is one of them
``Model``        ``model.model``           what predictions need, with what is proven
===============  ========================  ==========================================================================
"""
