"""Numbers, bits and hashes (Terms)."""

import struct

_64 = (1 << 64) - 1
_PRIMES = (11400714785074694791, 14029467366897019727, 1609587929392839161, 9650029242287828579, 2870177450012600261)


class Reader:
    """Numbers from the begin of some bytes on."""

    def __init__(self, data):
        self.data, self.at = bytes(data), 0

    def take(self, size):
        assert self.at + size <= len(self.data)
        self.at += size
        return self.data[self.at - size:self.at]

    def _one(self, code):
        return struct.unpack("<" + code, self.take(struct.calcsize("<" + code)))[0]

    def u8(self):
        return self._one("B")

    def u16(self):
        return self._one("H")

    def u32(self):
        return self._one("I")

    def u64(self):
        return self._one("Q")

    def i16(self):
        return self._one("h")

    def i32(self):
        return self._one("i")

    def f32(self):
        return self._one("f")

    def f64(self):
        return self._one("d")

    def varint(self):
        number = shift = 0
        while True:
            byte = self.u8()
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return number

    def rest(self):
        return self.data[self.at:]

    def end(self):
        assert self.at == len(self.data)


class Bits:
    """Bits, the first one in the highest place of its byte."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def get(self, count):
        number = 0
        for _ in range(count):
            number = number << 1 | self.data[self.at >> 3] >> (7 - (self.at & 7)) & 1
            self.at += 1
        return number

    def unary(self):
        number = 0
        while self.get(1):
            number += 1
        return number

    def bytes_read(self):
        return -(-self.at // 8)

    def end(self):
        assert self.bytes_read() == len(self.data)


def unzigzag(number):
    return number >> 1 ^ -(number & 1)


def _rotated(number, bits):
    return (number << bits | number >> (64 - bits)) & _64


def _round(lane, word):
    return _rotated((lane + word * _PRIMES[1]) & _64, 31) * _PRIMES[0] & _64


def _merged_lanes(data):
    lanes = [(_PRIMES[0] + _PRIMES[1]) & _64, _PRIMES[1], 0, -_PRIMES[0] & _64]
    for stripe in struct.iter_unpack("<4Q", data[:len(data) // 32 * 32]):
        lanes = [_round(lane, word) for lane, word in zip(lanes, stripe)]
    number = sum(_rotated(lane, bits) for lane, bits in zip(lanes, (1, 7, 12, 18))) & _64
    for lane in lanes:
        number = ((number ^ _round(0, lane)) * _PRIMES[0] + _PRIMES[3]) & _64
    return number


def xxh64(data):
    """XXH64 with the seed 0."""
    number = _merged_lanes(data) if len(data) >= 32 else _PRIMES[4]
    number = (number + len(data)) & _64
    rest = Reader(data[len(data) // 32 * 32:])
    while len(rest.rest()) >= 8:
        number = (_rotated(number ^ _round(0, rest.u64()), 27) * _PRIMES[0] + _PRIMES[3]) & _64
    if len(rest.rest()) >= 4:
        number = (_rotated(number ^ rest.u32() * _PRIMES[0] & _64, 23) * _PRIMES[1] + _PRIMES[2]) & _64
    for byte in rest.rest():
        number = _rotated(number ^ byte * _PRIMES[4] & _64, 11) * _PRIMES[0] & _64
    number = (number ^ number >> 33) * _PRIMES[1] & _64
    number = (number ^ number >> 29) * _PRIMES[2] & _64
    return number ^ number >> 32


def hash_of(data):
    """hash(data)."""
    blocks = [data[at:at + 16384] for at in range(0, len(data), 16384)]
    return xxh64(b"".join(struct.pack("<Q", xxh64(block)) for block in blocks))
