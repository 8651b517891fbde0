"""SwitchOut and its relatives: exact augmentation policies for translation data."""
