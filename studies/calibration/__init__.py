"""Calibration: size of every test and false discovery rate of every rule, over many null distributions.

``python -m studies.calibration --help``; the page is ``docs/evidence/calibration.md``.
"""
