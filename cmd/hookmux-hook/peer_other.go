//go:build !unix

package main

import "github.com/hookmux/hookmux/internal/platform/paths"

func checkUser(conn) error                        { return nil }
func checkProgram(conn, paths.Dirs) error         { return nil }
func (c *call) awaitReply(conn, paths.Dirs) error { return nil }
