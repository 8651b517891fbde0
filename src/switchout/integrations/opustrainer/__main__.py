"""OpusTrainer's own command line, with our modifier among its own."""

from __future__ import annotations

import sys

from switchout.errors import SwitchOutError

try:
    from opustrainer import trainer

    import switchout.integrations.opustrainer  # noqa: F401 (puts the modifier among its own)
except ImportError as error:
    sys.exit(f"switchout: OpusTrainer: {error}: pip install 'switchout[opustrainer]'")


def main() -> None:
    try:
        trainer.main()
    except (trainer.CurriculumLoaderError, SwitchOutError) as error:
        print(f"switchout: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
