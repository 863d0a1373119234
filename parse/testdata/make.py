#!/usr/bin/env python3
"""Writes the fixtures of the parse tests: testdata/<case>/in.*, and ref.json
where a case asks for pages, a sheet or a range.

Run it in this folder; it needs reportlab, python-docx and openpyxl (PyPI). The
output is the same bytes every time. What each case must give is want.md, which
`go test ./parse -update` writes; read the difference before committing it.
"""

import datetime
import io
import json
import os
import zipfile

import docx
import openpyxl
from docx.oxml import OxmlElement, parse_xml
from docx.oxml.ns import nsdecls, qn
from openpyxl.styles import numbers
from openpyxl.workbook.defined_name import DefinedName
from reportlab.lib.pagesizes import A4
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen import canvas

LOREM = (
    "The committee met in spring to review the accounts of the year and found them in order. "
    "Members asked how the reserve had been spent, and the treasurer explained each payment in turn. "
    "It was agreed that the hall should be painted before winter and that two quotes be obtained. "
    "The garden group reported a good harvest, most of which went to the kitchen of the school. "
    "Nobody objected to the new opening hours, which will be tried for six months and then reviewed. "
).split()


def put(case, name, data, **ref):
    os.makedirs(case, exist_ok=True)
    with open(os.path.join(case, name), "wb") as f:
        f.write(data)
    if ref:
        with open(os.path.join(case, "ref.json"), "w", encoding="utf-8") as f:
            json.dump(ref, f)
            f.write("\n")


