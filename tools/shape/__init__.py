"""The shape of the source tree in figures: borders, sizes, inheritance, states, prose, and walks of data.

``python -m tools.shape [SRC] [--trace] [--list KIND]`` prints a table with the goal of each figure and its
value now.  SRC is a ``src`` folder, by default that of this repository; its tests and docs are beside it.
Everything is read from syntax trees, except for ``--trace``, which runs the package in a process of its own.

Definitions
-----------
private import
    A statement of a module M that imports module T, where some component of T's dotted path begins with an
    underscore and the package that holds this component is neither M's package nor one above it.  So the
    private modules directly in the package (``_kernels``, ``_validation``, ...) are open to all of it, and a
    subpackage may use private modules of the packages around it.  A pair (M, T) counts once.  At ``8f2204c``
    there are 63, or 62 between different top-level packages.
private name
    A name with one leading underscore that is imported from another module and is not a module: 10.
own base classes
    Length of the longest chain of classes of this package above a class, which is not counted itself: six
    levels of the review are five base classes.
types for what became of a block
    Classes whose name says so, by list or by ending (:data:`tools.shape.figures.OUTCOMES`); ``evaluation``,
    where the same words concern comparisons, is left out.
hand-written from_state
    A classmethod of that name in a class outside ``streamsieve.state``.
walk
    The files of the package in which at least one function runs, after the same was done once before: for
    columns during ``offer`` of one block (the note adds ``begin``), for rows from ``open`` to ``save``.
    Kernels run as plain Python (``NUMBA_DISABLE_JIT=1``), so that their files count, too.

Imports by name (``importlib``) and attributes of imported modules (``module._name``) are not seen.
"""
