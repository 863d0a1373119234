"""Makes the word-processing cases that need more than make.py's.

Run it in this folder; it needs python-docx and msoffcrypto-tool (PyPI), and
what make.py needs.
"""

import io

import docx
import msoffcrypto.format.ooxml
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

from make import put, rezip

M = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'


def run(s):
    return f"<m:r><m:t>{s}</m:t></m:r>"


def saved(d):
    out = io.BytesIO()
    d.save(out)
    return rezip(out.getvalue())


def equations():
    d = docx.Document()
    d.add_heading("Fees", 1)
    p = d.add_paragraph("The rate ")
    p._p.append(parse_xml(f'<m:oMath {M}><m:sSup><m:e>{run("(1+r)")}</m:e><m:sup>{run("n")}</m:sup></m:sSup></m:oMath>'))
    p.add_run(" is a year's.")
    p = d.add_paragraph()
    p._p.append(parse_xml(
        f'<m:oMathPara {M}><m:oMath>{run("S=")}<m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr><m:sub>{run("i=1")}</m:sub><m:sup>{run("n")}</m:sup>'
        f'<m:e><m:f><m:num>{run("a")}</m:num><m:den>{run("b_i")}</m:den></m:f></m:e></m:nary></m:oMath></m:oMathPara>'))
    t = d.add_table(1, 2)
    t.cell(0, 0).text = "size"
    t.cell(0, 1).paragraphs[0]._p.append(parse_xml(
        f'<m:oMath {M}><m:d><m:dPr><m:begChr m:val="|"/><m:endChr m:val="|"/></m:dPr><m:e>{run("x")}</m:e></m:d></m:oMath>'))
    return saved(d)


def boxes():
    """A text box told twice, an alternative not understood, a picture's words."""
    d = docx.Document()
    p = d.add_paragraph("Before the box. ")
    box = '<w:txbxContent><w:p><w:r><w:t>{}</w:t></w:r></w:p></w:txbxContent>'
    p._p.append(parse_xml(
        f'<w:r {nsdecls("w", "wp")} xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
        'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" xmlns:v="urn:schemas-microsoft-com:vml">'
        '<mc:AlternateContent><mc:Choice Requires="wps"><w:drawing><wp:inline><wp:docPr id="1" name="Box 1" descr="a notice"/>'
        f'<wps:txbx>{box.format("Inside the box")}</wps:txbx></wp:inline></w:drawing></mc:Choice>'
        f'<mc:Fallback><w:pict><v:textbox>{box.format("Inside the box")}</v:textbox></w:pict></mc:Fallback></mc:AlternateContent></w:r>'))
    d.add_paragraph("After it: if a<b or b</a, then &lt; is no tag.")
    return saved(d)


def locked():
    """Encrypted the way Office 2010 and later do; salted, so never the same twice."""
    d = docx.Document()
    d.add_paragraph("Only for the committee.")
    out = io.BytesIO()
    msoffcrypto.format.ooxml.OOXMLFile(io.BytesIO(saved(d))).encrypt("sesame", out)
    return out.getvalue()


if __name__ == "__main__":
    put(".", "locked.docx", locked())
    put("docx-equations", "in.docx", equations())
    put("docx-boxes", "in.docx", boxes())
