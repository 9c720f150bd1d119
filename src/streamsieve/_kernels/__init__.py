"""Compiled loops: arrays and scalars in, arrays out.  The only folder that imports numba.

Every file stands alone.  Numba stamps the cache of a function with its own file only, so a helper that
changed elsewhere would go on running as old machine code after an upgrade; a test holds this rule, and pins
``intrinsics.py``, the one file that others import.
"""

import os

from numba.core.compiler_lock import global_compiler_lock

if hasattr(os, "register_at_fork"):  # forked while another thread loads a kernel, a child would never go on
    os.register_at_fork(
        before=global_compiler_lock.acquire,
        after_in_parent=global_compiler_lock.release,
        after_in_child=global_compiler_lock.release,
    )
