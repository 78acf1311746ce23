package main

import (
	"strconv"
	"strings"
	"syscall"

	"github.com/hookmux/hookmux/internal/platform/files"
)

// peerOf returns who listens at the other end.
func (c conn) peerOf() (pid, uid int, err error) {
	cred, err := syscall.GetsockoptUcred(c.fd, syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	if err != nil {
		return 0, 0, err
	}
	return int(cred.Pid), int(cred.Uid), nil
}

// peerStopped reports whether the process at the other end was stopped or is
// held by a debugger.
func (c conn) peerStopped() bool {
	pid, _, err := c.peerOf()
	if err != nil || pid <= 0 {
		return false
	}
	text, err := files.Read("/proc/"+strconv.Itoa(pid)+"/stat", 4<<10)
	if err != nil {
		return false
	}
	return isStopped(string(text))
}

// isStopped reads the state in a line of /proc/PID/stat: it follows the name, which is in
// parentheses and may contain any character.
func isStopped(stat string) bool {
	_, rest, _ := strings.Cut(stat[max(0, strings.LastIndexByte(stat, ')')):], ") ")
	return strings.HasPrefix(rest, "T") || strings.HasPrefix(rest, "t")
}
