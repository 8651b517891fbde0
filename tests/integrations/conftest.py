"""Run by `make test-integrations`, each file in an environment of its own; not by `make test`."""

from __future__ import annotations

import os

collect_ignore_glob = [] if os.environ.get("SWITCHOUT_INTEGRATIONS") else ["test_*.py"]
