// Copyright (c) 2026 mlops.eks contributors
// SPDX-License-Identifier: BSD-2-Clause

// CoreDNS with the plugins that the Corefile of a native cluster names, and none of the others: those bring the clients
// of four clouds along, nearly half of all packages to compile.
package main

import (
	_ "github.com/coredns/coredns/plugin/bind"
	_ "github.com/coredns/coredns/plugin/cache"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/health"
	_ "github.com/coredns/coredns/plugin/kubernetes"

	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/coremain"
)

func init() {
	dnsserver.Directives = []string{"bind", "health", "errors", "cache", "kubernetes"}
}

func main() { coremain.Run() }
