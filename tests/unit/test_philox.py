"""Philox4x32-10 against the known-answer vectors published with Random123 (kat_vectors)."""

from __future__ import annotations

import numpy as np
import pytest

from switchout.core import compiled
from switchout.sampling.address import Address
from switchout.sampling.arrays import random_words
from switchout.sampling.backends import backend_of

ONES = 0xFFFFFFFF
KNOWN = {  # counter, key: result
    "zeros": (
        (0, 0, 0, 0),
        (0, 0),
        (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8),
    ),
    "ones": (
        (ONES, ONES, ONES, ONES),
        (ONES, ONES),
        (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD),
    ),
    "pi": (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
}


@pytest.mark.parametrize("name", KNOWN)
def test_core_gives_the_published_words(name):
    counter, key, expected = KNOWN[name]
    c0, c1, epoch, block = counter
    assert compiled.philox(key[1] << 32 | key[0], epoch, 0, c1 << 32 | c0, block) == expected


@pytest.mark.parametrize("name", KNOWN)
def test_array_operations_give_the_published_words(name, framework):
    counter, key, expected = KNOWN[name]
    like = framework.array(np.zeros((1, 1), np.int32))
    xp = backend_of(like)
    c0, c1, c3 = (xp.to_u32(np.array([[w]], np.int64), like) for w in counter[:2] + counter[3:])
    address = Address(seed=key[1] << 32 | key[0], epoch=counter[2])
    words = random_words(xp, like, address, c0, c1, c3)
    assert tuple(int(framework.numpy(w)[0, 0]) for w in words) == expected


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"seed": -1}, ValueError),
        ({"seed": 1 << 64}, ValueError),
        ({"seed": 1.0}, TypeError),
        ({"seed": True}, TypeError),
        ({"seed": None}, TypeError),
        ({"seed": 0, "epoch": -1}, ValueError),
        ({"seed": 0, "epoch": 1 << 32}, ValueError),
        ({"seed": 0, "side": "sorce"}, ValueError),
        ({"seed": 0, "slot": 128}, ValueError),
    ],
    ids=str,
)
def test_address_out_of_range_is_refused(settings, error):
    with pytest.raises(error):
        Address(**settings)


def test_address_keeps_side_and_slot_apart():
    streams = {
        Address(0, 0, side, slot).stream for side in ("source", "target") for slot in range(128)
    }
    assert len(streams) == 256
    assert all(stream % (1 << 24) == 0 and stream < 1 << 32 for stream in streams)
