//go:build !unix

package server

import (
	"errors"
	"os"
)

func startListening(*os.File) error { return errors.ErrUnsupported }
