"""Faces of other libraries, for our selectors.

===== ================================================
river a row selector as a part of river's pipelines
spark a row selector as a stage of Spark's pipelines
===== ================================================
"""
