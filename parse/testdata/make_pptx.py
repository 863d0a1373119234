"""Makes the presentation cases.

Run it in this folder; it needs python-pptx (PyPI), and what make.py needs.
"""

import io
import re

import pptx
from lxml import etree
from pptx.chart.data import CategoryChartData, XyChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from make import put, rezip

A = "http://schemas.openxmlformats.org/drawingml/2006/main"


def saved(p, change=lambda name, b: b):
    out = io.BytesIO()
    p.save(out)
    return rezip(out.getvalue(), change)


def bullets(frame, xml):
    """Replaces the paragraphs of a text frame."""
    body = frame._txBody
    for par in body.findall(f"{{{A}}}p"):
        body.remove(par)
    for el in etree.fromstring(f'<x xmlns:a="{A}">{xml}</x>'):
        body.append(el)


def deck():
    p = pptx.Presentation()
    s = p.slides.add_slide(p.slide_layouts[0])
    s.shapes.title.text = "The hall\vin a year"
    s.placeholders[1].text = "Annual meeting"

    s = p.slides.add_slide(p.slide_layouts[1])
    s.shapes.title.text = "What was done"
    bullets(s.placeholders[1].text_frame, """
<a:p><a:r><a:t>Painted </a:t></a:r><a:r><a:rPr b="1"/><a:t>all</a:t></a:r><a:r><a:t> of it</a:t></a:r></a:p>
<a:p><a:pPr lvl="1"/><a:r><a:t>by members</a:t></a:r></a:p>
<a:p><a:pPr><a:buNone/></a:pPr><a:r><a:t>Then, in order:</a:t></a:r></a:p>
<a:p><a:pPr><a:buAutoNum type="arabicPeriod" startAt="3"/></a:pPr><a:r><a:t>windows</a:t></a:r></a:p>
<a:p><a:pPr><a:buAutoNum type="arabicPeriod" startAt="3"/></a:pPr><a:r><a:t>doors</a:t></a:r></a:p>
<a:p><a:pPr><a:buAutoNum type="alphaLcParenR"/></a:pPr><a:r><a:t>a letter</a:t></a:r></a:p>
<a:p><a:pPr/><a:fld id="{1}" type="slidenum"><a:t>2</a:t></a:fld></a:p>""")
    box = s.shapes.add_textbox(Inches(1), Inches(5), Inches(3), Inches(1))
    run = box.text_frame.paragraphs[0].add_run()
    run.text, run.hyperlink.address = "the report", "https://example.org/report"
    s.notes_slide.notes_text_frame.text = "Thank the members.\nMention the tea."

    s = p.slides.add_slide(p.slide_layouts[5])
    s.shapes.title.text = "What it cost"
    t = s.shapes.add_table(3, 3, Inches(1), Inches(2), Inches(6), Inches(2)).table
    for i, row in enumerate([("Room", "Paid", ""), ("", "2025", "2026"), ("Hall", "1,440", "a|b")]):
        for j, text in enumerate(row):
            t.cell(i, j).text = text
    t.cell(0, 1).merge(t.cell(0, 2))
    t.cell(0, 0).merge(t.cell(1, 0))
    group = s.shapes.add_group_shape()
    inner = group.shapes.add_group_shape()
    inner.shapes.add_textbox(0, 0, Inches(1), Inches(1)).text_frame.text = "inside of two groups"

    s = p.slides.add_slide(p.slide_layouts[6])
    s.shapes.add_textbox(0, 0, Inches(1), Inches(1)).text_frame.text = "nobody sees this"
    s._element.set("show", "0")

    s = p.slides.add_slide(p.slide_layouts[5])
    s.shapes.title.text = "Hours"
    data = CategoryChartData(number_format="0%")
    data.categories = ["Spring", "Autumn"]
    data.add_series("Choir", (0.25, 0.5))
    data.add_series("Players", (None, 0.75))
    frame = s.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, 0, 0, Inches(4), Inches(3), data)
    frame.chart.has_title = True
    frame.chart.chart_title.text_frame.text = "Share of the hall"
    xy = XyChartData()
    for name, points in (("A", ((1, 2), (3, 4))), ("B", ((5, 6),))):
        series = xy.add_series(name)
        for x, y in points:
            series.add_data_point(x, y)
    s.shapes.add_chart(XL_CHART_TYPE.XY_SCATTER, 0, 0, Inches(4), Inches(3), xy)
    return p


if __name__ == "__main__":
    put("pptx-deck", "in.pptx", saved(deck()))
    put("pptx-slides", "in.pptx", saved(deck()), pages=[4, 1])
