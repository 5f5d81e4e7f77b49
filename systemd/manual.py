"""Writes the manual pages: what the programs' help says, and the comments of config/child.yaml and its like.

usage: manual.py PROGRAM FOLDER               PROGRAM.1 and one page for each of its commands
       manual.py --configuration FILE FOLDER  cradle-child.yaml.5 of child.yaml
"""

import json
import os
import re
import subprocess
import sys

FILES = {
    "cradle-child": [
        ("/etc/cradle/child.yaml", "The configuration; see cradle-child.yaml(5)."),
        ("/var/lib/cradle", "Identity, paired devices and tokens: what to keep a copy of, and what to keep secret."),
        ("/run/cradle", "The socket through which the commands reach the daemon; for root and the group cradle."),
    ],
    "cradle-parent": [
        ("~/.local/state/cradle", "Identity and paired cameras; below $XDG_STATE_HOME if that is set."),
    ],
    "cradle-rendezvous": [
        ("/etc/cradle/rendezvous.yaml", "The configuration; see cradle-rendezvous.yaml(5)."),
        ("/var/lib/cradle-rendezvous", "The server's own key, where it has no certificate: what baby units know it by."),
        ("/run/cradle-rendezvous", "The socket of `status`; for root and the group cradle-rendezvous."),
    ],
}
STATUS = [("0", "Done."), ("1", "Failed; standard error says what to do next."), ("2", "Wrong usage or configuration.")]


def escape(text):
    """Text as roff shows it letter by letter; an option's hyphens stay hyphens, so that they can be copied."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
    text = re.sub("`([^`]+)`", r"\\fB\1\\fR", text)
    text = text.replace("…", "\\[u2026]")
    return "\\&" + text if text[:1] == "." else text


def bold(text):
    return f"\\fB{escape(text)}\\fR"


def paragraphs(text):
    return "\n.PP\n".join(escape(" ".join(part.split())) for part in re.split(r"\n\s*\n", text.strip()))


def tagged(tag, text):
    return [".TP", tag, escape(" ".join(text.split())) or "\\&"]


def spelled(argument):
    """`--name VALUE` as the reader types it."""
    value = f"\\fI{escape(argument.get('valueName', '').upper())}\\fR"
    if argument["kind"] == "positional":
        return value
    names = [("--" if name["kind"] == "long" else "-") + name["name"] for name in argument["names"]]
    return ", ".join(bold(name) for name in names) + (f" {value}" if argument["kind"] == "option" else "")


def shown(command):
    """Its arguments, without those that every command has: they stand on the program's page."""
    common = {"version", "help"}
    return [
        argument
        for argument in command.get("arguments", [])
        if argument.get("shouldDisplay", True) and argument.get("preferredName", {}).get("name") not in common
    ]


def synopsis(path, command):
    words = [bold(" ".join(path))]
    for argument in shown(command):
        text = spelled(argument) + (" ..." if argument.get("isRepeating") else "")
        words.append(f"[{text}]" if argument.get("isOptional") else text)
    if command.get("subcommands"):
        words.append("\\fICOMMAND\\fR ...")
    return [".PP", ".nh", *words, ".hy"]


def options(command):
    lines = []
    for argument in shown(command):
        text = argument.get("abstract", "")
        if argument.get("defaultValue") and "(default:" not in text:
            text += f" (default: {argument['defaultValue']})"
        lines += tagged(spelled(argument), text)
    return lines


def commands(command):
    return [sub for sub in command.get("subcommands", []) if sub["commandName"] != "help" and sub["shouldDisplay"]]


def heading(page, section, version):
    return [f'.TH "{escape(page.upper())}" "{section}" "" "{escape(version)}" "Cradle"']


def name(page, abstract):
    abstract = abstract.strip().rstrip(".")
    return [".SH NAME", f"{escape(page)} \\- {escape(abstract[:1].lower() + abstract[1:])}"]


