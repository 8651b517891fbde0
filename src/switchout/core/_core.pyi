"""Types of the compiled module. Arrays are contiguous; `None` stands for no array where allowed."""

INSTRUCTIONS: str  # "avx2" or "any"

# ---- Sampling (bind_sampling.c, switchout.h) ----

def philox(
    seed: int, epoch: int, stream: int, example: int, block: int, /
) -> tuple[int, int, int, int]: ...
