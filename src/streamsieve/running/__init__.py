"""Streams run to their end with checkpoints, and resumed after a crash.

================ ====================================================
runner           ``run``: a source through a selector
columns          the same for columns
checkpointer     learns batch by batch, copies the state and writes checkpoints
checkpoint       the file of a checkpoint and its previous generation
schedule         when the next checkpoint is due
resume           from a checkpoint back to selector and source
verify           a digest of all rows, to verify the data of a resumed run
place            file and row of a refused value, for errors
lock, interrupts one run per checkpoint; Ctrl-C between two batches
================ ====================================================
"""

from streamsieve.running.runner import run as run

__all__ = ["run"]
