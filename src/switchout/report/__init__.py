"""Results as tables, charts and one self-contained page."""
