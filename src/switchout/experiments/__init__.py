"""Many runs: the paper's tables and figures, sweeps, what is chosen on dev, and what came of it."""
