"""A comparison as a page: one file that needs no network, and can be mailed, printed and kept.

======= ==================================================================================
page    from a report to the text of a page; ``markup`` has numbers as people read them
tables  all combinations, how stable selectors are, and what each chose and why
figures one picture per learner, small enough for a telephone
code    the recommended combination as code to copy
======= ==================================================================================
"""

from streamsieve.evaluation.reports.html.page import Facts, check_extra, write_page

__all__ = ["Facts", "check_extra", "write_page"]
