"""The end of a protocol: its report is written, and failures are raised if that was asked for."""

from __future__ import annotations

from streamsieve.evaluation._cells import Running
from streamsieve.evaluation.report import Report


def finished(report: Report, running: Running) -> Report:
    """Write a report to the folder of its run; raise its failures, unless they are to be reported."""
    if running.folder is not None:
        report.save(running.folder)
    return report if running.errors == "report" else report.check()
