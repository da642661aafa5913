"""The version is the same wherever it stands, and files for visitors of the repository are well-formed."""
import glob
import os
import re

from cli_harness import ROOT, Skipped, contains, good, is_equal, main, read


def version():
    return re.search(r"project\(wadi VERSION ([\d.]+)", read(os.path.join(ROOT, "CMakeLists.txt"))).group(1)


def test_the_version_is_the_same_everywhere():
    contains(good("--version").out, version())
    is_equal(re.search(r"^version: (\S+)$", read(os.path.join(ROOT, "CITATION.cff")), re.M).group(1), version())
    is_equal(re.search(r"^## ([\d.]+)", read(os.path.join(ROOT, "CHANGELOG.md")), re.M).group(1), version())


def test_the_forms_are_yaml_with_what_they_need():
    try:
        import yaml
    except ImportError:
        raise Skipped("python3-yaml is not installed") from None
    forms = glob.glob(os.path.join(ROOT, ".github", "ISSUE_TEMPLATE", "*.yml"))
    assert len(forms) >= 3, forms
    for path in forms:
        form = yaml.safe_load(read(path))
        if os.path.basename(path) == "config.yml":
            continue
        is_equal(sorted(form), ["body", "description", "labels", "name"], path)
        names = [field["id"] for field in form["body"] if field["type"] != "markdown"]
        is_equal(len(names), len(set(names)), path)
    citation = yaml.safe_load(read(os.path.join(ROOT, "CITATION.cff")))
    is_equal([key for key in ("cff-version", "title", "message", "authors", "license") if key not in citation], [])


if __name__ == "__main__":
    main(globals())
