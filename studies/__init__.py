"""What the papers report, beside what this library gives: ``python -m studies --help``.

A study is a folder or file here with a function ``run(desk)``: it computes its parts (each is stored as soon
as it is there, so an interrupted study goes on where it stopped), draws its pictures, and returns its
Markdown, or None if what it needs is not there.
"""

from studies._data import MissingDataError
from studies._desk import Desk

__all__ = ["Desk", "MissingDataError"]
