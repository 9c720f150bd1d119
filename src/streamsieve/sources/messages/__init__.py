"""Messages of a Kafka topic as rows.

=============== =========================================================
client          the connection to a cluster
parser          messages to rows of numbers
partition_order one reproducible order for messages of several partitions
batcher         rows gathered until they make a batch
=============== =========================================================
"""
