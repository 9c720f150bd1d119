"""Mixin for estimators with ``random_state``; the seed is given, or drawn once and saved."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any, ClassVar

from streamsieve.state import Field, Int

#: Largest seed, as in scikit-learn.
LARGEST = 2**32 - 1


class Seeded:
    """Mixin for estimators with the parameter ``random_state``.

    With ``random_state=None``, a seed is drawn when it is first needed after a fit has begun.  It is saved
    with the state, so that a resumed stream continues as if it had never stopped.
    """

    parameters: ClassVar[Mapping[str, Any]] = {"random_state": Int(0, LARGEST, optional=True)}
    fields: ClassVar[Mapping[str, Field]] = {"_drawn_seed_": Int(0, LARGEST, optional=True)}

    random_state: int | None

    @property
    def _seed(self) -> int:
        """The seed of all draws."""
        if self.random_state is not None:
            return int(self.random_state)
        if "_drawn_seed_" not in self.__dict__:
            self._drawn_seed_ = secrets.randbelow(LARGEST + 1)
        return self._drawn_seed_
