"""``python -m streamsieve``: the command line."""

from streamsieve.cli import main

main()
