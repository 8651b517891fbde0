"""The translation model: network, training, search, export. Needs the extra ``train``."""
