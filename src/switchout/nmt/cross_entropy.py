"""The loss of a training step, in the memory of its logits."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from switchout.corpora.vocabulary import BOS


class SmoothedCrossEntropy(torch.autograd.Function):  # type: ignore[misc]
    """Sum of -(1 - smoothing) log p(label) - smoothing · mean log p, over the words but PAD, BOS.

    The logits are by far the largest tensor of a training step. Their memory is overwritten,
    first by p, then by the gradient, which is ready before the backward pass.
    """

    @staticmethod
    def forward(ctx: Any, logits: Tensor, labels: Tensor, smoothing: float) -> Tensor:
        words, labels = logits[:, BOS + 1 :], labels[:, None]  # [n, V - 2], [n, 1]
        share = smoothing / words.shape[1]
        logits[:, : BOS + 1] = -math.inf
        largest = logits.amax(dim=1, keepdim=True)
        of_labels = logits.gather(1, labels).sum()
        of_all = words.sum() if smoothing else 0
        p = logits.sub_(largest).exp_()
        total = p.sum(dim=1, keepdim=True)
        log_total = (total.log() + largest).sum()
        if ctx.needs_input_grad[0]:
            p.div_(total)
            words.sub_(share)
            p.scatter_add_(1, labels, torch.full_like(total, smoothing - 1))
            ctx.by_logits = p
        loss: Tensor = log_total - (1 - smoothing) * of_labels - share * of_all
        return loss

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        by_logits, ctx.by_logits = ctx.by_logits, None
        return by_logits.mul_(grad), None, None
