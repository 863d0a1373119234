#!/usr/bin/env python3
"""Writes the fixtures of binary workbooks, as make.py does the others.

It needs xlwt (PyPI), which writes what Excel 97 to 2003 wrote. What that
library cannot write is made here, record by record ([MS-XLS]): a workbook of
Excel 5, with the kinds of cell that only other programs write.
"""

import datetime
import io
import struct

import xlwt

from make import put


def style(code):
    s = xlwt.XFStyle()
    s.num_format_str = code
    return s


def book():
    wb = xlwt.Workbook()
    ws = wb.add_sheet("Income & more")
    ws.write_merge(0, 0, 0, 2, "Household income")
    for i, h in enumerate(["Month", "Net", "Share", "Paid on"]):
        ws.write(1, i, h)
    rows = [("January", 2500.5, 0.075, datetime.date(2026, 1, 31)), ("Ferragosto | ƒ", -12, 1, datetime.date(2024, 2, 29))]
    for y, (month, net, share, day) in enumerate(rows, 2):
        ws.write(y, 0, month)
        ws.write(y, 1, net, style('"$"#,##0.00'))
        ws.write(y, 2, share, style("0.0%"))
        ws.write(y, 3, day, style("yyyy-mm-dd"))
    ws.write(5, 0, "hidden row")
    ws.row(5).hidden = True
    ws.write(6, 4, "hidden column")
    ws.col(4).hidden = True
    ws.write(6, 0, True)
    ws.write(6, 1, 1e15)
    ws.write(6, 2, "NA")
    long = wb.add_sheet("Long")
    for i in range(60):  # more shared text than one record holds, cut at all kinds of places
        long.write(i, 0, f"{i} " + ("mañana " * 30 if i % 2 else "日本語 " * 40))
    hidden = wb.add_sheet("Secret")
    hidden.visibility = 1
    hidden.write(0, 0, "not to be seen")
    buf = io.BytesIO()
    wb.save(buf)
    return buf.getvalue()


def record(kind, data=b""):
    return struct.pack("<HH", kind, len(data)) + data


def cell(kind, row, column, data, xf=0):
    return record(kind, struct.pack("<HHH", row, column, xf) + data)


def excel5():
    """A stream without its container: Russian, dates from 1904."""
    def text(s):
        b = s.encode("cp1251")
        return struct.pack("<H", len(b)) + b

    name = "Счета".encode("cp1251")
    head = record(0x809, struct.pack("<HHHH", 0x500, 5, 0, 0)) + record(0x42, struct.pack("<H", 1251)) + record(0x22, struct.pack("<H", 1))
    code = b"0.00%"
    head += record(0x41E, struct.pack("<HB", 164, len(code)) + code)
    for fmt in (0, 14, 164):
        head += record(0xE0, struct.pack("<HH", 0, fmt) + bytes(12))
    at = len(head) + 4 + 7 + len(name) + 4
    head += record(0x85, struct.pack("<IBBB", at, 0, 0, len(name)) + name) + record(0xA)
    sheet = record(0x809, struct.pack("<HHHH", 0x500, 0x10, 0, 0))
    sheet += cell(0x204, 0, 0, text("Дата"))
    sheet += cell(0x204, 0, 1, text("Доля"))
    sheet += cell(0x203, 2, 0, struct.pack("<d", 1.0), 1)
    sheet += cell(0x27E, 2, 1, struct.pack("<I", (1250 << 2) | 3), 2)  # 12.5 as hundredths
    sheet += cell(0x27E, 1, 0, struct.pack("<I", 36890 << 2 | 2), 1)  # out of order
    sheet += record(0xBD, struct.pack("<HH", 3, 0) + struct.pack("<HI", 0, 7 << 2 | 2) + struct.pack("<HI", 0, 8 << 2 | 2) + struct.pack("<H", 1))
    sheet += cell(0x205, 4, 0, b"\x01\x00")
    sheet += cell(0x205, 4, 1, b"\x07\x01")
    sheet += cell(0x06, 5, 0, b"\x00\x00\x00\x00\x00\x00\xff\xff" + bytes(6))
    sheet += record(0x207, text("итог"))
    sheet += cell(0x06, 5, 1, struct.pack("<d", -2.25) + bytes(6))
    sheet += record(0x809, struct.pack("<HHHH", 0x500, 0x20, 0, 0)) + cell(0x203, 9, 9, struct.pack("<d", 99.0)) + record(0xA)  # a chart's own
    sheet += cell(0x06, 6, 0, b"\x01\x00\x00\x00\x00\x00\xff\xff" + bytes(6))
    sheet += cell(0x06, 6, 1, b"\x02\x00\x2a\x00\x00\x00\xff\xff" + bytes(6))
    return head + sheet + record(0xA)


def main():
    data = book()
    put("xls-book", "in.xls", data)
    put("xls-range", "in.xls", data, sheet="1", range="B2:C4")
    put("xls-excel5", "in.xls", excel5())


if __name__ == "__main__":
    main()
