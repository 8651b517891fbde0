"""``python -m switchout.cli``: the same command line where the script is not on the path."""

from switchout.cli import main

main()
