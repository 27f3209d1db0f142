#!/usr/bin/env python3
"""The schema of the XML file says of each element what the tables of fields say: which attributes, of which type, which of them must be there."""
import os
import pathlib
import re
import sys
import xml.etree.ElementTree as xml

source = pathlib.Path(os.environ.get("abs_top_srcdir") or pathlib.Path(__file__).resolve().parents[2])
XS = "{http://www.w3.org/2001/XMLSchema}"
# Types that the schema may give a field, if not one of its own; names have many.
TYPES = {"U32": {"index", "number"}, "INDEX": {"index"}, "U64": {"number"}, "HEX": {"hex"}, "I64": {"signed"}, "TEXT": {"text"},
         "DOUBLE": {"xs:double"}, "REAL": {"xs:double"}, "SET": {"words"}}
ROW = re.compile(r'OMPP_(FIELD|NAMED|SET|INDEX)\((\w+), [^,]+, (\w+), (?:(MUST|MAY), )?"([^)]*)"\)')


def tables():
    """{element: {attribute: (type, required)}} of the .def files."""
    elements, ids = {}, {}
    costs = re.findall(r'^OMPP_COST\(\w+, "([\w-]+)"', (source / "src/model/ompp_cost.def").read_text(), re.M)
    for file in "src/model/ompp_record.def", "src/report/ompp_xml_record.def":
        for line in (source / file).read_text().split("*/", 1)[1].splitlines():
            begins = re.match(r'OMPP_(?:RECORD|LIST\w*)\((\w+), \w+, "([\w-]+)"(?:, (\w+))?', line)
            if begins:
                ids[begins[1]] = elements[begins[2]] = {"id": ("INDEX", True)} if begins[3] not in (None, "NO_ID") else {}
            row = ROW.search(line)
            for name in (costs if row and "name" in row[5].split() else [None]) if row else []:
                attribute = row[5].replace('" name "', name) if name else row[5]
                kind = {"FIELD": row[3], "NAMED": "NAME"}.get(row[1], row[1])
                ids[row[2]][attribute] = kind, row[4] == "MUST"
    return elements


def main():
    bad, seen, expected = 0, set(), tables()
    tree = xml.parse(source / "src/report/ompp-profile.xsd").getroot()
    types = {t.get("name"): t for t in tree.iter(XS + "complexType") if t.get("name")}
    for element in tree.iter(XS + "element"):
        name, inner = element.get("name"), types.get(element.get("type"), element.find(XS + "complexType"))
        if name not in expected:
            continue
        seen.add(name)
        extension = inner.find(f"{XS}simpleContent/{XS}extension")
        found = {a.get("name"): a for a in (inner if extension is None else extension).findall(XS + "attribute")}
        for attribute in sorted(found.keys() | expected[name].keys()):
            kind, must = expected[name].get(attribute, (None, None))
            a = found.get(attribute)
            if kind is None or a is None:
                bad, what = bad + 1, "the schema" if a is None else "the table of fields"
                print(f'<{name} {attribute}="...">: {what} does not have it')
            elif must != (a.get("use") == "required") or a.get("type") not in {None, *TYPES.get(kind, {a.get("type")})}:
                bad += 1
                print(f'<{name} {attribute}="...">: in the table {kind}, required: {must}; in the schema {a.get("type")}, {a.get("use")}')
    for name in sorted(expected.keys() - seen):
        bad += 1
        print(f"<{name}>: the schema does not have it")
    return bad > 0


sys.exit(main())
