package agent

import "strings"

// resume says what is wrong with how sessions of an agent are taken up again.
func (c *checker) resume(agent string, s *ResumeSpec) {
	if s.Keyed != "directory" && s.Keyed != "id" {
		c.at("$.resume.keyed", "%s: resume: keyed %q is none of directory, id", agent, s.Keyed)
	}
	if !namesSession(s.Argv) {
		c.at("$.resume.argv", "%s: resume: argv must name {session}", agent)
	}
	if len(s.Fork) > 0 && !namesSession(s.Fork) {
		c.at("$.resume.fork", "%s: resume: fork must name {session}", agent)
	}
	for _, name := range s.Env {
		upper := strings.ToUpper(name)
		for _, secret := range []string{"KEY", "TOKEN", "SECRET", "PASSWORD"} {
			if strings.Contains(upper, secret) {
				c.at("$.resume.env", "%s: resume: %s looks like a credential and must not be kept", agent, name)
			}
		}
	}
}

func namesSession(argv []string) bool {
	if len(argv) < 2 {
		return false
	}
	for _, arg := range argv[1:] {
		if strings.Contains(arg, "{session}") {
			return true
		}
	}
	return false
}
