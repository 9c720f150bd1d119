"""A comparison as a page: one file that needs no network, and can be mailed, printed and kept."""

from streamsieve.evaluation.reports.html.page import Facts, check_extra, write_page

__all__ = ["Facts", "check_extra", "write_page"]
