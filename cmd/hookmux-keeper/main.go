//go:build linux

// Command hookmux-keeper is hookmux's system service (docs/system.md). systemd starts it as a user
// of its own. Package internal/keeper says what it does and what it trusts.
package main

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/hookmux/hookmux/internal/keeper"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/version"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == "--version" {
		fmt.Println("hookmux-keeper " + version.String)
		return
	}
	if len(os.Args) != 1 {
		fmt.Fprintln(os.Stderr, "usage: hookmux-keeper (systemd runs it: sudo systemctl start hookmux-keeper)")
		os.Exit(64)
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "hookmux-keeper:", err)
		os.Exit(1)
	}
}

func run() error {
	if os.Getuid() == 0 || os.Geteuid() == 0 {
		return fmt.Errorf("run it as the user %s, as its unit does", paths.KeeperName)
	}
	unix.Umask(0o077)
	_ = os.Remove(paths.KeeperSocket) // of a keeper that was killed
	listener, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	if err := unix.Bind(listener, &unix.SockaddrUnix{Name: paths.KeeperSocket}); err != nil {
		return fmt.Errorf("%s: %w", paths.KeeperSocket, err)
	}
	if err := os.Chmod(paths.KeeperSocket, 0o666); err != nil {
		return err
	}
	if err := unix.Listen(listener, 1024); err != nil {
		return err
	}
	s := &keeper.Server{Run: paths.KeeperRun, State: paths.KeeperState, Group: os.Getegid(), Log: os.Stderr}
	return s.Serve(listener)
}
