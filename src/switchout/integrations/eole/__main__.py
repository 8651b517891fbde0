"""eole's own command line, with our transforms behind it."""

from __future__ import annotations

import sys

from switchout.errors import SwitchOutError

try:
    import switchout.integrations.eole  # noqa: F401 (registers, before eole reads its config)
except ImportError as error:
    sys.exit(f"switchout: eole cannot be imported ({error}): pip install 'switchout[eole]'")


def main() -> None:
    from eole.bin.main import main as eole_main

    try:
        eole_main()
    except SwitchOutError as error:
        print(f"switchout: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
