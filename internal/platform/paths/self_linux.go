package paths

import "os"

// ownProgram returns the file of the running program, also after it was replaced.
func ownProgram() (os.FileInfo, error) { return os.Stat("/proc/self/exe") }