def command_page(path, command, version):
    """One page; the commands of a command (`token add`) stand on it too."""
    program, page = path[0], "-".join(path)
    lines = heading(page, 1, version) + name(page, command["abstract"])
    leaves = commands(command) if len(path) > 1 else []
    lines += [".SH SYNOPSIS"]
    for leaf in leaves:
        lines += synopsis(path + [leaf["commandName"]], leaf)
    lines += [] if leaves else synopsis(path, command)
    lines += [".SH DESCRIPTION", paragraphs(command["abstract"] + "\n\n" + command.get("discussion", ""))]
    if len(path) == 1:
        lines += [".SH COMMANDS"]
        for sub in commands(command):
            lines += tagged(f"\\fB{escape(page)}\\-{escape(sub['commandName'])}\\fR(1)", sub["abstract"])
    for leaf in leaves:
        lines += [f".SS {bold(leaf['commandName'])}", paragraphs(leaf["abstract"] + "\n\n" + leaf.get("discussion", ""))]
        lines += options(leaf)
    if len(path) == 1:
        lines += [".SH OPTIONS"]
        lines += tagged(f"{bold('--help')}, {bold('-h')}", "What a command does and its options; every command has it.")
        lines += tagged(bold("--version"), "The program's version.")
    elif not leaves and shown(command):
        lines += [".SH OPTIONS"] + options(command)
    lines += [".SH EXIT STATUS"] + [line for code, text in STATUS for line in tagged(bold(code), text)]
    lines += [".SH FILES"] + [line for path_, text in FILES[program] for line in tagged(f"\\fI{escape(path_)}\\fR", text)]
    others = list(FILES) if len(path) == 1 else [program]
    see = [f"{bold(other)}(1)" for other in others if other != page]
    if any(file.startswith("/etc") for file, _ in FILES[program]):
        see.append(f"{bold(program + '.yaml')}(5)")
    return lines + [".SH SEE ALSO", ", ".join(see)]


def configuration_page(program, text, version):
    """Blocks of comment, each followed by the keys that it explains, commented out: `#name: null`."""
    page = program + ".yaml"
    lines = heading(page, 5, version) + name(page, f"configuration of {program}") + [".SH DESCRIPTION"]
    for block in re.split(r"\n\s*\n", text.strip()):
        rows = block.split("\n")
        key = next((index for index, row in enumerate(rows) if re.match(r"#[a-z]", row)), len(rows))
        if key < len(rows):
            lines += [".SH KEYS"] if ".SH KEYS" not in lines else []
            lines += [f".SS {escape(rows[key][1:].split(':')[0])}"]
        else:
            lines += [".PP"]
        literal = False
        for row in (row[2:] for row in rows[:key]):
            if row.startswith("  ") != literal:
                literal = not literal
                lines += [".PP", ".nf"] if literal else [".fi", ".PP"]
            lines += [escape(row)]
        lines += [".fi"] if literal else []
        if key < len(rows):
            shown = "For example:" if block.startswith("# Required") else "Default:"
            lines += [".PP", shown, ".PP", ".RS 4", ".nf"] + [escape(row[1:]) for row in rows[key:]] + [".fi", ".RE"]
    file = FILES[program][0][0]
    return lines + [".SH FILES", f"\\fI{escape(file)}\\fR", ".SH SEE ALSO", f"{bold(program)}(1)"]


def write(folder, file, lines):
    with open(os.path.join(folder, file), "w", encoding="utf-8") as page:
        page.write("\n".join(lines) + "\n")


def main():
    if len(sys.argv) == 4 and sys.argv[1] == "--configuration":
        program = "cradle-" + os.path.basename(sys.argv[2]).removesuffix(".yaml")
        with open(sys.argv[2], encoding="utf-8") as file:
            return write(sys.argv[3], program + ".yaml.5", configuration_page(program, file.read(), "Cradle"))
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    program, folder = sys.argv[1:]
    version = "Cradle " + subprocess.check_output([program, "--version"], text=True).strip()
    command = json.loads(subprocess.check_output([program, "--experimental-dump-help"]))["command"]
    root = [command["commandName"]]
    write(folder, f"{root[0]}.1", command_page(root, command, version))
    for sub in commands(command):
        path = root + [sub["commandName"]]
        write(folder, "-".join(path) + ".1", command_page(path, sub, version))


if __name__ == "__main__":
    main()
