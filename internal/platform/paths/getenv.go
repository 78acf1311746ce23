package paths

// GetenvFrom looks up variables in an environment of the form NAME=value, as os.Getenv does
// in this process's own. If a name is there twice, the first one is used.
func GetenvFrom(environ []string) func(name string) string {
	return func(name string) string {
		for _, entry := range environ {
			if hasName(entry, name) {
				return entry[len(name)+1:]
			}
		}
		return ""
	}
}

// GetenvLast is GetenvFrom for an environment that a program is going to be started with: if
// a name is there twice, the program gets the last one.
func GetenvLast(environ []string) func(name string) string {
	return func(name string) string {
		for i := len(environ) - 1; i >= 0; i-- {
			if hasName(environ[i], name) {
				return environ[i][len(name)+1:]
			}
		}
		return ""
	}
}

func hasName(entry, name string) bool {
	return len(entry) > len(name) && entry[len(name)] == '=' && entry[:len(name)] == name
}
