"""Random programs: every operation after every other, against a twin that takes the short way.

A law that holds for ``merge`` and one that holds for ``save`` say nothing about saving what was merged.  A
program therefore chooses operations at random and compares the subject, after each of them, with a twin:

=================== ======================================= ======================================
program             operations                              twin
=================== ======================================= ======================================
`SummaryProgram`    update, merge, save, fade, remove,      an empty summary, updated once with
                    reindex, forget, refused rows           all rows that are left
`RowProgram`        partial_fit, merge, save, copy, read,   the same selector, which only learns
                    refused rows                            and merges
`ColumnProgram`     offer, measure, save, copy, read,       the same selector, which only gets the
                    refused columns                         columns
=================== ======================================= ======================================

``program`` has what they share, ``summaries`` and ``selectors`` the operations.  `run` runs a program of a
given seed; `machine` makes a Hypothesis state machine of it, which shrinks a failure to its shortest form.
"""

from streamsieve.testing.programs.program import Program as Program
from streamsieve.testing.programs.program import machine as machine
from streamsieve.testing.programs.program import run as run
from streamsieve.testing.programs.selectors import ColumnProgram as ColumnProgram
from streamsieve.testing.programs.selectors import RowProgram as RowProgram
from streamsieve.testing.programs.selectors import program_for as program_for
from streamsieve.testing.programs.summaries import SummaryProgram as SummaryProgram

__all__ = ["ColumnProgram", "Program", "RowProgram", "SummaryProgram", "machine", "program_for", "run"]
