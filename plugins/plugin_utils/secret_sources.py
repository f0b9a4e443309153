# Copyright (c) 2026 mlops.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Read secrets on the controller from the sources that `secrets` names. `_READERS` has one row for each source."""

from __future__ import annotations

import json
import os
import typing as t
from collections.abc import Callable, Mapping

from ansible.errors import AnsibleError
from ansible.plugins.loader import lookup_loader

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import InvalidInputError

Origin = Mapping[str, t.Any]


class SecretSources:
    """Reads secrets for one task: from variables, the environment, lookup plugins and AWS."""

    def __init__(self, variables: Mapping[str, t.Any], *, loader: t.Any, templar: t.Any) -> None:
        self._variables, self._loader, self._templar = variables, loader, templar
        self._aws: dict[str, t.Any] = {}

    def __call__(self, origin: Origin) -> str:
        """Return the secret.

        Raises:
            EksError: the secret cannot be read.
        """
        word = next(word for word in _READERS if word in origin)
        found = _READERS[word](self, origin)
        if isinstance(found, bytes):
            try:
                return found.decode()
            except UnicodeDecodeError:
                raise InvalidInputError(f"{word} {origin[word]} is not text.") from None
        if not isinstance(found, str):
            raise InvalidInputError(f"{word} {origin[word]} is not text. Quote it where it is written.")
        # Return a plain string without the tags of Ansible.
        return str(found)

    def _variable(self, origin: Origin) -> t.Any:
        name = origin["variable"]
        if name not in self._variables:
            raise InvalidInputError(f"variable {name} is not defined for this host.")
        try:
            return self._templar.template(self._variables[name])
        except AnsibleError as error:
            raise InvalidInputError(f"variable {name}: {' '.join(str(error).split())}") from error

    def _env(self, origin: Origin) -> t.Any:
        if origin["env"] not in os.environ:
            raise InvalidInputError(
                f"environment variable {origin['env']} is not set. Set it where ansible-playbook is run."
            )
        return os.environ[origin["env"]]

    def _lookup(self, origin: Origin) -> t.Any:
        name, terms, options = origin["lookup"], list(origin.get("terms") or ()), dict(origin.get("options") or {})
        plugin = lookup_loader.get(name, loader=self._loader, templar=self._templar)
        if plugin is None:
            raise InvalidInputError(f"lookup {name}: there is no such plugin. Install its collection.")
        try:
            found = plugin.run(terms, variables=dict(self._variables), **options)
        except AnsibleError as error:
            raise InvalidInputError(f"lookup {name}: {' '.join(str(error).split())}") from error
        if not isinstance(found, list) or len(found) != 1:
            raise InvalidInputError(f"lookup {name}: expected one value, found {len(found)}. Correct its terms.")
        return found[0]

    def _secrets_manager(self, origin: Origin) -> t.Any:
        name, key = origin["aws_secret"], origin.get("key")
        found = self._in(origin).call("secretsmanager", "get_secret_value", SecretId=name)
        text = found.get("SecretString", found.get("SecretBinary"))
        if key is None:
            return text
        try:
            fields = json.loads(text or "")
        except ValueError:
            fields = None
        if not isinstance(fields, dict):
            raise InvalidInputError(
                f"aws_secret {name} is not JSON with keys. Remove 'key', or store it as key and value."
            )
        if key not in fields:
            raise InvalidInputError(f"aws_secret {name} has no key {key!r}. It has {', '.join(map(str, fields))}.")
        return fields[key]

    def _parameter(self, origin: Origin) -> t.Any:
        found = self._in(origin).call("ssm", "get_parameter", Name=origin["ssm_parameter"], WithDecryption=True)
        return found["Parameter"]["Value"]

    def _in(self, origin: Origin) -> t.Any:
        """Return AWS with `region` and `aws_profile` of the host, else those of the environment."""
        # Importing boto3 takes half a second: only steps that use AWS do it.
        from ansible_collections.mlops.eks.plugins.module_utils._aws.session import Aws, own_region

        profile = str(self._of_host("aws_profile") or "") or None
        region = str(origin.get("region") or self._of_host("region") or own_region(profile))
        if not region:
            raise InvalidInputError("no AWS region: set 'region' next to it, or as a variable of the host.")
        if region not in self._aws:
            self._aws[region] = Aws(region=region, profile=profile)
        return self._aws[region]

    def _of_host(self, name: str) -> t.Any:
        return self._variable({"variable": name}) if name in self._variables else None


_READERS: Mapping[str, Callable[[SecretSources, Origin], t.Any]] = {
    "variable": SecretSources._variable,
    "env": SecretSources._env,
    "lookup": SecretSources._lookup,
    "aws_secret": SecretSources._secrets_manager,
    "ssm_parameter": SecretSources._parameter,
}
