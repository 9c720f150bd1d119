"""Compiled loops: arrays and scalars in, arrays out.  The only folder that imports numba.

Every file stands alone.  Numba stamps the cache of a function with its own file only, so a helper that
changed elsewhere would go on running as old machine code after an upgrade; a test holds this rule, and pins
``intrinsics.py``, the one file that others import.
"""
