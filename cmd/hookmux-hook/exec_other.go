//go:build !unix

package main

var execProgram func(program string, args, env []string) error