def rezip(data, change=lambda name, b: b):
    """Gives a package fixed dates, so that it is the same every time."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as src, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as dst:
        for name in src.namelist():
            b = src.read(name)
            if name == "docProps/core.xml":
                b = b'<?xml version="1.0"?><cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties"/>'
            dst.writestr(zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), change(name, b), zipfile.ZIP_DEFLATED)
    return out.getvalue()


def parts(members):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as z:
        for name, text in members.items():
            z.writestr(zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), text.encode(), zipfile.ZIP_DEFLATED)
    return out.getvalue()


# ------------------------------------------------------------------------ pdf
def wrap(c, words, x, y, width, font="Times-Roman", size=11, leading=13):
    c.setFont(font, size)
    line = ""
    for w in words + [None]:
        trial = (line + " " + w).strip() if w else ""
        if w is None or c.stringWidth(trial, font, size) > width:
            c.drawString(x, y, line)
            y -= leading
            line = w or ""
        else:
            line = trial
    return y


def new_pdf():
    buf = io.BytesIO()
    return buf, canvas.Canvas(buf, pagesize=A4, invariant=1)


def pdf_report():
    buf, c = new_pdf()
    c.setFont("Helvetica-Bold", 22)
    c.drawString(70, 770, "Annual report of the village hall")
    c.setFont("Helvetica-Bold", 15)
    c.drawString(70, 735, "1 What happened")
    y = wrap(c, LOREM, 70, 712, 450)
    y = wrap(c, "The statement was sent to the regis-".split(), 70, y - 10, 450)
    y = wrap(c, "trar on Monday, who thanked the committee.".split(), 70, y, 450)
    for i, item in enumerate(["Paint the hall before winter", "Obtain two quotes", "Review the opening hours"]):
        wrap(c, [f"{i + 1}."] + item.split(), 85, y - 12 - 14 * i, 430)
    y -= 70
    for i, item in enumerate(["Seeds and tools", "A second water butt"]):
        wrap(c, ["\u2022"] + item.split(), 85, y - 14 * i, 430)
    c.showPage()
    c.setFont("Helvetica-Bold", 15)
    c.drawString(70, 770, "2 What it cost")
    wrap(c, "Paint and brushes came to $1,240.50, which is 3.5% less than planned; see a_long_name and [1].".split(), 70, 745, 450)
    c.showPage()
    c.save()
    return buf.getvalue()


def pdf_columns():
    buf, c = new_pdf()
    c.setFont("Helvetica-Bold", 18)
    c.drawString(60, 780, "Minutes in two columns")
    wrap(c, LOREM * 2, 60, 750, 225)
    wrap(c, ["Second", "column:"] + LOREM * 2, 310, 750, 225)
    c.showPage()
    c.save()
    return buf.getvalue()


def pdf_gap():
    buf, c = new_pdf()
    wrap(c, "The first page has text.".split(), 70, 770, 400)
    c.showPage()
    c.rect(100, 300, 200, 200, fill=1)
    c.showPage()
    wrap(c, "The third page has text again.".split(), 70, 770, 400)
    c.saveState()
    c.translate(40, 300)
    c.rotate(90)
    c.drawString(0, 0, "stamp on the edge")
    c.restoreState()
    c.showPage()
    c.save()
    return buf.getvalue()


def pdf_scan():
    buf, c = new_pdf()
    c.rect(100, 300, 200, 200, fill=1)
    c.showPage()
    c.save()
    return buf.getvalue()


def pdf_encrypted():
    buf = io.BytesIO()
    c = canvas.Canvas(buf, pagesize=A4, invariant=1, encrypt=StandardEncryption("sesame", ownerPassword="owner", strength=128))
    c.drawString(70, 770, "Some secret words")
    c.showPage()
    c.save()
    return buf.getvalue()


def pdf_table():
    buf, c = new_pdf()
    wrap(c, "Payments of the quarter:".split(), 70, 770, 400)
    rows = [("Date", "Payee", "Amount"), ("2026-01-05", "Paint shop", "$310.00"), ("2026-02-11", "Garden | tools", "$87.20"), ("2026-03-02", "", "$12.00")]
    xs, top, h = [70, 160, 300, 380], 750, 18
    for i in range(len(rows) + 1):
        c.line(xs[0], top - h * i, xs[-1], top - h * i)
    for x in xs:
        c.line(x, top, x, top - h * len(rows))
    c.setFont("Helvetica", 10)
    for i, row in enumerate(rows):
        for x, text in zip(xs, row):
            c.drawString(x + 4, top - h * i - 13, text)
    wrap(c, "The treasurer has checked them.".split(), 70, 650, 400)
    c.showPage()
    c.save()
    return buf.getvalue()


# ----------------------------------------------------------------------- docx
def link(par, url, text):
    rid = par.part.relate_to(url, "http://schemas.openxmlformats.org/officeDocument/2006/relationships/hyperlink", is_external=True)
    h = OxmlElement("w:hyperlink")
    h.set(qn("r:id"), rid)
    r, t = OxmlElement("w:r"), OxmlElement("w:t")
    t.text = text
    r.append(t)
    h.append(r)
    par._p.append(h)


def docx_report():
    d = docx.Document()
    d.add_heading("Hall rules", 0)
    d.add_heading("Opening", 1)
    p = d.add_paragraph("The hall opens at ")
    p.add_run("nine").bold = True
    p.add_run(" and closes at ")
    r = p.add_run("ten o'clock ")
    r.bold = r.italic = True
    p.add_run("except on Sundays. See ")
    link(p, "https://example.org/hours?a=1&b=2", "the hours")
    p.add_run(", or ask_the_keeper * 2.")
    for text, style in [("Bring a key", "List Number"), ("Switch off", "List Number"), ("the heating", "List Bullet 2"), ("the lights", "List Bullet 2"), ("Lock up", "List Number")]:
        d.add_paragraph(text, style=style)
    d.add_heading("Fees", 2)
    t = d.add_table(4, 3)
    for i, row in enumerate([("Room", "Fee", "Note"), ("Large", "$40", "a|b"), ("Small", "$25", ""), ("Kitchen", "", "ask")]):
        for j, text in enumerate(row):
            t.cell(i, j).text = text
    t.cell(1, 2).merge(t.cell(2, 2))
    t.cell(3, 0).merge(t.cell(3, 1))
    inner = t.cell(2, 1).add_table(1, 2)
    inner.cell(0, 0).text, inner.cell(0, 1).text = "day", "night"
    buf = io.BytesIO()
    d.save(buf)
    return rezip(buf.getvalue())


W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
REL = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def docx_notes(strict=False):
    body = f"""<w:document {W}><w:body>
