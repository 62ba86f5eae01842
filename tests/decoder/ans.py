"""The ANS coder (section 6)."""

from types import SimpleNamespace

from .numbers import Bits, Reader

_OUTLIER = 38
_CODE, _GAP, _INNER_GAP, _MAGNITUDE = range(4)


def read(table):
    centre, index, partition = table.varint(), table.u8(), table.varint()
    return SimpleNamespace(decoded=decoded, needs_contexts=True, centre=centre, index=index, partition=partition)


def _least_number(token):
    return token if token < 16 else (2 + token % 2) << ((token - 16) // 2 + 3)


def _raw_bits(kind, token):
    if kind == _MAGNITUDE:
        token += 2
    if kind in (_CODE, _MAGNITUDE) and token in (0, _OUTLIER):
        return 0
    of_number = 0 if token < 16 else (token - 16) // 2 + 3
    return of_number + (kind in (_CODE, _GAP))


def _read_model(bits, last):
    s, k = bits.get(6), bits.get(2)
    h = (2 + s % 2) * 2 ** (s // 2)

    def share(token):
        if token > last:
            return 0
        value = 2 ** 16 * h // (h + 32 * _least_number(token))
        for _ in range(k):
            value = value * value // 2 ** 16
        return value

    table = [1 + (share(t) - share(t + 1)) * 4032 // 2 ** 16 for t in range(last + 1)]
    table[table.index(max(table))] += 4096 - sum(table)
    return table


def _read_frequencies(bits):
    is_model, last = bits.get(1), bits.get(6)
    if is_model:
        return _read_model(bits, last)
    below = bits.unary()
    commonest = (1 << below | bits.get(below)) - 1
    table, exponent = [0] * (max(last, commonest) + 1), 12
    for token in range(last + 1):
        if token == commonest:
            continue
        rank = bits.unary()
        exponent += -(rank + 1) // 2 if rank % 2 else rank // 2
        if exponent:
            stored = min(exponent - 1, 1)
            table[token] = (1 << stored | bits.get(stored)) << (exponent - 1 - stored)
    table[commonest] = 4096 - sum(table)
    return table


def _read_tables(bits, points):
    """The tables of a pass: their first contexts, whether by gaps, and their lists."""
    tables, left = [], points
    while bits.get(1):
        first = tables[-1].first + 1 + bits.unary() if tables else 0
        by_gaps = bits.get(1)
        count = bits.get(left.bit_length())
        larger = bits.get(count.bit_length()) if by_gaps else 0
        kinds = [(_GAP if by_gaps else _CODE, count), (_INNER_GAP, larger), (_MAGNITUDE, larger)]
        lists = [SimpleNamespace(kind=kind, count=slots, frequencies=_read_frequencies(bits) if slots else None, slots=[])
                 for kind, slots in kinds]
        tables.append(SimpleNamespace(first=first, by_gaps=by_gaps, lists=lists))
        left -= count
    return tables


def _decode_segment(words, lists):
    """Decodes a segment whose slots belong to these lists."""
    states = [words.u32() for _ in range(-(-len(lists) // 1024))]
    tokens = []
    for i, its_list in enumerate(lists):
        lane = i % len(states)
        rest, token, frequencies = states[lane] % 4096, 0, its_list.frequencies
        while rest >= frequencies[token]:
            rest -= frequencies[token]
            token += 1
        states[lane] = frequencies[token] * (states[lane] >> 12) + rest
        if states[lane] < 1 << 16:
            states[lane] = states[lane] << 16 | words.u16()
        tokens.append(token)
    widths = [_raw_bits(its_list.kind, token) for its_list, token in zip(lists, tokens)]
    carrying = min(len(states), sum(widths) // 16)
    assert all(state == 1 << 16 for state in states[carrying:])
    raw = sum(state - (1 << 16) << 16 * lane for lane, state in enumerate(states[:carrying]))
    for word in range(carrying, -(-sum(widths) // 16)):
        raw |= words.u16() << 16 * word
    for its_list, token, width in zip(lists, tokens, widths):
        its_list.slots.append((token, raw & ((1 << width) - 1)))
        raw >>= width
    assert raw == 0


def _read_chain(frame, passes, points):
    """The tables of a level's passes, with their codes."""
    data = frame.passes[passes[0]].get("codes")
    if data is None:
        return [[] for _ in passes]
    bits = Bits(data)
    of_passes = [_read_tables(bits, points[number]) for number in passes]
    words = Reader(data[bits.bytes_read():])
    slots = [its_list for tables in of_passes for table in tables for its_list in table.lists
             for _ in range(its_list.count)]
    for start in range(0, len(slots), 32768):
        _decode_segment(words, slots[start:start + 32768])
    words.end()
    for tables in of_passes:
        for table in tables:
            table.codes = (_codes_by_gaps if table.by_gaps else _codes)(table.lists, frame.coder.centre)
    return of_passes


def _number(token, raw):
    return _least_number(token) | raw


def _code(magnitude, is_below, centre):
    return centre - magnitude if is_below else centre + magnitude


def _codes(lists, centre):
    return [0 if token == _OUTLIER else _code(_number(token, raw >> 1), raw & 1, centre) for token, raw in lists[0].slots]


def _codes_by_gaps(lists, centre):
    gaps, inner, magnitudes = (its_list.slots for its_list in lists)
    of_others, at = [1] * len(gaps), 0
    for (token, raw), (of_magnitude, magnitude_raw) in zip(inner, magnitudes):
        at += _number(token, raw)
        of_others[at] = 0 if of_magnitude + 2 == _OUTLIER else _number(of_magnitude + 2, magnitude_raw)
        at += 1
    codes = []
    for (token, raw), magnitude in zip(gaps, of_others):
        codes += [centre] * _number(token, raw >> 1)
        codes.append(0 if magnitude == 0 else _code(magnitude, raw & 1, centre))
    return codes


def decoded(frame, number, count, contexts=None):
    """The codes of a pass that has `count` of them, in the order of its points."""
    if not hasattr(frame, "tables"):
        levels = frame.predictor.level_of_pass
        frame.tables = []
        for level in range(levels[-1] + 1):
            passes = [i for i, its_level in enumerate(levels) if its_level == level]
            frame.tables += _read_chain(frame, passes, frame.predictor.points_of_pass)
    tables = frame.tables[number]
    codes, used = [], [0] * len(tables)
    for i in range(count):
        context = contexts[i] if contexts else 0
        having = [t for t, table in enumerate(tables) if table.first <= context]
        if not having:
            codes.append(frame.coder.centre)
            continue
        of_table = tables[having[-1]].codes
        at = used[having[-1]]
        codes.append(of_table[at] if at < len(of_table) else frame.coder.centre)
        used[having[-1]] += 1
    for table, its_used in zip(tables, used):
        assert len(table.codes) <= its_used if table.by_gaps else len(table.codes) == its_used
    return codes
