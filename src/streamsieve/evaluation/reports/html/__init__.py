"""A comparison as a page: one file that needs no network, and can be mailed, printed and kept."""

from streamsieve.evaluation.reports.html.facts import Facts as Facts
from streamsieve.evaluation.reports.html.page import check_extra as check_extra
from streamsieve.evaluation.reports.html.page import write_page as write_page

__all__ = ["Facts", "check_extra", "write_page"]