<w:p><w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr><w:outlineLvl w:val="0"/></w:pPr><w:r><w:t>Scope</w:t></w:r></w:p>
<w:p><w:pPr><w:numPr><w:ilvl w:val="1"/><w:numId w:val="1"/></w:numPr><w:outlineLvl w:val="1"/></w:pPr><w:r><w:t>Parties</w:t></w:r></w:p>
<w:p><w:r><w:t>The tenant</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r><w:r><w:t xml:space="preserve"> pays </w:t></w:r>
<w:del w:id="9" w:author="A"><w:r><w:delText>weekly</w:delText></w:r></w:del><w:ins w:id="10" w:author="A"><w:r><w:t>monthly</w:t></w:r></w:ins><w:r><w:t xml:space="preserve"> in advance.</w:t><w:br/><w:t>Cash is not taken.</w:t></w:r></w:p>
<w:p><w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="2"/></w:numPr></w:pPr><w:r><w:t>first letter</w:t></w:r></w:p>
<w:p><w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="2"/></w:numPr></w:pPr><w:r><w:t>second letter</w:t></w:r></w:p>
<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> HYPERLINK "https://example.org/a (b)" </w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>a field</w:t></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r><w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r></w:p>
<w:sdt><w:sdtContent><w:p><w:r><w:t>1. not a list, and # no heading</w:t></w:r></w:p></w:sdtContent></w:sdt>
</w:body></w:document>"""
    numbering = f"""<w:numbering {W}><w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1"/></w:lvl><w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1.%2"/></w:lvl></w:abstractNum>
<w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="lowerLetter"/><w:lvlText w:val="%1)"/></w:lvl></w:abstractNum>
<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num></w:numbering>"""
    notes = f"""<w:footnotes {W}><w:footnote w:type="separator" w:id="0"><w:p/></w:footnote><w:footnote w:id="2"><w:p><w:r><w:t>Or whoever lives there.</w:t></w:r></w:p></w:footnote></w:footnotes>"""
    members = {
        "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="{REL}/officeDocument" Target="word/document.xml"/></Relationships>',
        "word/document.xml": body,
        "word/_rels/document.xml.rels": f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="{REL}/numbering" Target="numbering.xml"/><Relationship Id="r2" Type="{REL}/footnotes" Target="footnotes.xml"/></Relationships>',
        "word/numbering.xml": numbering,
        "word/footnotes.xml": notes,
    }
    return parts(members)


# ----------------------------------------------------------------------- xlsx
def book():
    wb = openpyxl.Workbook()
    ws = wb.active
    ws.title = "Income"
    ws["B2"] = "Statement"
    ws.merge_cells("B2:C2")
    rows = [
        ("Item", "Value", "Note"),
        ("count", 5000, "whole"),
        ("ratio", 0.1 + 0.2, "no tail of digits"),
        ("share", 0.075, "percent"),
        ("fee", 1234.5, "currency"),
        ("loss", -20, "negative"),
        ("day", datetime.date(2026, 6, 30), "date"),
        ("moment", datetime.datetime(2026, 6, 30, 14, 5), "date and time"),
        ("clock", datetime.time(9, 30), "time"),
        ("lasting", datetime.timedelta(hours=26, minutes=15), "hours"),
        ("flag", True, "NA"),
        ("text", "a|b\nsecond *line*", "NULL"),
        ("formula", "=1/0", None),
        ("secret", 99, "in a hidden row"),
    ]
    for i, row in enumerate(rows):
        for j, v in enumerate(row):
            ws.cell(4 + i, 2 + j, v)
    ws["C7"].number_format = "0.0%"
    ws["C8"].number_format = '"$"#,##0.00'
    ws["C9"].number_format = '#,##0.00\\ [$€-407]'
    ws["C10"].number_format = "dd/mm/yyyy"
    ws["C11"].number_format = "dd/mm/yyyy hh:mm"
    ws["C12"].number_format = "hh:mm"
    ws["C13"].number_format = "[h]:mm:ss"
    ws["E5"] = "in a hidden column"
    ws.column_dimensions["E"].hidden = True
    ws.row_dimensions[17].hidden = True
    ws["D30"] = "far down"
    costs = wb.create_sheet("Costs")
    for i in range(1, 8):
        for j in range(1, 5):
            costs.cell(i, j, f"{'ABCD'[j - 1]}{i}" if i == 1 else i * 10 + j)
    hidden = wb.create_sheet("Secret")
    hidden["A1"] = "not shown"
    hidden.sheet_state = "hidden"
    wb.create_sheet("Empty")
    wb.defined_names["Total"] = DefinedName("Total", attr_text="Costs!$B$2:$C$3")
    return wb


def saved(wb, change=lambda name, b: b):
    buf = io.BytesIO()
    wb.save(buf)
    return rezip(buf.getvalue(), change)


def strict(name, b):
    return (b.replace(b"http://schemas.openxmlformats.org/spreadsheetml/2006/main", b"http://purl.oclc.org/ooxml/spreadsheetml/main")
            .replace(b"http://schemas.openxmlformats.org/officeDocument/2006/relationships", b"http://purl.oclc.org/ooxml/officeDocument/relationships"))


def extended(name, b):
    ext = b'<extLst><ext uri="{x}"><x15:workbookPr xmlns:x15="urn:x" chartTrackingRefBase="1"/></ext></extLst></workbook>'
    return b.replace(b"</workbook>", ext) if name == "xl/workbook.xml" else b


def book1904():
    wb = openpyxl.Workbook()
    wb.epoch = openpyxl.utils.datetime.CALENDAR_MAC_1904
    ws = wb.active
    ws.append(["day"])
    ws.append([datetime.date(2026, 6, 30)])
    ws.append([datetime.date(1904, 1, 2)])
    return wb


# ----------------------------------------------------------------- html, data
def page():
    return """<!DOCTYPE html><html><head><meta charset="windows-1251"><title>Правила дома</title><base href="https://example.org/a/"><style>p{}</style></head>
