"""Reads USD's binary files (crate 0.8.0) by the layout that OpenUSD's reader expects, as far as wadi writes them."""
import struct

import numpy as np

ARRAY, INLINED = 1 << 63, 1 << 62
ELEMENTS = {3: ("<i4", 1), 5: ("<i8", 1), 8: ("<f4", 1), 9: ("<f8", 1), 11: ("<u4", 1), 15: ("<f8", 16), 24: ("<f4", 3)}


def unpack_lz4(data):
    """One chunk; a block with matches is refused, since none is written."""
    assert data[0] == 0, "several chunks"
    length, at = data[1] >> 4, 2
    if length == 15:
        while data[at] == 255:
            length, at = length + 255, at + 1
        length, at = length + data[at], at + 1
    assert len(data) == at + length, "a match"
    return data[at:]


class Layer:
    """`fields[path][name]` is a value; of "timeSamples" a dict of times."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        magic, version, contents = struct.unpack_from("<8s3s5xq", self.data)
        assert magic == b"PXR-USDC" and version == bytes([0, 8, 0]), (magic, version)
        self.at = contents
        self.sections = {}
        for _ in range(self.number()):
            name, start, size = struct.unpack_from("<16sqq", self.data, self.at)
            self.at += 32
            assert 88 <= start and start + size <= contents, name
            self.sections[name.rstrip(b"\0").decode()] = start
        self.tokens = self.read_tokens()
        keys, values, sets = self.read_fields()
        paths = self.read_paths()
        self.fields = {}
        self.kinds = {}
        self.open("SPECS")
        count = self.number()
        for path_index, first, kind in zip(self.integers(count), self.integers(count), self.integers(count)):
            last = sets.index(-1, first)
            self.kinds[paths[path_index]] = kind
            self.fields[paths[path_index]] = {self.tokens[keys[f]]: self.value(values[f]) for f in sets[first:last]}

    def open(self, name):
        self.at = self.sections[name]

    def number(self):
        self.at += 8
        return struct.unpack_from("<Q", self.data, self.at - 8)[0]

    def block(self):
        size = self.number()
        self.at += size
        return unpack_lz4(self.data[self.at - size:self.at])

    def integers(self, count):
        data = self.block()
        common, at, value, result = struct.unpack_from("<i", data)[0], 4 + (2 * count + 7) // 8, 0, []
        for i in range(count):
            code = data[4 + i // 4] >> 2 * (i % 4) & 3
            size = (0, 1, 2, 4)[code]
            value += int.from_bytes(data[at:at + size], "little", signed=True) if size else common
            at += size
            result.append(value)
        assert at == len(data), "bytes after the integers"
        return result

    def read_tokens(self):
        self.open("TOKENS")
        count, size = self.number(), self.number()
        data = self.block()
        assert len(data) == size
        tokens = data.decode().split("\0")[:-1]
        assert len(tokens) == count
        return tokens

    def read_fields(self):
        self.open("FIELDS")
        count = self.number()
        keys = self.integers(count)
        values = struct.unpack(f"<{count}Q", self.block())
        self.open("FIELDSETS")
        return keys, values, self.integers(self.number())

    def read_paths(self):
        self.open("PATHS")
        self.number()
        count = self.number()
        index, element, jump = self.integers(count), self.integers(count), self.integers(count)
        paths = {}

        def walk(at, parent):
            while True:
                name = self.tokens[abs(element[at])]
                mark = "." if element[at] < 0 else "" if parent == "/" else "/"
                here = parent + mark + name if parent else "/"
                assert index[at] not in paths, "a path twice"
                paths[index[at]] = here
                if jump[at] > 0 or jump[at] == -1:
                    walk(at + 1, here)
                if jump[at] < 0:
                    return
                at += jump[at] or 1

        walk(0, "")
        assert len(paths) == count
        return paths

    def value(self, rep):
        kind, payload = rep >> 48 & 0xFF, rep & (1 << 48) - 1
        if rep & ARRAY:
            return self.array(kind, payload)
        if kind == 46:
            return self.samples(payload)
        if kind in (41, 48):
            count = struct.unpack_from("<Q", self.data, payload)[0]
            values = struct.unpack_from(f"<{count}{'I' if kind == 41 else 'd'}", self.data, payload + 8)
            return [self.tokens[v] for v in values] if kind == 41 else list(values)
        if kind == 15:
            return np.frombuffer(self.data, "<f8", 16, payload).reshape(4, 4)
        if rep & INLINED and kind in (8, 9):
            return struct.unpack("<f", struct.pack("<I", payload))[0]
        if kind == 9:
            return struct.unpack_from("<d", self.data, payload)[0]
        assert rep & INLINED, kind
        return self.tokens[payload] if kind == 11 else payload

    def array(self, kind, at):
        element, width = ELEMENTS[kind]
        if at == 0:
            return np.zeros((0, width) if width > 1 else 0, element)
        count = struct.unpack_from("<Q", self.data, at)[0]
        values = np.frombuffer(self.data, element, count * width, at + 8)
        if kind == 11:
            return [self.tokens[v] for v in values]
        return values.reshape(count, width) if width > 1 else values

    def samples(self, at):
        first, times, second, count = struct.unpack_from("<qQqQ", self.data, at)
        assert (first, second) == (8, 8)
        values = struct.unpack_from(f"<{count}Q", self.data, at + 32)
        return dict(zip(self.value(times), (self.value(v) for v in values)))

    def at_time(self, path, time):
        """The attribute's value at a time that has a sample."""
        return self.fields[path]["timeSamples"][time]
