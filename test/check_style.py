#!/usr/bin/env python3
"""The habits of CONTRIBUTING.md that a program can check, one TAP line for each.

usage: check_style.py SOURCE_ROOT
"""
import ast
import os
import re
import subprocess
import sys

FUNCTION_LINES = 70
FILE_LINES = 600
C_WIDTH = 102  # clang-format's 100, and what it adds where it finds nothing to break
SCRIPT_WIDTH = 120
TEXT_SUFFIXES = (".c", ".h", ".py", ".sh", ".md", ".build", ".txt", ".ini")

# The only file of pack/ and fs/ that may include a header of each third-party library.
THIRD_PARTY = ("zstd", "liburing", "fuse", "xxhash", "openssl")

BANNED = {
    "strcpy": "snprintf or memcpy", "strcat": "snprintf", "sprintf": "snprintf",
    "vsprintf": "vsnprintf", "gets": "getline", "atoi": "strtol", "atol": "strtol",
    "atoll": "strtoll", "atof": "strtod", "strtok": "strchr", "scanf": "fgets",
    "system": "posix_spawn", "popen": "posix_spawn", "alloca": "malloc",
    "tmpnam": "O_TMPFILE or mkstemp", "mktemp": "mkstemp", "usleep": "nanosleep or a condition",
    "setjmp": "a return value", "longjmp": "a return value", "rand": "a generator with a seed",
}
# The library does no I/O, prints nothing and never ends the process of its user.
BANNED_IN_LIBRARY = {name: "an error to the caller" for name in (
    "printf", "fprintf", "puts", "fputs", "perror", "exit", "_exit", "fopen", "open", "openat",
    "read", "write", "pread", "pwrite", "mmap", "syslog", "pthread_create")}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
# Returns the error it is given, so that a check is one line.
RETURNS_ITS_ARGUMENT = ("fault_set",)


