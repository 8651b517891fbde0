"""Runs: a configuration in, a folder with a trained model and its scores out."""
