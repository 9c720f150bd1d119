"""``python -m benchmarks.streaming_fs``."""

import sys

from benchmarks.streaming_fs.command import main

if __name__ == "__main__":
    sys.exit(main())
