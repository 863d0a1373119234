"""Makes the mail cases.

Run it in this folder; what is in the Internet format is written by Python's own
library, what is in Outlook's by the small writer of compound files below
([MS-CFB], [MS-OXMSG]).
"""

import struct
from email.message import EmailMessage

from make import put


def letter():
    """A text and its twin in HTML, a picture in it, two files, names beyond ASCII."""
    m = EmailMessage()
    m["From"] = "Zoë Ångström <zoe@example.org>"
    m["To"] = "Bob <bob@example.org>, sue@example.org"
    m["Cc"] = "The Committee <committee@example.org>"
    m["Date"] = "Fri, 06 Mar 2026 09:30:00 +0100"
    m["Subject"] = "Minutes of the spring meeting – für alle"
    m.set_content("Dear all,\n\nthe minutes are here: https://example.org/minutes\n\nZoë\n")
    m.add_alternative('<p>Dear all,</p><p>the <a href="https://example.org/minutes">minutes</a> are here:</p>'
                      '<table border=1><tr><th>Item<th>Sum</tr><tr><td>Paint<td>40</tr></table><p>Zoë <img src="cid:logo" alt="the logo"></p>', subtype="html")
    m.get_payload()[1].add_related(b"\x89PNG", "image", "png", cid="<logo>")
    m.add_attachment(b"%PDF-1.7 " + b"x" * 2000, maintype="application", subtype="pdf", filename="minutes – März.pdf")
    m.add_attachment("a,b\n1,2\n", subtype="csv", filename="sums.csv")
    m.set_boundary("outer")
    alternative, *_ = m.get_payload()
    alternative.set_boundary("alternative")
    alternative.get_payload()[1].set_boundary("related")
    return m.as_bytes().replace(b"\n", b"\r\n")


REPLY = b"""From MAILER Fri Mar  6 09:30:00 2026
Received: from here
 by there
From: =?iso-8859-1?Q?Andr=E9?= <andre@example.org>
Sender: office@example.org
Subject: Re: the
 key
To: undisclosed-recipients:;
Date: no date at all
Content-Type: text/plain; charset=iso-8859-1; format=flowed
Content-Transfer-Encoding: quoted-printable

> who has the =20
> key?
I have it, Andr=E9 said, and will bring it=20
tomorrow.

--=20
A.
"""

FORWARD = b"""From: bob@example.org
To: sue@example.org
Subject: Fwd: the hall
Content-Type: multipart/mixed; boundary=b1

Not shown: what stands before the first part.
--b1
Content-Type: text/plain

See below, and the invitation.
--b1
Content-Type: message/rfc822

From: zoe@example.org
Subject: the hall
Content-Type: multipart/alternative; boundary="b2"

--b2
Content-Type: text/plain

Enable HTML to read this.
--b2
Content-Type: text/html; charset=utf-8

<h3>Opening hours</h3><p>The hall is open <b>daily</b>, from nine in the morning until ten at night, in summer and in winter.</p>
--b2--
--b1
Content-Type: text/calendar; charset=utf-8

BEGIN:VCALENDAR
BEGIN:VEVENT
SUMMARY:Meeting\\, in the
  hall
DTSTART;TZID=Europe/Berlin:20260306T190000
LOCATION:Great hall
END:VEVENT
END:VCALENDAR
"""


class Storage(dict):
    """A storage of a compound file: names to bytes or further storages."""


