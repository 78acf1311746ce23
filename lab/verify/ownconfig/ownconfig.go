// Package ownconfig copies the user's own config of an agent into a throw-away home, without
// anything that may be a secret.
package ownconfig

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hookmux/hookmux/internal/edit/userfile"
	"github.com/hookmux/hookmux/internal/platform/lazyregexp"
	"github.com/hookmux/hookmux/internal/platform/termsafe"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/edit"
)

// Config is the user's own config of an agent, to be part of the proof: files that shadow each
// other, hooks that answer as well, trust that was given. It is copied into the throw-away home and
// never written to.
//
// What is copied stays as it is, byte for byte with its comments; what isn't copied is cut out of
// the text. Credentials are left out, and since there is no list of everything that may hold one,
// so is every setting with text in it that isn't known to be about hooks, permission or trust.
// Files that hold an account, and programs, aren't copied at all.
type Config struct {
	Home, Project string
	Getenv        func(string) string
}

// accountFile names files that hold an account more than config.
var accountFile = lazyregexp.New(`(?i)(auth|credential|token|oauth|secret)|^\.claude\.json$`)

// stay is a file that is not copied.
type stay struct{ file, why string }

// copied is a file on its way.
type copied struct{ from, to, format string }

// maxMine bounds a config file.
const maxMine = 8 << 20

// ownFiles returns the user's own files of an agent and where they go.
func (m *Config) ownFiles(a *agent.Agent, home, project string) (copies []copied, left []stay) {
	for _, f := range a.Files {
		if f.Scope != "user" && f.Scope != "project" {
			continue // it is at a fixed place and is used by itself
		}
		pattern := f.Resolve(m.Home, m.Project, m.Getenv)
		to := f.Resolve(home, project, nil)
		if pattern == "" || to == "" {
			continue
		}
		found, _ := filepath.Glob(pattern) // a bad pattern finds nothing
		for _, from := range found {
			switch info, err := os.Stat(from); {
			case err != nil:
				left = append(left, stay{from, "which leads nowhere"})
			case !info.Mode().IsRegular():
				left = append(left, stay{from, "which is not a plain file"})
			case info.Size() > maxMine:
				left = append(left, stay{from, "which is too large for a config"})
			case accountFile.MatchString(filepath.Base(from)):
				left = append(left, stay{from, "which holds an account"})
			case f.Format == "script" || f.Format == "yaml":
				left = append(left, stay{from, "which is not a list of settings that could be picked from"})
			default:
				copies = append(copies, copied{from, filepath.Join(filepath.Dir(to), filepath.Base(from)), f.Format})
			}
		}
	}
	return copies, left
}

// TakenNotes returns notes on what was copied.
func (m *Config) TakenNotes(a *agent.Agent) []string {
	if a == nil {
		return []string{"none of your files: hookmux does not know this agent's config yet"}
	}
	copies, left := m.ownFiles(a, "/home", "/project")
	var out []string
	for _, c := range copies {
		note := "with a copy of " + c.from
		text, behind, err := m.readFile(a, c, nil)
		switch {
		case err != nil:
			note = "with a file that does not parse in place of " + c.from + ", which does not either: " +
				termsafe.Line(err.Error(), 160)
		case len(behind) > 0:
			note += ", without " + strings.Join(behind, ", ")
		}
		out = append(out, note)
		if bytes.Contains(text, []byte("hookmux-hook")) {
			out = append(out, "hookmux's hooks in "+c.from+" are proven as they are there")
		}
	}
	for _, l := range left {
		out = append(out, "without "+l.file+", "+l.why)
	}
	if len(out) == 0 {
		out = append(out, "you have no config of this agent")
	}
	return out
}

// CopyInto copies the files of an agent to another home and project. What is already there (the
// scripted model) takes precedence. refusing says that hooks in them deny every call while no
// daemon answers.
func (m *Config) CopyInto(name, home, project string) (refusing bool, err error) {
	a, ok := agent.Builtin().Agent(name)
	if m == nil || !ok {
		return false, nil
	}
	copies, _ := m.ownFiles(a, home, project)
	moved := m.movedPaths(copies, home, project)
	for _, c := range copies {
		refuses, err := m.copyFile(a, c, moved)
		if err != nil {
			return refusing, err
		}
		refusing = refusing || refuses
	}
	return refusing, nil
}

// brokenConfig parses as nothing, neither JSON nor TOML.
const brokenConfig = "{ = this stands for a file that does not parse\n"

func (m *Config) copyFile(a *agent.Agent, c copied, moved func(string) string) (refuses bool, err error) {
	text, _, err := m.readFile(a, c, moved)
	if err != nil {
		// The agent should get a broken file if the user has one; secrets in it
		// can't be recognised, so none of it is copied.
		return false, writeCopy(c.to, []byte(brokenConfig))
	}
	refuses = bytes.Contains(text, []byte("--on-unavailable=deny"))
	if ours, err := os.ReadFile(c.to); err == nil {
		f, err := edit.For(c.format)
		if err != nil {
			return refuses, err
		}
		if text, err = laidOver(f, text, ours); err != nil {
			return refuses, fmt.Errorf("%s: cannot be joined with what the throw-away home needs: %w; run without "+
				"--mine", c.from, err)
		}
	}
	return refuses, writeCopy(c.to, text)
}

// readFile returns a file as it is copied, and the settings that are left out.
func (m *Config) readFile(a *agent.Agent, c copied, moved func(string) string) (text []byte, behind []string,
	err error) {
	text, err = userfile.ReadFile(c.from, maxMine)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", c.from, err)
	}
	f, err := edit.For(c.format)
	if err != nil {
		return nil, nil, err
	}
	return cutCredentials(a, f, text, moved)
}

// movedPaths turns paths of the user's into those of the test bed: trust is given to
// paths. A hook is trusted by its file, too.
func (m *Config) movedPaths(all []copied, home, project string) func(string) string {
	var pairs [][2]string
	add := func(from, to string) {
		if from == "" || from == "/" {
			return
		}
		pairs = append(pairs, [2]string{from, to})
		if resolved, err := filepath.EvalSymlinks(from); err == nil && resolved != from {
			pairs = append(pairs, [2]string{resolved, to})
		}
	}
	for _, c := range all {
		add(c.from, c.to)
	}
	add(m.Project, project)
	add(m.Home, home)
	return func(key string) string {
		for _, p := range pairs {
			if rest, ok := strings.CutPrefix(key, p[0]); ok && (rest == "" || rest[0] == '/' || rest[0] == ':') {
				return p[1] + rest
			}
		}
		return key
	}
}

func writeCopy(to string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o600)
}
