"""OpusTrainer, in front of Marian: ``python -m switchout.integrations.opustrainer -c config.yml``.

Importing this puts our modifier among OpusTrainer's own. A module and no package: a package would
be imported before it can say in one line that OpusTrainer is not installed.
"""

from __future__ import annotations

import sys

from switchout.errors import NotInstalledError, SwitchOutError, how_to_install

try:
    from opustrainer import trainer

    from switchout.integrations.opustrainer_modifier import SwitchOutModifier
except ImportError as error:
    advice = f"{error}: {how_to_install('opustrainer')}"
    if __name__ == "__main__":
        print(f"switchout: {advice}", file=sys.stderr)
        sys.exit(2)
    raise NotInstalledError(advice, name=error.name) from error

__all__ = ["SwitchOutModifier", "main"]


def main() -> None:
    """Run OpusTrainer's own command line, with our modifier among its own."""
    try:
        trainer.main()
    except (trainer.CurriculumLoaderError, SwitchOutError) as error:
        print(f"switchout: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
