"""PNG files of 8 and 16 bits a channel as arrays of numbers from 0 to 1: rows, columns, channels."""
import struct
import zlib

import numpy as np

CHANNELS = {0: 1, 2: 3, 4: 2, 6: 4}


def chunks(data):
    at = 8
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        yield kind, data[at + 8:at + 8 + size]
        at += 12 + size


def paeth(left, above, corner):
    guess = left + above - corner
    return min((abs(guess - left), 0, left), (abs(guess - above), 1, above), (abs(guess - corner), 2, corner))[2]


def read_png(path):
    with open(path, "rb") as file:
        data = file.read()
    assert data[:8] == b"\x89PNG\r\n\x1a\n", path
    width, height, bits, kind, _, _, interlace = struct.unpack(">IIBBBBB", next(chunks(data))[1])
    assert bits in (8, 16) and kind in CHANNELS and interlace == 0, (bits, kind, interlace)
    raw = zlib.decompress(b"".join(body for name, body in chunks(data) if name == b"IDAT"))
    step = CHANNELS[kind] * bits // 8
    rows, above = [], [0] * (width * step)
    for y in range(height):
        begin = y * (width * step + 1)
        method, row = raw[begin], list(raw[begin + 1:begin + 1 + width * step])
        for x in range(len(row)):
            left = row[x - step] if x >= step else 0
            corner = above[x - step] if x >= step else 0
            row[x] = (row[x] + (0, left, above[x], (left + above[x]) // 2,
                                paeth(left, above[x], corner))[method]) & 255
        rows.append(row)
        above = row
    values = np.array(rows, np.float64).reshape(height, width, CHANNELS[kind], bits // 8)
    return values[..., 0] / 255
