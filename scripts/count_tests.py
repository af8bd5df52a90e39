#!/usr/bin/env python3
"""Add up the test results that `meson test` left in build directories.

usage: count_tests.py MESON_LOGS_DIR...

Counts single checks: testlog.junit.xml has one case for each line of a TAP program. A program
that crashed, ran out of time or printed less than its plan has no failing case there; those come
from testlog.json. Failures are named, and the last line is `N passed, N failed[, N skipped]`. A
log that is missing or in which nothing passed is a failure, since nothing was tested. Exit
status 1 if anything failed.
"""
import json
import os
import sys
import xml.etree.ElementTree


def count_cases(path, report):
    """(passed, skipped, failed cases by test): of each test, named as testlog.json does."""
    passed, skipped, failed = 0, 0, {}
    for suite in xml.etree.ElementTree.parse(path).getroot().iter("testsuite"):
        for case in suite.iter("testcase"):
            # PROJECT.TEST holds a TAP program's lines, PROJECT the programs without TAP.
            test = suite.get("name").partition(".")[2] or case.get("name")
            if case.find("failure") is not None or case.find("error") is not None:
                failed[test] = failed.get(test, 0) + 1
                report(f"{test}: {case.get('name')}")
            elif case.find("skipped") is not None:
                skipped += 1
            else:
                passed += 1
    return passed, skipped, failed


def broken_tests(path, failed):
    """Tests that failed without a failing case, or passed without a check."""
    with open(path, encoding="utf-8") as file:
        for line in file:
            test = json.loads(line)
            name, result = test["name"], test["result"]
            if result == "SKIP":
                # What meson says, too, of a TAP program that printed nothing.
                if test["returncode"] == 0 and "SKIP" not in test["stdout"]:
                    yield f"{name}: no check was made"
            elif result not in ("OK", "EXPECTEDFAIL") and name not in failed:
                yield f"{name}: {result}"


def count_logs(directory):
    """(passed, failed, skipped); names the failures."""
    def report(text):
        print(f"FAILED {directory}: {text}")

    try:
        passed, skipped, failed = count_cases(os.path.join(directory, "testlog.junit.xml"), report)
        broken = list(broken_tests(os.path.join(directory, "testlog.json"), failed))
    except (OSError, ValueError, KeyError, xml.etree.ElementTree.ParseError) as error:
        report(f"no results: {error}")
        return 0, 1, 0
    if passed == 0 and not failed:
        broken.append("no test ran")
    for text in broken:
        report(text)
    return passed, sum(failed.values()) + len(broken), skipped


def main():
    totals = [count_logs(directory) for directory in sys.argv[1:]] or [(0, 1, 0)]
    passed, failed, skipped = (sum(column) for column in zip(*totals))
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
