# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""A client in the cluster that asks a server for a page fifty times a second, and counts lost answers."""

from __future__ import annotations

from samples import IMAGE
from space import Space

# Each request has a connection of its own. Prints every one that was not answered, and at the end how many there were.
_PROGRAM = r"""
use IO::Socket::INET; use Time::HiRes qw(time sleep); $| = 1; $SIG{CHLD} = 'DEFAULT';
my ($sent, $begun) = (0, time);
sub reap { while (waitpid(-1, $_[0] ? 0 : 1) > 0) { } }
until (-e '/tmp/stop') {
  if (!fork) {
    $SIG{ALRM} = sub { print "lost: no answer within 30 s\n"; exit }; alarm 30;
    my $s = IO::Socket::INET->new(PeerAddr => $ENV{AT}, Timeout => 20) or do { print "lost: $@\n"; exit };
    print $s "GET / HTTP/1.0\r\n\r\n"; local $/; my $answer = <$s>;
    print "lost: [$answer]\n" unless $answer =~ /^HTTP\/1.0 200 .*\w$/s; exit
  }
  $sent++; reap(0); my $due = $begun + $sent / 50 - time; sleep $due if $due > 0
}
reap(1); printf "sent %d in %.1f s\n", $sent, time - $begun;
"""


class Client:
    """The client, from its first request to its last."""

    def __init__(self, space: Space, service: str = "run-serve") -> None:
        self._space = space
        resources = {"requests": {"cpu": "10m", "memory": "16Mi"}}
        container = {"name": "client", "image": IMAGE, "command": ["perl", "-e", _PROGRAM], "resources": resources}
        container["env"] = [{"name": "AT", "value": f"{service}.{space.namespace}.svc:8080"}]
        spec = {"restartPolicy": "Never", "terminationGracePeriodSeconds": 0, "containers": [container]}
        space.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "client"}, "spec": spec})
        space.kubectl("wait", "--for=condition=Ready", "pod/client", "--timeout=180s")

    def stop(self) -> tuple[int, list[str]]:
        """Stop the client. Return the number of requests, and its lines about lost ones."""
        self._space.kubectl("exec", "client", "--", "touch", "/tmp/stop")
        self._space.kubectl("wait", "--for=jsonpath={.status.phase}=Succeeded", "pod/client", "--timeout=180s")
        *lost, last = self._space.kubectl("logs", "client").splitlines()
        return int(last.split()[1]), lost
