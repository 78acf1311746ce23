//go:build !unix

package main

import "github.com/hookmux/hookmux/internal/platform/paths"

func checkPeer(conn, paths.Dirs) error            { return nil }
func (c *call) awaitReply(conn, paths.Dirs) error { return nil }
