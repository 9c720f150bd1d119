"""Messages of a Kafka topic as rows.

=============== =========================================================
client          the connection to a cluster
parser          messages to rows of numbers, and rows to batches
partition_order one reproducible order for messages of several partitions
=============== =========================================================
"""
