#!/usr/bin/env python3
"""Add up the test results that `meson test` left in build directories.

usage: count_tests.py LOG.junit.xml...

Counts single checks: meson writes one test case for each line of a TAP program. Failed ones
are named, and the last line is `N passed, N failed[, N skipped]`. A log that is missing or
has no test case is a failure, since nothing was tested. Exit status 1 if anything failed.
"""
import os
import sys
import xml.etree.ElementTree


def count_log(path):
    """(passed, failed, skipped) of one log; prints the names of the failed."""
    try:
        suites = xml.etree.ElementTree.parse(path).getroot()
    except (OSError, xml.etree.ElementTree.ParseError) as error:
        print(f"FAILED {path}: {error}")
        return 0, 1, 0
    passed = failed = skipped = 0
    for suite in suites.iter("testsuite"):
        # A program that died reports no failing case of its own.
        broken = int(suite.get("errors", 0)) + int(suite.get("failures", 0))
        for case in suite.iter("testcase"):
            if case.find("failure") is not None or case.find("error") is not None:
                failed += 1
                broken = 0
                print(f"FAILED {path}: {suite.get('name')}: {case.get('name')}")
            elif case.find("skipped") is not None:
                skipped += 1
            else:
                passed += 1
        if broken > 0:
            failed += 1
            print(f"FAILED {path}: {suite.get('name')}")
    if passed + failed == 0:
        print(f"FAILED {path}: no test ran")
        failed = 1
    return passed, failed, skipped


def main():
    totals = [count_log(path) for path in sys.argv[1:]] or [(0, 1, 0)]
    passed, failed, skipped = (sum(column) for column in zip(*totals))
    line = f"{passed} passed, {failed} failed"
    print(line + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