<body><nav><a href="/">Начало</a></nav><h2>Часы <em>работы</em></h2>
<p>Открыто с <b>девяти</b>   до <a href="b.html?x=1&amp;y=2">десяти</a>, <del>кроме</del> и в <code>праздники</code>.<br>Вторая строка<sup>2</sup>.</p>
<p hidden>скрыто</p><p style="display: none">скрыто</p><script>var x = "скрыто"</script>
<ol start="4"><li>Взять ключ<li><p>Выключить</p><p>проверить</p><ul><li>свет</li><li>воду<ol type="a"><li>горячую<li>холодную</ol></li></ul><li value="9"><input type="checkbox" checked> Закрыть</ol>
<blockquote><p>Тише едешь.</p><blockquote>Дальше будешь.</blockquote><ul><li>пословица</ul></blockquote>
<pre><code class="language-go">func main() {
\tprintln("*")
}
</code></pre>
<dl><dt>Зал</dt><dd>большая комната</dd><dd>для всех</dd></dl>
<figure><img src="x.png" alt="План | зала"><figcaption>Рисунок 1</figcaption></figure>
<table><caption>Цены</caption><thead><tr><th rowspan="2">Комната<th colspan="2">Цена</tr><tr><th>день<th>ночь</tr></thead>
<tfoot><tr><td>Всего<td>65<td></tr></tfoot><tbody><tr><td>Большая<td>40<td><ul><li>a|b<li>c</ul></tr><tr><td>Малая<td>25<td><table><tr><td>x<td>y</tr></table></tr></tbody></table>
<table><tr><td>Слева</td></tr><tr><td><p>Справа</p></td></tr></table>
<p><a href="javascript:alert(1)">никуда</a> <a href="#top">наверх</a></p></body></html>""".encode("cp1251")


def feeds():
    rss = """<?xml version="1.0"?><rss version="2.0" xmlns:content="urn:c" xmlns:atom="urn:a"><channel><title>Hall &amp;amp; garden</title><link>https://example.org/</link><atom:link href="https://example.org/rss" rel="self"/><description>News of the hall</description>
<item><title>Opening</title><link>https://example.org/1</link><pubDate>Tue, 30 Jun 2026 09:30:00 +0200</pubDate><description>short</description><content:encoded><![CDATA[<h1>Hours</h1><p>From <b>nine</b> to ten.</p><ul><li>Sundays too</ul>]]></content:encoded></item>
<item><title>Paint</title><description>Two &lt;i&gt;quotes&lt;/i&gt; came.</description></item></channel></rss>"""
    atom = """<feed xmlns="http://www.w3.org/2005/Atom"><title>Notes</title><updated>2026-06-30T09:30:00Z</updated><author><name>Ann</name></author>