def tracked_files(root):
    """The files of the project, those not yet committed too, without what git ignores."""
    listing = subprocess.run(
        ["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True, check=False)
    if listing.returncode == 0 and listing.stdout:
        names = listing.stdout.decode().split("\0")[:-1]
    else:  # an unpacked release
        names = [os.path.relpath(os.path.join(directory, name), root)
                 for directory, _, files in os.walk(root) for name in files
                 if not os.path.relpath(directory, root).startswith(("build", ".git"))]
    return sorted(name for name in set(names) if os.path.isfile(os.path.join(root, name)))


class Source:
    """One text file: its lines, and for C the text without comments and strings."""

    def __init__(self, root, name):
        self.name = name
        with open(os.path.join(root, name), encoding="utf-8", errors="replace") as file:
            self.text = file.read()
        self.lines = self.text.split("\n")
        self.is_c = name.endswith((".c", ".h"))
        self.is_python = name.endswith(".py") or self.lines[0].startswith("#!/usr/bin/env python")
        self.is_code = (self.is_c or self.is_python or name.endswith(".sh")
                        or self.lines[0].startswith("#!"))
        self.code = strip_c(self.text) if self.is_c else self.text

    def c_functions(self):
        """(first line, line count, name) of each function body: braces in the first column."""
        begin = None
        lines = self.code.split("\n")
        for number, line in enumerate(lines):
            if line.rstrip() == "{":
                begin = number
            elif line.rstrip() == "}" and begin is not None:
                head = begin
                while head > 0 and lines[head - 1].strip() and lines[head - 1][0] not in "}#":
                    head -= 1
                text = re.sub(r"__attribute__\(\(.*?\)\)", "", "\n".join(lines[head:begin]))
                match = re.search(r"(\w+)\s*\(", text)
                yield begin + 1, number - head + 1, match.group(1) if match else "?"
                begin = None


COMMENT_OR_LITERAL = re.compile(
    r"""/\*.*?\*/|//[^\n]*|^\s*\#\s*include[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""",
    re.DOTALL | re.MULTILINE)


def strip_c(text):
    """Comments, strings and character constants blanked; lines and includes kept."""
    def blank(match):
        found = match.group()
        return found if found.lstrip().startswith("#") else re.sub(r"[^\n]", " ", found)

    return COMMENT_OR_LITERAL.sub(blank, text)


def check_function_length(sources):
    for source in sources:
        if source.is_c:
            for line, count, name in source.c_functions():
                if count > FUNCTION_LINES:
                    yield f"{source.name}:{line}: {name} has {count} lines"
        elif source.is_python:
            for node in ast.walk(ast.parse(source.text)):
                if isinstance(node, ast.FunctionDef):
                    count = node.end_lineno - node.lineno + 1
                    if count > FUNCTION_LINES:
                        yield f"{source.name}:{node.lineno}: {node.name} has {count} lines"


def check_file_length(sources):
    for source in sources:
        if source.is_code and len(source.lines) > FILE_LINES + 1:
            yield f"{source.name}: {len(source.lines)} lines"


def check_recursion(sources):
    for source in sources:
        if not source.is_c:
            continue
        lines = source.code.split("\n")
        for begin, _, name in source.c_functions():
            body = "\n".join(lines[begin:lines.index("}", begin)])
            if re.search(rf"(?<![\w.>]){re.escape(name)}\s*\(", body):
                yield f"{source.name}:{begin}: {name} calls itself"


def includes_of(source):
    return [(kind, path) for kind, path in INCLUDE.findall(source.code)]


def check_include_direction(sources):
    by_directory = {}
    for source in sources:
        if source.name.endswith(".h"):
            homes = by_directory.setdefault(os.path.basename(source.name), set())
            homes.add(os.path.dirname(source.name))
    allowed = {"pack/lib": {"pack/lib"}, "pack": {"pack", "pack/lib"}, "fs": {"fs", "pack/lib"}}
    for source in sources:
        directory = os.path.dirname(source.name)
        if not source.is_c or directory not in allowed:
            continue
        for kind, path in includes_of(source):
            homes = by_directory.get(os.path.basename(path), set())
            if kind == '"' and homes and not homes & allowed[directory]:
                yield f"{source.name}: {path} belongs to {', '.join(sorted(homes))}"


def strangers(sources, header, library):
    """Files that would see the library through the header and are not of its module."""
    base = os.path.basename(header)
    module = base.removesuffix("_private.h")
    for source in sources:
        if source.is_c and ('"', base) in includes_of(source) and source.name != header:
            if base == module or not os.path.basename(source.name).startswith(module):
                yield f"{source.name} sees {library} through {header}"


def check_third_party(sources):
    users = {library: set() for library in THIRD_PARTY}
    for source in sources:
        if not source.is_c or not source.name.startswith(("pack/", "fs/")):
            continue
        for kind, path in includes_of(source):
            for library in THIRD_PARTY:
                if kind == "<" and path.startswith(library):
                    users[library].add(source.name)
    for library, names in users.items():
        if len(names) > 1:
            yield f"{library} is included by {', '.join(sorted(names))}: one file should wrap it"
        for name in names:
            # X_private.h may, for the files of one module X.
            if name.endswith(".h"):
                yield from strangers(sources, name, library)


def check_banned_calls(sources):
    for source in sources:
        if not source.is_c:
            continue
        banned = dict(BANNED)
        if source.name.startswith("pack/lib/"):
            banned.update(BANNED_IN_LIBRARY)
        for number, line in enumerate(source.code.split("\n"), 1):
            for name in re.findall(r"(?<![\w.>])(\w+)\s*\(", line):
                if name in banned:
                    yield f"{source.name}:{number}: {name} (use {banned[name]})"


def check_dead_files(sources):
    builds = "\n".join(source.text for source in sources if source.name.endswith("meson.build"))
    text = "\n".join(source.text for source in sources if source.is_code or source.name.endswith(".md"))
    listed = {os.path.basename(item) for item in re.findall(r"[\w./@-]+", builds)}
    # 'test_@0@.c', or name + '.c', in a loop over names stands for a file of each name.
    prefixes = [item[:-len("@0@.c")] for item in listed if item.endswith("@0@.c")]
    prefixes += [""] if "+ '.c'" in builds else []
    for source in sources:
        name = os.path.basename(source.name)
        stem, suffix = os.path.splitext(name)
        if suffix == ".c":
            if name not in listed and not any(
                    stem.startswith(prefix) and stem[len(prefix):] in listed for prefix in prefixes):
                yield f"{source.name} is in no meson.build"
        elif suffix == ".h" and f'"{name}"' not in text and f'/{name}"' not in text:
            yield f"{source.name} is included by nothing"


def check_header_guards(sources):
    for source in sources:
        if source.name.endswith(".h"):
            match = re.search(r"^#ifndef (\w+)\n#define (\w+)$", source.code, re.MULTILINE)
            if not match or match.group(1) != match.group(2):
                yield f"{source.name} has no include guard"
            elif not source.text.startswith("/* " + os.path.basename(source.name)):
                yield f"{source.name} does not open with what it is for"


def check_unchecked_errors(sources):
    """A prototype that returns int and can fail says so to the compiler."""
    for source in sources:
        if source.name.startswith(("pack/lib/", "fs/", "pack/")) and source.name.endswith(".h"):
            text = re.sub(r"\{[^{}]*\}", ";", source.code)
            for statement in text.split(";"):
                head = statement.strip().split("\n\n")[-1].strip()
                match = re.match(r"(?:extern\s+)?int\s+(\w+)\s*\(", head)
                name = match.group(1) if match else ""
                # A getter of a descriptor can't fail.
                if match and name not in RETURNS_ITS_ARGUMENT and not name.endswith("_fd"):
                    yield f"{source.name}: {name} lacks warn_unused_result"


def check_white_space(sources):
    for source in sources:
        for number, line in enumerate(source.lines, 1):
            if line != line.rstrip() or ("\t" in line and source.is_c):
                yield f"{source.name}:{number}: white space"
            if source.is_code and len(line) > (C_WIDTH if source.is_c else SCRIPT_WIDTH):
                yield f"{source.name}:{number}: {len(line)} columns"
        if not source.text.endswith("\n"):
            yield f"{source.name}: no newline at the end"


def check_unfinished(sources):
    word = re.compile("TO" + "DO|FIX" + "ME|X" + r"XX(?!X)|\bHA" + "CK")
    for source in sources:
        for number, line in enumerate(source.lines, 1):
            match = word.search(line)
            if match and "mktemp" not in line and "XXXXXX" not in line:
                yield f"{source.name}:{number}: {match.group()}"


RULES = (
    (f"no function over {FUNCTION_LINES} lines", check_function_length),
    (f"no file over {FILE_LINES} lines", check_file_length),
    ("no recursion", check_recursion),
    ("includes point from fs and pack to pack/lib", check_include_direction),
    ("one file wraps each third-party library", check_third_party),
    ("no banned calls", check_banned_calls),
    ("no dead files", check_dead_files),
    ("headers have a guard and say what they are for", check_header_guards),
    ("functions that can fail are warn_unused_result", check_unchecked_errors),
    ("white space and line width", check_white_space),
    ("nothing left unfinished", check_unfinished),
)


def main():
    root = sys.argv[1]
    names = [name for name in tracked_files(root)
             if name.endswith(TEXT_SUFFIXES) or name.startswith(("scripts/", ".ci/")) and "." not in name[4:]]
    sources = [Source(root, name) for name in names if "data/" not in name]
    failed = 0
    for number, (title, rule) in enumerate(RULES, 1):
        findings = list(rule(sources))
        for finding in findings:
            print(f"# {finding}")
        failed += bool(findings)
        print(f"{'not ok' if findings else 'ok'} {number} - {title}")
    print(f"1..{len(RULES)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
