"""Makes the PDF cases that need more than make.py's.

Run it in this folder; it needs reportlab (PyPI), and what make.py needs.
"""

import io

from reportlab.lib.pagesizes import A4

from make import LOREM, new_pdf, put, wrap


def running():
    """Three pages with a head and a foot, a listing, a link, a title in another face."""
    buf, c = new_pdf()
    for page in range(1, 4):
        c.setFont("Helvetica", 9)
        c.drawString(72, 800, "Minutes of the hall committee")
        c.drawRightString(A4[0] - 72, 40, f"Page {page} of 3")
        y = wrap(c, LOREM[:50], 72, 730, 400)
        if page == 1:
            y -= 20
            c.setFont("Helvetica", 11.8)
            c.drawString(72, y, "How the fee is reckoned")
            c.setFont("Courier", 9)
            for i, line in enumerate(["for b in bookings:", "    fee = b.hours * 12  # pounds", "    if b.member:", "        fee /= 2"]):
                c.drawString(72, y - 24 - 11 * i, line)
            y = wrap(c, LOREM[50:80], 72, y - 90, 400)
            c.setFont("Times-Roman", 11)
            c.drawString(72, y - 30, "Write to the")
            x = 72 + c.stringWidth("Write to the ", "Times-Roman", 11)
            c.drawString(x, y - 30, "treasurer")
            c.linkURL("https://example.org/treasurer", (x, y - 33, x + c.stringWidth("treasurer", "Times-Roman", 11), y - 20))
            c.drawString(x + c.stringWidth("treasurer", "Times-Roman", 11), y - 30, ", not to the hall.")
        c.showPage()
    c.save()
    return buf.getvalue()


def aligned():
    """A table without lines: a cell of two lines, blanks, figures flush right."""
    buf, c = new_pdf()
    c.setFont("Helvetica", 10)
    c.drawString(72, 760, "Bookings of the year, by room and by the group that made them:")
    rows = [
        ("Room", "Group", "Hours", "Paid"),
        ("Great hall", "Choir", "120", "1,440.00"),
        ("", "Players and their", "", ""),
        ("", "guests", "", ""),
        ("Kitchen", "Garden group", "8", "96.00"),
        ("Small room", "", "31", "372.00"),
        ("Total", "", "159", "1,908.00"),
    ]
    y = 730
    for a, b, hours, paid in rows:
        c.drawString(72, y, a)
        c.drawString(180, y, b)
        c.drawRightString(340, y, hours)
        c.drawRightString(430, y, paid)
        y -= 12 if b.startswith(("Choir", "Players")) else 18
    c.drawString(72, y - 10, "The hall was shut in August, so that the figures are those of eleven months.")
    c.save()
    return buf.getvalue()


def form():
    buf, c = new_pdf()
    c.setFont("Helvetica", 11)
    c.drawString(72, 760, "Application for a key")
    for i, (label, value) in enumerate([("Name", "Ada Example"), ("Room", "Great hall")]):
        y = 720 - 30 * i
        c.drawString(72, y, label + ":")
        c.acroForm.textfield(name=label, value=value, x=140, y=y - 5, width=200, height=20, fontSize=11, borderWidth=0)
    c.save()
    return buf.getvalue()


def tagged():
    """A heading, a list and a table that only the tags tell from plain text."""
    cells = [("Room", "Fee"), ("Hall", "40"), ("Kitchen", "12")]
    content, n = [], 0

    def text(tag, x, y, s):
        nonlocal n
        content.append(f"/{tag} <</MCID {n}>> BDC BT /F1 11 Tf {x} {y} Td ({s}) Tj ET EMC")
        n += 1
        return n - 1

    kids, objects, owner = [], {}, {}

    def element(parent, kind, kids):
        number = 20 + len(objects)
        owner.update({k: number for k in kids if isinstance(k, int)})
        for k in kids:
            if isinstance(k, str):
                child = int(k.split()[0])
                objects[child] = objects[child].replace("/P 6 0 R", f"/P {number} 0 R")
        objects[number] = f"<</Type/StructElem/S/{kind}/P {parent} 0 R/Pg 3 0 R/K[{' '.join(map(str, kids))}]>>"
        return f"{number} 0 R"

    kids.append(element(6, "H2", [text("H2", 72, 760, "Opening hours")]))
    kids.append(element(6, "P", [text("P", 72, 740, "They hold until spring.")]))
    kids.append(element(6, "L", [element(6, "LI", [text("LI", 90, 715, "by day to members")]), element(6, "LI", [text("LI", 90, 700, "by night to nobody")])]))
    kids.append(element(6, "Table", [
        element(6, "TR", [element(6, "TD", [text("TD", 72, 670 - 14 * r, a)]), element(6, "TD", [text("TD", 120, 670 - 14 * r, b)])])
        for r, (a, b) in enumerate(cells)
    ]))
    stream = "\n".join(content)
    objects |= {
        1: "<</Type/Catalog/Pages 2 0 R/StructTreeRoot 5 0 R/MarkInfo<</Marked true>>>>",
        2: "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        3: "<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Resources<</Font<</F1 7 0 R>>>>/Contents 4 0 R/StructParents 0>>",
        4: f"<</Length {len(stream)}>>\nstream\n{stream}\nendstream",
        5: "<</Type/StructTreeRoot/K 6 0 R/ParentTree 8 0 R>>",
        6: f"<</Type/StructElem/S/Document/P 5 0 R/K[{' '.join(kids)}]>>",
        7: "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        8: f"<</Nums[0 [{' '.join(f'{owner[i]} 0 R' for i in range(n))}]]>>",
    }
    out, at = io.BytesIO(b""), {}
    out.write(b"%PDF-1.7\n")
    for number in sorted(objects):
        at[number] = out.tell()
        out.write(f"{number} 0 obj\n{objects[number]}\nendobj\n".encode())
    begin, size = out.tell(), max(objects) + 1
    out.write(f"xref\n0 {size}\n0000000000 65535 f \n".encode())
    for number in range(1, size):
        out.write(f"{at[number]:010d} 00000 n \n".encode() if number in at else b"0000000000 65535 f \n")
    out.write(f"trailer <</Size {size}/Root 1 0 R>>\nstartxref\n{begin}\n%%EOF\n".encode())
    return out.getvalue()


if __name__ == "__main__":
    put("pdf-running", "in.pdf", running())
    put("pdf-aligned", "in.pdf", aligned())
    put("pdf-form", "in.pdf", form())
    put("pdf-tagged", "in.pdf", tagged())
