"""``python -m switchout``."""

from switchout.cli import main

main()
