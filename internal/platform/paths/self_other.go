//go:build !linux

package paths

import "os"

// ownProgram returns the file of the running program.
func ownProgram() (os.FileInfo, error) {
	file, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return os.Stat(file)
}
