"""The Huffman coder (section 5)."""

from types import SimpleNamespace

from .numbers import Bits, Reader


def read(table):
    chunk, index, partition = 1 << table.u8(), table.u8(), table.varint()
    return SimpleNamespace(decoded=decoded, needs_contexts=False, chunk=chunk, index=index, partition=partition)


def _lengths(data):
    reader = Reader(data)
    first, count = reader.varint(), reader.varint()
    lengths, before = [0] * first, 0
    while len(lengths) < first + count:
        byte = reader.u8()
        if byte < 64:
            before = byte
        lengths += [before] * max(byte - 63, 1)
    reader.end()
    return lengths


def _symbols(lengths):
    """Symbols by the lengths and numbers of their codewords."""
    symbols, code = {}, 0
    for length in range(1, 57):
        code *= 2
        for symbol, its_length in enumerate(lengths):
            if its_length == length:
                symbols[length, code] = symbol
                code += 1
    return symbols


def decoded(frame, number, count, contexts=None):
    """The codes of a pass that has `count` of them. The index is of no use to those who begin with the first codeword."""
    sections = frame.passes[number]
    if count == 0:
        return []
    symbols = _symbols(_lengths(sections["codebook"]))
    bits, codes = Bits(sections["codes"]), []
    while len(codes) < count:
        length = code = 0
        while (length, code) not in symbols:
            length, code = length + 1, code * 2 + bits.get(1)
        codes.append(symbols[length, code])
    bits.end()
    return codes
