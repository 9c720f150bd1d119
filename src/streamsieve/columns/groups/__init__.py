"""Columns that arrive in groups: a group is decided when it is complete.

================== ============================== ========================================================
file               decides                        how
================== ============================== ========================================================
process            when a group ends              labels, sizes; makes decisions of what a store returns
store              (base of the next three)       kept columns, the open group, deferred decisions
pairwise           inside and between groups      pairs of columns, by correlation or discretized (GroupSAOLA)
class_separability inside a group, then a model   class separability as columns arrive (OGFS)
diverse            a whole group, then a model    a draw, redundancy, separability (DOFS)
elastic_net        between groups                 the model that the two before share
dpp                which columns are drawn        a conditional determinantal point process
================== ============================== ========================================================
"""
