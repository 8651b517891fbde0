"""eole: ``python -m switchout.integrations.eole train -c config.yaml``, any YAML of eole's.

Importing this registers the transforms; it must happen before ``eole.config`` is imported, which
reads the register once. A module and no package: the processes that eole starts for several GPUs
import what was run with -m again, before they read their configuration.
"""

from __future__ import annotations

import sys

from switchout.errors import NotInstalledError, SwitchOutError, how_to_install

try:
    from switchout.integrations.eole_transforms import (
        ExactDropout,
        ExactRAML,
        ExactSwitchOut,
        OwnSwitchOut,
    )
except ImportError as error:
    advice = f"{error}: {how_to_install('eole')}"
    if __name__ == "__main__":
        print(f"switchout: {advice}", file=sys.stderr)
        sys.exit(2)
    raise NotInstalledError(advice, name=error.name) from error

__all__ = ["ExactDropout", "ExactRAML", "ExactSwitchOut", "OwnSwitchOut", "main"]


def main() -> None:
    """Run eole's own command line, with our transforms behind it."""
    from eole.bin.main import main as eole_main

    try:
        eole_main()
    except SwitchOutError as error:
        print(f"switchout: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
