"""The bill of materials: an SPDX 2.3 document of berth and the packages it is shipped with."""

import hashlib
import json
import re


def spdx_id(name):
    return "SPDXRef-Package-" + re.sub(r"[^A-Za-z0-9.-]", "-", name)


def of_debian(package):
    return {
        "SPDXID": spdx_id(package.name),
        "name": package.name,
        "versionInfo": package.version,
        "supplier": "Organization: Debian",
        "sourceInfo": f"built from the Debian source package {package.source}",
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": "NOASSERTION",
        "copyrightText": "NOASSERTION",
        "externalRefs": [
            {
                "referenceCategory": "PACKAGE-MANAGER",
                "referenceType": "purl",
                "referenceLocator": f"pkg:deb/debian/{package.name}@{package.version}"
                f"?arch={package.architecture}",
            }
        ],
    }


def of_berth(about):
    return {
        "SPDXID": spdx_id("berth"),
        "name": "berth",
        "versionInfo": about.version,
        "sourceInfo": f"commit {about.commit}",
        "supplier": "NOASSERTION",
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": "Apache-2.0",
        "licenseDeclared": "Apache-2.0",
        "copyrightText": "NOASSERTION",
        "primaryPackagePurpose": "APPLICATION",
    }


def relation(element, kind, other):
    return {"spdxElementId": element, "relationshipType": kind, "relatedSpdxElement": other}


def document(about, packages, compiled_in):
    berth = spdx_id("berth")
    content = {
        "packages": [of_berth(about), *map(of_debian, [*packages, *compiled_in])],
        "relationships": [
            relation("SPDXRef-DOCUMENT", "DESCRIBES", berth),
            *(relation(berth, "DEPENDS_ON", spdx_id(p.name)) for p in packages),
            *(relation(berth, "STATIC_LINK", spdx_id(p.name)) for p in compiled_in),
        ],
    }
    unique = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:32]
    head = {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"berth-{about.version}",
        "documentNamespace": f"https://spdx.org/spdxdocs/berth-{about.version}-{unique}",
        "creationInfo": {"created": about.created(), "creators": ["Tool: berth tools/image"]},
    }
    return (json.dumps({**head, **content}, indent=1) + "\n").encode()
