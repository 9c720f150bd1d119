"""Adapters of row selectors to pipelines of other libraries.

===== ================================================
river a row selector as a part of river's pipelines
spark a row selector as a stage of Spark's pipelines
===== ================================================
"""
