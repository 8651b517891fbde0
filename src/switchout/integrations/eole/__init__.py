"""eole: ``python -m switchout.integrations.eole train -c config.yaml``, any YAML of eole's.

Importing this registers the transforms; it must happen before ``eole.config`` is imported, which
reads the register once.
"""

from __future__ import annotations

from switchout.integrations.eole.transforms import (
    ExactDropout,
    ExactRAML,
    ExactSwitchOut,
    OwnSwitchOut,
)

__all__ = ["ExactDropout", "ExactRAML", "ExactSwitchOut", "OwnSwitchOut"]
