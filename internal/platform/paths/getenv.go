package paths

// GetenvFrom looks variables up in an environment of the form NAME=value, as
// os.Getenv does in this process's own. Where a name is there twice, the first
// one counts.
func GetenvFrom(environ []string) func(name string) string {
	return func(name string) string {
		for _, entry := range environ {
			if len(entry) > len(name) && entry[len(name)] == '=' && entry[:len(name)] == name {
				return entry[len(name)+1:]
			}
		}
		return ""
	}
}
