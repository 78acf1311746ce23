//go:build !unix

package usage

import (
	"errors"
	"os"
)

// uniqueFile is the same for every name of a file.
type uniqueFile struct {
	Device uint64 `json:"d"`
	Number uint64 `json:"n"`
}

func uniqueOf(os.FileInfo) uniqueFile { return uniqueFile{} }

func openRecord(string) (*os.File, error) {
	return nil, errors.New("records of agents are read on Linux and macOS only")
}
