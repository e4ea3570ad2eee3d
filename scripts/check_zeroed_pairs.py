#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finds kernels that read a zeroed register pair too early, which ptxas 13.0 has been seen to let them do.

It zeroes a pair of registers under a predicate, writes it otherwise under the opposite one, and counts the cycles to
the next reader from the second write alone:

    @!P1 CS2R R2, SRZ;  @P1 IMAD.WIDE.U32 R2, ...;  ISETP.NE.U32 P0, R2, RZ     5 cycles; elsewhere 7 and more

Once in some 10^8 warps the reader still saw what was there before (CONTRIBUTING.md, "Compilers"). What is looked for is such
a pair, and a reader of it less than 6 cycles later.

usage: check_zeroed_pairs.py FILE.cubin...     (cuobjdump -xelf all PROGRAM makes them)
"""

import struct
import sys

LEAST = 6  # cycles; pairs that are always zeroed have 7
CS2R = 0x805
ALWAYS = 7  # the predicate of what is always done


def sections(data):
    table = struct.unpack_from("<Q", data, 40)[0]
    size, number, names = struct.unpack_from("<HHH", data, 58)
    headers = [struct.unpack_from("<IIQQQQ", data, table + i * size) for i in range(number)]
    for name, _, _, _, begin, length in headers:
        text = headers[names][4] + name
        yield data[text : data.index(b"\0", text)].decode(), data[begin : begin + length]


def early_readers(code):
    """The distances in cycles from zeroed pairs to what reads them too early."""
    instructions = list(struct.iter_unpack("<QQ", code[: len(code) // 16 * 16]))
    for i, (low, _) in enumerate(instructions):
        if low & 0xFFF != CS2R or low >> 12 & 7 == ALWAYS:
            continue
        pair = (low >> 16 & 0xFF, (low >> 16 & 0xFF) + 1)
        cycles = 0
        for (_, high), (reader, _) in zip(instructions[i:], instructions[i + 1 :]):
            cycles += high >> 41 & 15
            if cycles >= LEAST:
                break
            if reader >> 24 & 0xFF in pair:
                yield cycles
                break


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    kernels, bad = 0, 0
    for path in sys.argv[1:]:
        with open(path, "rb") as file:
            data = file.read()
        if data[:4] != b"\x7fELF":
            sys.exit(f"error: {path} is no cubin")
        for name, code in sections(data):
            if not name.startswith(".text."):
                continue
            kernels += 1
            for cycles in early_readers(code):
                bad += 1
                print(f"{name[6:]}: a zeroed pair is read after {cycles} cycles")
    print(f"{kernels} kernels, {bad} early readers")
    sys.exit(bad != 0)


if __name__ == "__main__":
    main()
