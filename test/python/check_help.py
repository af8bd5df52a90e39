#!/usr/bin/env python3
"""--help and manual page name the same options, in both directions. TAP.

usage: check_help.py PROGRAM PAGE.1 [COMMAND...]

The options of PROGRAM are those of its --help and of the --help of each COMMAND: whatever
looks like -x, --long or, indented, like name=VALUE or a mount option. Those of the page are
its tagged paragraphs.
"""
import re
import subprocess
import sys

OPTION = re.compile(r"(?<![\w-])(--?[a-zA-Z][\w-]*)")
# "  name=VALUE   text" or "  name, name   text" under a heading "mount options:"
MOUNT_OPTION = re.compile(r"^  ([a-z_]+(?:, [a-z_]+)*)(?:=\S+)?(?:  +| )\S")


def options_of_help(text):
    options, in_mount_options = set(), False
    for line in text.splitlines():
        if re.match(r"^\S", line):
            in_mount_options = line.lower().startswith("mount options")
        if line.startswith(("Usage:", "usage:", "       ")):
            options |= set(OPTION.findall(line)) - {"-u"}  # fusermount3 -u
        elif re.match(r"^ +-", line):
            options |= set(OPTION.findall(line.strip().split("  ")[0]))
        elif in_mount_options and (match := MOUNT_OPTION.match(line)):
            options |= set(match.group(1).split(", "))
    return options


def options_of_page(source):
    """Options in the tags (the line after .TP) of the sections about options."""
    options, section = set(), ""
    lines = source.splitlines()
    for line, tag in zip(lines, lines[1:]):
        if line.startswith(".SH "):
            section = line[4:]
        if line != ".TP" or "OPTIONS" not in section:
            continue
        text = re.sub(r"\\f[BIRP]|^\.[BIR]+ ", "", tag).replace("\\-", "-").replace('"', "")
        found = OPTION.findall(text)
        if not found and section == "MOUNT OPTIONS":
            found = re.findall(r"[a-z_]+", text.split("=")[0])
        options |= set(found)
    return options


def run(*command):
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=20)
    return result.returncode, result.stdout


def main():
    program, page, *commands = sys.argv[1:]
    status, text = run(program, "--help")
    ok = [status == 0 and text != ""]
    for command in commands:
        status, more = run(program, command, "--help")
        ok.append(status == 0 and more != "")
        text += more
    print(f"{'ok' if all(ok) else 'not ok'} 1 - --help succeeds")
    with open(page, encoding="utf-8") as file:
        source = file.read()
    in_help, in_page = options_of_help(text), options_of_page(source)
    results = [("the page has every option of --help", in_help - in_page),
               ("--help has every option of the page", in_page - in_help),
               ("there are options", set() if len(in_help) > 4 else {"none found"}),
               ("the page has every command", {c for c in commands if f"\n.B {c}\n" not in source})]
    for number, (name, missing) in enumerate(results, 2):
        for option in sorted(missing):
            print(f"# {option}")
        print(f"{'not ok' if missing else 'ok'} {number} - {name}")
    print(f"1..{len(results) + 1}")
    return 0 if all(ok) and not any(missing for _, missing in results) else 1


if __name__ == "__main__":
    sys.exit(main())
