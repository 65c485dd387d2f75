"""Digits read eight at a time, by compiled loops: the text's bytes are one word, and arithmetic treats them alike [1].

Eight bytes from some place on are loaded as one word, the first as its lowest byte. Every byte is tested at once for
being no digit. The digits before the first such byte are moved to the top of the word, behind zeros. Then neighbours
are joined: digits to pairs, these to fours, and these to the number.

[1] L. Lamport, Multiple byte processing with full-word instructions, Communications of the ACM 18(8), 1975.
"""

from __future__ import annotations

import numpy as np

ZEROS, TO_HIGH_BIT, HIGH_BITS = (np.uint64(byte * 0x0101010101010101) for byte in (0x30, 0x80 - 0x3A, 0x80))
"""In every byte: the digit 0, what takes all above the digit 9 to the highest bit, and that bit."""
PLACES = np.uint64(sum((k + 1) << (53 - 8 * k) for k in range(7)) + 1)
"""Times the highest bit of byte k, this has k + 1 in its four highest bits."""
FOURS = np.uint64(0x000000FF000000FF)
HUNDRED_AND_MILLION, ONE_AND_TEN_THOUSAND = np.uint64((1000000 << 32) + 100), np.uint64((10000 << 32) + 1)
ONE, THREE, EIGHT, TEN, SIXTEEN, HALF, TOP, WORD = (np.uint64(n) for n in (1, 3, 8, 10, 16, 32, 60, 64))
HUNDRED_MILLION = np.uint64(10**8)
TENS = np.array([0] + [10**k for k in range(8)], np.uint64)
"""10^k by k + 1."""


def digits_from(text, i, number, tens):
    """Returns (`number` with the digits from text[i] on behind it, modulo 2^64; where they end).

    text: bytes, eight of which can be loaded from i on, and from behind all the digits.  tens: TENS.
    """
    word = eight_from(text, i)
    others = no_digits_in(word)
    while others == 0:
        number = number * HUNDRED_MILLION + joined(word ^ ZEROS)
        i += 8
        word = eight_from(text, i)
        others = no_digits_in(word)
    past = ((others & (~others + ONE)) * PLACES) >> TOP
    digits = ((word ^ ZEROS) << (WORD - (past << THREE))) << EIGHT
    return number * tens[past] + joined(digits), i + np.int64(past) - 1


def no_digits_in(word):
    """0 if all eight bytes are digits; else the lowest bit that is set is the highest one of the first that is none."""
    return ((word + TO_HIGH_BIT) | (word - ZEROS)) & HIGH_BITS  # no digit carries into the next byte


def eight_from(text, i):
    """The bytes from text[i] on as a word: together one instruction."""
    at = np.uint64(i)
    return (
        np.uint64(text[at])
        | np.uint64(text[at + np.uint64(1)]) << np.uint64(8)
        | np.uint64(text[at + np.uint64(2)]) << np.uint64(16)
        | np.uint64(text[at + np.uint64(3)]) << np.uint64(24)
        | np.uint64(text[at + np.uint64(4)]) << np.uint64(32)
        | np.uint64(text[at + np.uint64(5)]) << np.uint64(40)
        | np.uint64(text[at + np.uint64(6)]) << np.uint64(48)
        | np.uint64(text[at + np.uint64(7)]) << np.uint64(56)
    )


def joined(digits):
    """The number that eight digits are."""
    pairs = digits * TEN + (digits >> EIGHT)
    return ((pairs & FOURS) * HUNDRED_AND_MILLION + ((pairs >> SIXTEEN) & FOURS) * ONE_AND_TEN_THOUSAND) >> HALF
