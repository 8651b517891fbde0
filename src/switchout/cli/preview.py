"""``switchout preview``: what a setting does to a corpus, before anything is written."""

from __future__ import annotations

from switchout.cli.augment import make_parser, show_preview

DESCRIPTION = """
Show changed sentences, epoch by epoch, and what a setting does to a corpus: the
share of words changed and of lines untouched, by length. Nothing is written.
All other options are those of 'switchout augment'.
"""
EPILOG = """
Examples:
  switchout preview --src train.de --tgt train.en --tau-x 1 --tau-y 1.1 --seed 1
  switchout preview --src train.de --rate-x 0.1 --seed 1 --lines 3 --epochs 5
"""


def main(arguments: list[str]) -> int:
    """Run the command; return its exit code."""
    try:
        options = make_parser("preview", DESCRIPTION, EPILOG).parse_args(arguments)
    except SystemExit:  # after --help
        return 0
    return show_preview(options, lines=options.lines, epochs=options.epochs)
