"""The compiled loss of an output layer against its formula in float64."""

from __future__ import annotations

import math

import numpy as np
import pytest

from switchout.core import compiled

FIRST = 2  # logits before it are never predicted


def reference(logits, labels, smoothing):
    """Loss and gradient, [rows, size]."""
    words = logits[:, FIRST:].astype(np.float64)
    largest = words.max(axis=1, keepdims=True)
    log_p = words - largest - np.log(np.exp(words - largest).sum(axis=1, keepdims=True))
    wanted = np.full(words.shape, smoothing / words.shape[1])
    wanted[np.arange(len(labels)), labels - FIRST] += 1 - smoothing
    gradient = np.zeros(logits.shape)
    gradient[:, FIRST:] = np.exp(log_p) - wanted
    return -(wanted * log_p).sum(), gradient


def halves(x):
    """Float32 to the bits of bfloat16, to the nearest."""
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def floats(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("size", [3, 4, 9, 10, 11, 1000])
@pytest.mark.parametrize("spread", [0.1, 5.0, 60.0])
def test_loss_and_gradient_are_those_of_the_formula(size, smoothing, spread):
    rng = np.random.default_rng(size)
    rows, width = 7, size + 5
    padded = rng.normal(scale=spread, size=(rows, width)).astype(np.float32)
    labels = rng.integers(FIRST, size, rows)
    loss, gradient = reference(padded[:, :size], labels, smoothing)
    z = padded.copy()
    found = compiled.output_loss(4, z, labels, FIRST, size, smoothing)
    assert found == pytest.approx(loss, rel=2e-6, abs=1e-5)
    np.testing.assert_allclose(z[:, :size], gradient, rtol=2e-5, atol=2e-6)
    assert np.array_equal(z[:, size:], padded[:, size:])  # what lies beside it is left alone

    bits = halves(padded)
    loss, gradient = reference(floats(bits)[:, :size], labels, smoothing)
    z = bits.copy()
    found = compiled.output_loss(2, z, labels, FIRST, size, smoothing)
    assert found == pytest.approx(loss, rel=2e-6, abs=1e-5)
    np.testing.assert_allclose(floats(z)[:, :size], gradient, rtol=2**-8, atol=2e-6)
    assert np.array_equal(z[:, size:], bits[:, size:])


def test_exp_is_as_exact_as_it_says_over_its_whole_range():
    x = np.linspace(0, -87, 200_001, dtype=np.float32)
    z = np.column_stack([np.zeros((len(x), 3), np.float32), x]).astype(np.float32)
    compiled.output_loss(4, z, np.full(len(x), 2), FIRST, 4, 0.0)
    p = np.exp(x.astype(np.float64))  # of two words, the other has logit 0
    error = np.abs(z[:, 3] / (p / (1 + p)) - 1)
    assert (error < (5 - x) * 1e-7).all()


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("place", [2, 5, 9, 12])
def test_a_logit_that_is_no_number_makes_a_loss_that_is_none(bad, place):
    z = np.zeros((1, 13), np.float32)
    z[0, place] = bad
    labels = np.array([3])
    assert not math.isfinite(compiled.output_loss(4, z.copy(), labels, FIRST, 13, 0.1))
    assert not math.isfinite(compiled.output_loss(4, z, labels, FIRST, 13, 0.0))


def test_no_rows_have_no_loss():
    none = np.zeros((0, 8), np.float32), np.zeros(0, np.int64)
    assert compiled.output_loss(4, *none, FIRST, 8, 0.1) == 0


@pytest.mark.parametrize(
    ("labels", "first", "size"),
    [
        ([2, 8], 2, 8),
        ([2, 1], 2, 8),
        ([2, -1], 2, 8),
        ([2, 3], 2, 17),
        ([2, 3], 8, 8),
        ([2, 3], -1, 8),
        ([2, 3, 4], 2, 8),
    ],
)
def test_shapes_that_do_not_agree_are_refused(labels, first, size):
    z = np.zeros((2, 16), np.float32)
    with pytest.raises(ValueError, match="do not agree"):
        compiled.output_loss(4, z, np.array(labels), first, size, 0.1)
    assert not z.any()
