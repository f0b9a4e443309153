#!/usr/bin/env python
# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Write the table of EC2 instance types from moto's copy of `DescribeInstanceTypes`: `python tools/instance_types.py`.

It holds every type with an accelerator or EFA, and the common families of the others; no bare metal. `--check` writes
nothing and exits with 1 when moto's copy differs.
"""

from __future__ import annotations

import argparse
import datetime
import gzip
import importlib.metadata
import json
import re
import sys
import textwrap
from itertools import groupby
from pathlib import Path
from typing import Any

import moto

TABLE = Path(__file__).resolve().parents[1] / "plugins/module_utils/_aws/instance_table.py"
SOURCE = Path(moto.__file__).parent / "ec2/resources/instance_types.json.gz"
COMMON = re.compile(r"^([cmr][5-9]|t3|t4g|i3en|i4i|i7i|i8g|x2i|hpc)")
HEAD = '''# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""EC2 instance types; written by tools/instance_types.py.

This is a Python file because Ansible copies only Python files of `module_utils` to another machine. Of each type:
vCPUs/MiB of memory, gpu=NUMBERxMiB of memory each, neuron=DEVICESxCORES of each, efa=interfaces, disk=NUMBERxGB each.
"""

from __future__ import annotations

from datetime import date

'''


def facts(entry: dict[str, Any]) -> str:
    """Return the facts of an instance type as they stand in the table."""
    found = [f"{entry['VCpuInfo']['DefaultVCpus']}/{entry['MemoryInfo']['SizeInMiB']}"]
    for gpu in entry.get("GpuInfo", {}).get("Gpus", []):
        # A part of a GPU is one device.
        found.append(f"gpu={gpu.get('LogicalGpuCount', gpu['Count'])}x{gpu['MemoryInfo']['SizeInMiB']}")
    for device in entry.get("NeuronInfo", {}).get("NeuronDevices", []):
        found.append(f"neuron={device['Count']}x{device['CoreInfo']['Count']}")
    if interfaces := entry["NetworkInfo"].get("EfaInfo", {}).get("MaximumEfaInterfaces"):
        found.append(f"efa={interfaces}")
    found += [
        f"disk={disk['Count']}x{disk['SizeInGB']}" for disk in entry.get("InstanceStorageInfo", {}).get("Disks", [])
    ]
    return " ".join(found)


def wanted(name: str, entry: dict[str, Any]) -> bool:
    """Return whether a type stands in the table."""
    special = "GpuInfo" in entry or "NeuronInfo" in entry or entry["NetworkInfo"].get("EfaSupported")
    return "metal" not in name and (bool(COMMON.match(name)) or bool(special))


def table() -> str:
    """Return the table: a family per paragraph, its sizes with the smallest first."""
    types = {
        name: entry for name, entry in json.loads(gzip.decompress(SOURCE.read_bytes())).items() if wanted(name, entry)
    }
    ordered = sorted(types, key=lambda name: (name.partition(".")[0], types[name]["VCpuInfo"]["DefaultVCpus"], name))
    lines = []
    for family, names in groupby(ordered, key=lambda name: name.partition(".")[0]):
        sizes = ", ".join(f"{name.partition('.')[2]} {facts(types[name])}" for name in names)
        lines.append(textwrap.fill(f"{family}: {sizes}", 118, subsequent_indent="  ", break_on_hyphens=False))
    return "\n".join(lines)


def main() -> int:
    """Write or check the table. Returns the exit status."""
    parser = argparse.ArgumentParser(description="Write the table of EC2 instance types from moto's copy.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 when moto's copy differs")
    check, made = parser.parse_args().check, table()
    if TABLE.is_file() and f'"""\\\n{made}\n"""' in TABLE.read_text():
        return 0
    print(f"{TABLE.name}: {'out of date, run tools/instance_types.py' if check else 'written'}")
    if not check:
        today = datetime.datetime.now(tz=datetime.UTC).date()
        origin = f"moto {importlib.metadata.version('moto')}, ec2/resources/instance_types.json.gz"
        text = f'OF = date({today.year}, {today.month}, {today.day})\nSOURCE = "{origin}"\nTYPES = """\\\n{made}\n"""\n'
        TABLE.write_text(HEAD + text)
    return int(check)


if __name__ == "__main__":
    sys.exit(main())
