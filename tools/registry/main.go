// Copyright (c) 2026 mlops.eks contributors
// SPDX-License-Identifier: BSD-2-Clause

// Command registry serves an OCI registry out of memory on a free port of this machine, which it prints: for tests.
// With -login USER:PASSWORD it wants to know who asks.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"

	"github.com/google/go-containerregistry/pkg/registry"
)

func main() {
	login := flag.String("login", "", "the only user and password that are let in")
	flag.Parse()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(listener.Addr())
	log.Fatal(http.Serve(listener, guarded(registry.New(registry.Logger(log.New(io.Discard, "", 0))), *login)))
}

// guarded lets everybody in where there is no login.
func guarded(next http.Handler, login string) http.Handler {
	return http.HandlerFunc(func(answer http.ResponseWriter, request *http.Request) {
		user, password, _ := request.BasicAuth()
		if login != "" && user+":"+password != login {
			answer.Header().Set("WWW-Authenticate", `Basic realm="registry"`)
			http.Error(answer, `{"errors": [{"code": "UNAUTHORIZED", "message": "authentication required"}]}`, http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(answer, request)
	})
}
