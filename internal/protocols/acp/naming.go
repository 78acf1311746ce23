package acp

import (
	"cmp"
	"path/filepath"
	"strings"

	"github.com/hookmux/hookmux/agent"
)

// NameAgent finds out which agent talks: by given, the name that the user gave it, then by
// what it calls itself, then by its command line.
func NameAgent(catalogue *agent.Catalogue, given string, argv []string) Naming {
	return func(selfName string) (string, *agent.Agent) {
		if given != "" {
			entry, _ := catalogue.Agent(given)
			return given, entry
		}
		if entry, ok := catalogue.NamedInACP(selfName); ok && selfName != "" {
			return entry.Name, entry
		}
		for _, word := range argv {
			if strings.HasPrefix(word, "-") {
				continue
			}
			for _, name := range namesIn(word) {
				if entry, ok := catalogue.NamedInACP(name); ok {
					return entry.Name, entry
				}
			}
		}
		if entry, ok := catalogue.Agent(programName(argv[0])); ok {
			return entry.Name, entry
		}
		return cmp.Or(plainName(selfName), plainName(programName(argv[0])), "acp-agent"), nil
	}
}

// namesIn returns the names that a word of a command line may mean: the parts of a
// path, without a package's version.
func namesIn(word string) []string {
	var names []string
	for part := range strings.SplitSeq(filepath.ToSlash(word), "/") {
		if at := strings.LastIndexByte(part, '@'); at > 0 {
			part = part[:at]
		}
		if part != "" {
			names = append(names, part)
		}
	}
	return names
}

func programName(path string) string {
	return strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
}

// plainName makes what an agent calls itself fit to be a name.
func plainName(name string) string {
	name = strings.ToLower(name[strings.LastIndexByte(name, '/')+1:])
	name = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return '-'
	}, name)
	return strings.Trim(name[:min(len(name), 40)], "-")
}