<entry><title type="text">First</title><link rel="alternate" href="https://example.org/n/1"/><published>2026-06-29T08:00:00Z</published><summary>a summary</summary></entry></feed>"""
    return rss, atom


def notebook():
    cells = [
        {"cell_type": "markdown", "source": ["# Sums\n", "\n", "*as* it | stands"]},
        {"cell_type": "code", "source": "print(1 + 1)", "outputs": [{"output_type": "stream", "name": "stdout", "text": ["2\n"]}]},
        {"cell_type": "code", "source": ["frame"], "outputs": [
            {"output_type": "execute_result", "data": {"text/plain": "a b", "text/html": ["<table><tr><th>a<th>b</tr>", "<tr><td>1<td>2</tr></table>"]}},
            {"output_type": "display_data", "data": {"image/png": "AAAA", "text/plain": ["<Figure 1>"]}},
            {"output_type": "error", "ename": "E", "evalue": "v", "traceback": ["\x1b[31mE\x1b[0m: v"]}]},
        {"cell_type": "raw", "source": "left raw"},
    ]
    return json.dumps({"nbformat": 4, "metadata": {"kernelspec": {"language": "python", "name": "python3"}}, "cells": cells})


def main():
    put(".", "scan.pdf", pdf_scan())
    put(".", "encrypted.pdf", pdf_encrypted())
    put("pdf-report", "in.pdf", pdf_report())
    put("pdf-pages", "in.pdf", pdf_report(), pages=[2, 1, 2])
    put("pdf-columns", "in.pdf", pdf_columns())
    put("pdf-gap", "in.pdf", pdf_gap())
    put("pdf-table", "in.pdf", pdf_table())
    put("docx-report", "in.docx", docx_report())
    put("docx-notes", "in.docx", docx_notes())
    data = saved(book())
    put("xlsx-book", "in.xlsx", data)
    put("xlsx-strict", "in.xlsx", saved(book(), strict), sheet="Costs")
    put("xlsx-sheet-number", "in.xlsx", data, sheet="2")
    put("xlsx-cell", "in.xlsx", data, sheet="Costs", range="C3")
    put("xlsx-reversed", "in.xlsx", data, sheet="Costs", range="C4:B2")
    put("xlsx-columns", "in.xlsx", data, sheet="Costs", range="B:C")
    put("xlsx-rows", "in.xlsx", data, sheet="Costs", range="2:3")
    put("xlsx-name", "in.xlsx", data, range="Total")
    put("xlsx-1904", "in.xlsx", saved(book1904(), extended))
    csv = 'Name;Sum;Note\n"Zoë; Ann";1,50;"said ""hi"""\nBob;2;"two\nlines | bar"\n\nNA;;\n;;\n'
    put("csv-semicolon", "in.csv", csv.encode())
    put("csv-range", "in.csv", csv.encode(), range="B2:C3")
    put("csv-tab", "in.tsv", "a\tb\n1\t\"open\n2\tshut\n".encode())
    put("csv-late-umlaut", "in.csv", ("n,word\n" + "".join(f"{i},plain\n" for i in range(600)) + "600,Größe\n").encode("cp1252"), range="598:602")
    put("csv-japanese", "in.csv", "名前,年齢\n佐藤,30\n三木,25\n".encode("cp932"))
    put("text-polish", "in.txt", "zażółć gęślą jaźń\n".encode("iso8859-2"))
    put("text-russian", "in.txt", "Съешь же ещё этих мягких французских булок, да выпей чаю.\r\n".encode("koi8-r"))
    put("text-utf16", "in.txt", "plain words and Ünïcödé\n".encode("utf-16-le"))
    put("text-markdown", "in.md", b"\xef\xbb\xbf# Title\n\n- *kept* as | it is\n")
    put("html-page", "in.html", page())
    rss, atom = feeds()
    put("xml-rss", "in.xml", rss.encode())
    put("xml-atom", "in.atom", atom.encode())
    put("xml-plain", "in.xml", '<?xml version="1.0" encoding="iso-8859-2"?>\n<hall>\n  <fee unit="zł">40</fee> <!-- ``` -->\n</hall>\n'.encode("iso8859-2"))
    put("json-object", "in.json", '\ufeff{"id":12345678901234567890,"ratio":1.0,"none":null,"list":[1,{}],"text":"a``` é"}'.encode())
    put("json-lines", "in.jsonl", b'{"n": 1}\n\n{"n": 2}\n')
    put("notebook-sums", "in.ipynb", notebook().encode())


if __name__ == "__main__":
    main()
