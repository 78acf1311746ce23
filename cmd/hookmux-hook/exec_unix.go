//go:build unix

package main

import "syscall"

var execProgram = syscall.Exec