def compound(root):
    """Writes a compound file of version 3: one FAT, one mini FAT, all small."""
    sector, mini = 512, 64
    entries, ministream, big = [], b"", []

    def add(name, kind, node):
        at = len(entries)
        entries.append([name, kind, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFE, 0, node])
        return at

    def children(at, node):
        last = None
        for name in sorted(node, key=lambda n: (len(n), n.upper())):
            kid = add(name, 1 if isinstance(node[name], dict) else 2, node[name])
            if last is None:
                entries[at][3] = kid
            else:
                entries[last][2] = kid
            last = kid
            if isinstance(node[name], dict):
                children(kid, node[name])

    add("Root Entry", 5, root)
    children(0, root)
    minifat = []
    for e in entries:
        if e[1] != 2:
            continue
        data = e[6]
        e[5] = len(data)
        if not data:
            continue
        n = -(-len(data) // mini)
        e[4] = len(minifat)
        minifat += [len(minifat) + i + 1 for i in range(n - 1)] + [0xFFFFFFFE]
        ministream += data.ljust(n * mini, b"\0")
    directory = b""
    chunks = []

    def sectors(data):
        first = sum(len(c) for c in chunks) // sector
        chunks.append(data.ljust(-(-len(data) // sector) * sector, b"\0"))
        return first, len(chunks[-1]) // sector

    stream_at, stream_n = sectors(ministream)
    entries[0][4], entries[0][5] = stream_at, len(ministream)
    minifat_at, minifat_n = sectors(struct.pack(f"<{len(minifat)}I", *minifat).ljust(-(-len(minifat) * 4 // sector) * sector, b"\xff"))
    for name, kind, right, child, start, size, _ in entries:
        raw = (name + "\0").encode("utf-16-le")
        directory += raw.ljust(64, b"\0") + struct.pack("<HBBIII16sIQQIQ", len(raw), kind, 1, 0xFFFFFFFF, right, child, b"", 0, 0, 0, start if kind != 1 else 0, size)
    directory = directory.ljust(-(-len(directory) // sector) * sector, b"\0")
    directory_at, directory_n = sectors(directory)
    total = stream_n + minifat_n + directory_n + 1
    fat = []
    for at, n in ((stream_at, stream_n), (minifat_at, minifat_n), (directory_at, directory_n)):
        fat += [at + i + 1 for i in range(n - 1)] + [0xFFFFFFFE]
    fat.append(0xFFFFFFFD)
    assert total <= 128
    fat_at, _ = sectors(struct.pack(f"<{total}I", *fat).ljust(sector, b"\xff"))
    head = struct.pack("<8s16sHHHHH6sIIIIIIIIII", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"", 0x3E, 3, 0xFFFE, 9, 6, b"", 0, 1, directory_at, 0, 4096, minifat_at, minifat_n, 0xFFFFFFFE, 0, fat_at)
    return head.ljust(sector, b"\xff") + b"".join(chunks)


def props(head, **fixed):
    out = b"\0" * head
    for tag, value in fixed.items():
        out += struct.pack("<IIQ", int(tag[1:], 16), 6, value)
    return out


def text(s):
    return s.encode("utf-16-le")


RTF = (r"{\rtf1\ansi\ansicpg1252\fromhtml1 {\fonttbl{\f0 Arial;}}{\*\htmltag64 <p>}\htmlrtf \par \htmlrtf0 The key is with Ren"
       r"\'e9{\*\htmltag4 <br>}\htmlrtf \line \htmlrtf0 and \u8364?40 {\*\htmltag84 <b>}\htmlrtf {\b \htmlrtf0 paid{\*\htmltag92 </b>}\htmlrtf }\htmlrtf0 .{\*\htmltag72 </p>}}")


def outlook():
    inner = Storage({
        "__properties_version1.0": props(24, x3FFD0003=1252),
        "__substg1.0_001A001F": text("IPM.Note"),
        "__substg1.0_0037001E": "Déjà vu".encode("cp1252"),
        "__substg1.0_1000001E": "An older mail.\r\n".encode("cp1252"),
    })
    raw = RTF.encode()
    return compound(Storage({
        "__properties_version1.0": props(32, x00390040=134172198000000000),
        "__substg1.0_001A001F": text("IPM.Note"),
        "__substg1.0_0037001F": text("The key – again"),
        "__substg1.0_0042001F": text("Ann Example"),
        "__substg1.0_0065001F": text("/O=HALL/CN=ANN"),
        "__substg1.0_5D02001F": text("ann@example.org"),
        "__substg1.0_10090102": struct.pack("<II4sI", len(raw) + 12, len(raw), b"MELA", 0) + raw,
        "__recip_version1.0_#00000000": Storage({
            "__properties_version1.0": props(8, x0C150003=1), "__substg1.0_3001001F": text("Bob"), "__substg1.0_39FE001F": text("bob@example.org")}),
        "__recip_version1.0_#00000001": Storage({
            "__properties_version1.0": props(8, x0C150003=2), "__substg1.0_3001001F": text("Sue"), "__substg1.0_3003001F": text("/O=HALL/CN=SUE")}),
        "__attach_version1.0_#00000000": Storage({
            "__properties_version1.0": props(8), "__substg1.0_3707001F": text("plan of the hall.pdf"), "__substg1.0_370E001F": text("application/pdf"),
            "__substg1.0_37010102": b"x" * 1234}),
        "__attach_version1.0_#00000001": Storage({"__properties_version1.0": props(8), "__substg1.0_3701000D": inner}),
    }))


if __name__ == "__main__":
    put("mail-letter", "in.eml", letter())
    put("mail-reply", "in.eml", REPLY)
    put("mail-forward", "in.eml", FORWARD)
    put("mail-outlook", "in.msg", outlook())
    put("text-rich", "in.rtf", rb"{\rtf1\ansi\ansicpg1250{\fonttbl{\f0 Times;}}{\info{\title no}}\pard Za\'bf\'f3\'b3\'e6\par\b two\b0\tab \u26085?\u26412?\par {\*\unknown no}{\pict 00ff}end}")
