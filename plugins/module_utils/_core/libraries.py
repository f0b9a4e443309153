# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Python libraries beyond the standard library, each imported when it is first used.

Import them from here: `from ..._core.libraries import yaml`. A file of the collection can then be imported where a
library is missing, and a task that needs the library fails with one line that names the package.
"""

from __future__ import annotations

import importlib
import sys
import typing as t

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import MissingToolError

if t.TYPE_CHECKING:
    import boto3
    import botocore.config
    import botocore.exceptions
    import botocore.session
    import jinja2
    import jsonschema
    import referencing
    import referencing.exceptions
    import urllib3
    import urllib3.connection
    import yaml
    import yaml.composer
    import yaml.constructor
    import yaml.parser
    import yaml.reader
    import yaml.resolver
    import yaml.scanner
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

# What pip installs, by the library's name; tests/contract/test_meta.py compares it with meta/ee-requirements.txt.
REQUIREMENTS = {
    "boto3": "boto3>=1.34",
    "botocore": "boto3>=1.34",
    "jsonschema": "jsonschema>=4.18",
    "urllib3": "urllib3>=2.3",
    "yaml": "pyyaml>=6",
}


class Library:
    """Stands for a module, which is imported when one of its attributes is first used.

    `submodules` are imported with it. An attribute may raise MissingToolError: the library cannot be imported.
    """

    def __init__(self, module: str, *submodules: str) -> None:
        self._module, self._submodules = module, submodules

    def __getattr__(self, name: str) -> t.Any:
        # Programs that inspect a module look for such names; they must not import the library.
        if name.startswith("__"):
            raise AttributeError(name)
        value = self.__dict__[name] = getattr(self._load(), name)
        return value

    def _load(self) -> t.Any:
        try:
            for submodule in self._submodules:
                importlib.import_module(f"{self._module}.{submodule}")
            return importlib.import_module(self._module)
        except ImportError as error:
            library = self._module.partition(".")[0]
            raise MissingToolError(
                f"The Python library {library} is not installed for {sys.executable} ({error}). "
                f"Run: {sys.executable} -m pip install '{REQUIREMENTS.get(library, library)}'"
            ) from error


def require(library: t.Any) -> None:
    """Import a library now, before work begins that needs it later.

    Raises:
        MissingToolError: it cannot be imported.
    """
    library._load()


if not t.TYPE_CHECKING:
    boto3 = Library("boto3")
    botocore = Library("botocore", "config", "exceptions", "session")
    ec = Library("cryptography.hazmat.primitives.asymmetric.ec")
    hashes = Library("cryptography.hazmat.primitives.hashes")
    jinja2 = Library("jinja2")
    jsonschema = Library("jsonschema")
    referencing = Library("referencing", "exceptions")
    serialization = Library("cryptography.hazmat.primitives.serialization")
    urllib3 = Library("urllib3", "connection")
    x509 = Library("cryptography.x509")
    yaml = Library("yaml")

__all__ = [
    "REQUIREMENTS",
    "Library",
    "boto3",
    "botocore",
    "ec",
    "hashes",
    "jinja2",
    "jsonschema",
    "referencing",
    "serialization",
    "urllib3",
    "x509",
    "yaml",
]
