"""One file a suite: its cases, in the order they are run."""
