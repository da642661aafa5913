#!/usr/bin/env python3
"""Writes wadi/_abi.py, the library's interface for ctypes, from its headers: make_abi.py HEADERS OUTPUT.

Understands the C that the headers are written in: enums, structs of plain members, opaque types, types of
functions, and functions marked WADI_API. Anything else is an error, so that nothing is left out in silence.
"""

import pathlib
import re
import sys

PLAIN = {
    'int': 'c_int', 'unsigned': 'c_uint', 'char': 'c_char', 'bool': 'c_bool', 'double': 'c_double', 'float': 'c_float',
    'size_t': 'c_size_t', 'int32_t': 'c_int32', 'int64_t': 'c_int64', 'uint8_t': 'c_uint8', 'uint32_t': 'c_uint32',
    'uint64_t': 'c_uint64', 'unsigned char': 'c_uint8', 'void': 'None',
}


class Abi:
    def __init__(self):
        self.constants, self.lines, self.functions = {}, [], []
        self.enums, self.structs, self.opaque, self.callbacks = set(), [], set(), set()

    def plain(self, name):
        """The ctypes name of a type without pointers."""
        name = re.sub(r'\b(const|volatile|struct)\b', '', name).strip()
        name = re.sub(r'\s+', ' ', name)
        if name in PLAIN:
            return PLAIN[name]
        if name in self.enums:
            return 'c_int'
        if name in self.structs or name in self.callbacks:
            return name
        if name in self.opaque:
            return 'None'
        raise SystemExit(f'make_abi: unknown type {name!r}')

    def pointer(self, name, stars):
        base = self.plain(name)
        for _ in range(stars):
            if base == 'None':
                base = 'c_void_p'
            elif base == 'c_char':
                base = 'c_char_p'
            else:
                base = f'POINTER({base})'
        return base

    def declare(self, text):
        """(name, ctypes type) of each declarator of `double x, y[3]` or `const char *name`."""
        text = re.sub(r'\s+', ' ', text.strip())
        callback = re.fullmatch(r'(.+?)\(\*(\w+)\)\((.*)\)', text)
        if callback:
            return [(callback[2], self.callback(callback[1], callback[3]))]
        head, *more = text.split(',')
        match = re.fullmatch(r'(.*?)((?:\*|\bconst\b\s*|\s)*)(\w+)\s*((?:\[\w+\])*)', head.strip())
        base = match[1].strip()
        result = []
        for part in [match[2] + match[3] + match[4], *more]:
            stars = part.count('*')
            name, counts = re.fullmatch(r'[\s*]*(?:const\s*)?[\s*]*(\w+)((?:\[\w+\])*)', part.strip()).groups()
            kind = self.pointer(base, stars)
            for count in reversed(re.findall(r'\[(\w+)\]', counts)):
                kind = f'{kind} * {self.constants.get(count, count)}'
            result.append((name, kind))
        return result

    def callback(self, result, arguments):
        kinds = [self.declare(a)[0][1] for a in arguments.split(',')] if arguments.strip() != 'void' else []
        kinds = [re.sub(r'^c_char_p$', 'c_char_p', k) for k in kinds]
        return f'CFUNCTYPE({", ".join([self.pointer(result.replace("*", ""), result.count("*")), *kinds])})'

    def add_enum(self, name, body):
        value = -1
        for entry in filter(None, (e.strip() for e in body.split(','))):
            key, _, given = (part.strip() for part in entry.partition('='))
            value = int(eval(given, {}, dict(self.constants))) if given else value + 1
            self.constants[key] = value
            self.lines.append(f'{key} = {value}')
        if name:
            self.enums.add(name)

    def add_struct(self, name, body):
        fields = []
        for member in filter(None, (m.strip() for m in body.split(';'))):
            fields += self.declare(member)
        rows = '\n'.join(f"        ('{n}', {k})," for n, k in fields)
        self.structs.append(name)
        self.lines.append(f'\n\nclass {name}(Structure):\n    _fields_ = [\n{rows}\n    ]\n\n')

    def add_header(self, text):
        text = re.sub(r'/\*.*?\*/', ' ', text, flags=re.S)
        text = re.sub(r'^\s*#.*(?:\\\n.*)*$', '', text, flags=re.M)
        text = text.replace('extern "C" {', '')
        pattern = re.compile(
            r'typedef enum (?P<enum>\w+) \{(?P<enum_body>[^}]*)\} \w+;'
            r'|enum \{(?P<constants>[^}]*)\};'
            r'|typedef struct (?P<struct>\w+) \{(?P<body>.*?)\} (?P=struct);'
            r'|typedef struct (?P<opaque>\w+) (?P=opaque);'
            r'|typedef (?P<result>[^;(]+)\(\*(?P<callback>\w+)\)\((?P<arguments>[^;]*)\);'
            r'|WADI_API (?P<function>[^;]+);|(?P<end>\})', re.S)
        at = 0
        for m in pattern.finditer(text):
            if text[at:m.start()].strip():
                raise SystemExit(f'make_abi: cannot read {text[at:m.start()].strip()[:200]!r}')
            at = m.end()
            if m['enum']:
                self.add_enum(m['enum'], m['enum_body'])
            elif m['constants']:
                self.add_enum(None, m['constants'])
            elif m['struct']:
                self.add_struct(m['struct'], m['body'])
            elif m['opaque']:
                self.opaque.add(m['opaque'])
            elif m['callback']:
                self.callbacks.add(m['callback'])
                self.lines.append(f"\n{m['callback']} = {self.callback(m['result'], m['arguments'])}")
            elif m['function']:
                self.add_function(m['function'])
        if text[at:].strip():
            raise SystemExit(f'make_abi: cannot read {text[at:].strip()[:200]!r}')

    def add_function(self, text):
        head, _, rest = re.sub(r'\s+', ' ', text).partition('(')
        arguments = rest.rsplit(')', 1)[0]
        result, name = re.fullmatch(r'(.*?)(\w+)', head.strip()).groups()
        kinds = []
        for a in (a.strip() for a in arguments.split(',')) if arguments.strip() != 'void' else ():
            kinds.append(self.argument(a))
        # A text that the caller releases stays a pointer: c_char_p would be copied and its address lost.
        kind = self.pointer(result.replace('*', ''), result.count('*'))
        self.functions.append((name, kind, kinds))

    def argument(self, text):
        array = re.fullmatch(r'(.*?)(\w+)\[\w*\]', text)
        if array:
            return f"POINTER({self.plain(array[1])})" if '*' not in array[1] else 'c_void_p'
        name = re.fullmatch(r'(.*?[\s*])(\w+)', text)
        return self.pointer(name[1].replace('*', ' '), name[1].count('*'))

    def text(self):
        functions = '\n'.join(f"    '{n}': ({r}, [{', '.join(k)}])," for n, r, k in self.functions)
        body = re.sub(r'\n{4,}', '\n\n\n', '\n'.join(self.lines))
        return ('"""The C interface of the library, written by make_abi.py from its headers: do not edit."""\n\n'
                'from ctypes import (CFUNCTYPE, POINTER, Structure, c_bool, c_char, c_char_p, c_double, c_float, c_int,\n'
                '                    c_int32, c_int64, c_size_t, c_uint, c_uint8, c_uint32, c_uint64, c_void_p)\n\n'
                + body + '\n\n\n# name: (result, arguments)\nFUNCTIONS = {\n' + functions + '\n}\n\nSTRUCTS = ('
                + ''.join(f'{s}, ' for s in self.structs) + ')\n')


def make(headers):
    headers = pathlib.Path(headers)
    order = re.findall(r'#include "wadi/(\w+\.h)"', (headers / 'wadi.h').read_text())
    abi, done = Abi(), set()

    def add(name):
        if name in done:
            return
        done.add(name)
        text = (headers / name).read_text()
        for other in re.findall(r'#include "wadi/(\w+\.h)"', text):
            add(other)
        abi.add_header(text)

    for name in order:
        add(name)
    return abi.text()


if __name__ == '__main__':
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    pathlib.Path(sys.argv[2]).write_text(make(sys.argv[1]))
