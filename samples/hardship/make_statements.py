#!/usr/bin/env python3
"""Writes the monthly financial statements of the hardship sample.

Run it in this folder; it needs reportlab (PyPI). The output is the same bytes
every time. All people, accounts and figures are invented.

  statement-affordable.pdf    surplus of 30 % of net income, residency verified
  statement-marginal.pdf      surplus of 15 %, residency verified
  statement-unaffordable.pdf  surplus of 1.6 %, residency verified
  statement.txt               plain text; surplus of 31 %, residency verified
"""

from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.lib.units import mm
from reportlab.platypus import Paragraph, SimpleDocTemplate, Spacer, Table, TableStyle

LENDER = "Harbour & Vale Lending"

STATEMENTS = {
    "statement-affordable.pdf": dict(
        name="Miriam Okafor",
        account="HV-2291-0047",
        date="30 June 2026",
        residency="verified",
        how="tenancy agreement and council tax bill seen on 24 June 2026",
        income=[("Salary, Northgate Library Service", 4650), ("Child benefit", 350)],
        expenses=[
            ("Rent", 1450), ("Council tax", 180), ("Energy and water", 260), ("Food and household", 640),
            ("Transport", 210), ("Childcare", 420), ("Insurance", 140), ("Other debt payments", 200),
        ],
        story="My hours were cut from April to May while the library was being rebuilt, and I fell two payments "
        "behind. I am back on full hours since 1 June. I am asking to spread the missed payments over the "
        "next six months.",
    ),
    "statement-marginal.pdf": dict(
        name="Tomasz Lindqvist",
        account="HV-2291-0112",
        date="30 June 2026",
        residency="verified",
        how="mortgage statement and electoral roll entry seen on 19 June 2026",
        income=[("Wages, Brightwater Garage", 3400), ("Weekend deliveries", 600)],
        expenses=[
            ("Mortgage", 1520), ("Council tax", 170), ("Energy and water", 290), ("Food and household", 610),
            ("Transport", 330), ("Insurance", 160), ("Other debt payments", 320),
        ],
        story="My partner stopped working in March to care for her mother. We manage the bills, but little is left "
        "at the end of the month. I am asking for a lower payment until she can take up work again in autumn.",
    ),
    "statement-unaffordable.pdf": dict(
        name="Joan Pettigrew",
        account="HV-2290-8836",
        date="30 June 2026",
        residency="verified",
        how="letter of the housing association seen on 26 June 2026",
        income=[("Part-time wages, Corner Bakery", 2150), ("Housing support", 650), ("Disability allowance", 400)],
        expenses=[
            ("Rent", 1180), ("Council tax", 140), ("Energy and water", 310), ("Food and household", 560),
            ("Transport", 190), ("Medical costs", 330), ("Insurance", 90), ("Other debt payments", 350),
        ],
        story="Since my operation in February I can work half of my former hours. What comes in covers the month "
        "and no more. I cannot keep up the agreed payments and am asking for help before I fall further behind.",
    ),
}

TEXT = dict(
    name="Daniel Achterberg",
    account="HV-2291-0230",
    date="30 June 2026",
    residency="verified",
    how="utility bill and passport seen on 22 June 2026",
    income=[("Salary, Meadow Street School", 3900), ("Tutoring", 300)],
    expenses=[
        ("Rent", 1240), ("Council tax", 150), ("Energy and water", 230), ("Food and household", 540),
        ("Transport", 180), ("Insurance", 110), ("Other debt payments", 450),
    ],
    story="A burst pipe flooded my flat in May and the insurer has not yet paid. I used my savings for the repairs "
    "and missed one payment. I am asking to move that payment to the end of the term.",
)


def money(n):
    return f"${n:,.2f}"


def total(lines):
    return sum(n for _, n in lines)


def table(lines, label):
    rows = [("Item", "Amount a month")] + [(name, money(n)) for name, n in lines]
    t = Table(rows, colWidths=[95 * mm, 45 * mm], hAlign="LEFT")
    t.setStyle(TableStyle([
        ("GRID", (0, 0), (-1, -1), 0.5, colors.grey),
        ("FONTNAME", (0, 0), (-1, 0), "Helvetica-Bold"),
        ("FONTSIZE", (0, 0), (-1, -1), 10),
        ("ALIGN", (1, 0), (1, -1), "RIGHT"),
        ("BOTTOMPADDING", (0, 0), (-1, -1), 2),
        ("TOPPADDING", (0, 0), (-1, -1), 2),
    ]))
    return [t, Spacer(1, 2 * mm), Paragraph(f"<b>{label}: {money(total(lines))}</b>", STYLES["Normal"])]


STYLES = getSampleStyleSheet()


def pdf(path, s):
    doc = SimpleDocTemplate(
        path, pagesize=A4, invariant=1, title="Monthly financial statement", author=LENDER,
        leftMargin=25 * mm, rightMargin=25 * mm, topMargin=18 * mm, bottomMargin=15 * mm,
    )
    flow = [
        Paragraph("Monthly financial statement", STYLES["Title"]),
        Paragraph(f"To: {LENDER}, Customer Support", STYLES["Normal"]),
        Spacer(1, 3 * mm),
        Paragraph(f"Name: {s['name']}", STYLES["Normal"]),
        Paragraph(f"Account reference: {s['account']}", STYLES["Normal"]),
        Paragraph(f"Date: {s['date']}", STYLES["Normal"]),
        Paragraph(f"Residency status: {s['residency']}", STYLES["Normal"]),
        Paragraph(f"Residency check: {s['how']}", STYLES["Normal"]),
        Paragraph("Income", STYLES["Heading2"]),
        *table(s["income"], "Net income"),
        Paragraph("Expenses", STYLES["Heading2"]),
        *table(s["expenses"], "Total expenses"),
        Paragraph("Circumstances", STYLES["Heading2"]),
        Paragraph(s["story"], STYLES["Normal"]),
    ]
    doc.build(flow)


def text(path, s):
    def lines(items):
        return [f"  {name + ':':32}{money(n):>12}" for name, n in items]

    out = [
        "MONTHLY FINANCIAL STATEMENT", f"To: {LENDER}, Customer Support", "",
        f"Name: {s['name']}", f"Account reference: {s['account']}", f"Date: {s['date']}",
        f"Residency status: {s['residency']}", f"Residency check: {s['how']}", "",
        "Income", *lines(s["income"]), f"Net income: {money(total(s['income']))}", "",
        "Expenses", *lines(s["expenses"]), f"Total expenses: {money(total(s['expenses']))}", "",
        "Circumstances", s["story"],
    ]
    with open(path, "w", encoding="utf-8", newline="\n") as f:
        f.write("\n".join(out) + "\n")


def main():
    for path, s in STATEMENTS.items():
        pdf(path, s)
    text("statement.txt", TEXT)


if __name__ == "__main__":
    main()
