"""Sampling at addresses: the law of counts, Philox, and one algorithm for every framework."""
