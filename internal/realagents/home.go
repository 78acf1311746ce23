package realagents

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

const (
	// modelName is the model agents are configured to use if any name will do.
	modelName = "scripted"
	// dummyKey is sent as the API key. It opens nothing.
	dummyKey = "dummy-key-for-the-scripted-model"
	// deadProxy is a port on which nothing listens (discard): whatever does not
	// go to loopback fails at once instead of leaving the machine.
	deadProxy = "http://127.0.0.1:9"
)

// homeWriter collects what a throw-away home needs; the first error stays.
type homeWriter struct {
	home     string
	modelURL string // base of the scripted model, without /v1
	projects []string
	env      []string
	err      error
}

// WriteHome prepares a throw-away home: the agent's configuration for a model at
// modelURL (model.Server.URL), with project trusted. It returns the complete
// environment to start the agent with.
func WriteHome(agent, home, modelURL, project string) (env []string, err error) {
	a, err := mustKnow(agent)
	if err != nil {
		return nil, err
	}
	if !filepath.IsAbs(home) || !filepath.IsAbs(project) {
		return nil, fmt.Errorf("%s: home and project must be absolute paths", agent)
	}
	if u, err := url.Parse(modelURL); err != nil || u.Host == "" {
		return nil, fmt.Errorf("%s: %q is not a model address; give the URL of a running scripted model", agent,
			modelURL)
	}
	h := &homeWriter{home: home, modelURL: strings.TrimSuffix(modelURL, "/"), projects: []string{project}}
	// Agents that resolve links (macOS: /var is one) look the project up under
	// its real name.
	if resolved, err := filepath.EvalSymlinks(project); err == nil && resolved != project {
		h.projects = append(h.projects, resolved)
	}
	h.baseEnvironment()
	a.home(h)
	if h.err != nil {
		return nil, fmt.Errorf("%s: cannot write the throw-away home: %w", agent, h.err)
	}
	return h.env, nil
}

// baseEnvironment is the environment every agent gets.
func (h *homeWriter) baseEnvironment() {
	h.setVariable("PATH", basePath())
	h.setVariable("HOME", h.home)
	h.setVariable("USER", "hookmux")
	h.setVariable("LOGNAME", "hookmux")
	h.setVariable("SHELL", baseShell())
	h.setVariable("TERM", "xterm-256color")
	h.setVariable("LANG", "C.UTF-8")
	h.setVariable("TMPDIR", h.makeFolder("tmp"))
	h.setVariable("XDG_CONFIG_HOME", h.makeFolder(".config"))
	h.setVariable("XDG_CACHE_HOME", h.makeFolder(".cache"))
	h.setVariable("XDG_DATA_HOME", h.makeFolder(".local/share"))
	h.setVariable("XDG_STATE_HOME", h.makeFolder(".local/state"))
	for _, k := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"} {
		h.setVariable(k, deadProxy)
		h.setVariable(strings.ToLower(k), deadProxy)
	}
	h.setVariable("NO_PROXY", "127.0.0.1,localhost")
	h.setVariable("no_proxy", "127.0.0.1,localhost")
}

func (h *homeWriter) setVariable(key, value string) { h.env = append(h.env, key+"="+value) }

func (h *homeWriter) noteError(err error) { h.err = errors.Join(h.err, err) }

func (h *homeWriter) homePath(rel string) string {
	return filepath.Join(h.home, filepath.FromSlash(rel))
}

// makeFolder creates a folder in the home and returns its path.
func (h *homeWriter) makeFolder(rel string) string {
	p := h.homePath(rel)
	h.noteError(os.MkdirAll(p, 0o700))
	return p
}

func (h *homeWriter) writeFile(rel string, content []byte) {
	p := h.homePath(rel)
	if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
		h.noteError(err)
		return
	}
	h.noteError(os.WriteFile(p, content, 0o600))
}

func (h *homeWriter) writeJSON(rel string, v any) {
	b, err := json.MarshalIndent(v, "", "  ")
	h.noteError(err)
	h.writeFile(rel, append(b, '\n'))
}

func (h *homeWriter) writeTOML(rel string, v any) {
	b, err := toml.Marshal(v)
	h.noteError(err)
	h.writeFile(rel, b)
}

func basePath() string {
	if p := os.Getenv("PATH"); p != "" {
		return p
	}
	return "/usr/local/bin:/usr/bin:/bin"
}

func baseShell() string {
	for _, s := range []string{"/bin/bash", "/usr/bin/bash"} {
		if _, err := os.Stat(s); err == nil {
			return s
		}
	}
	return "/bin/sh"
}
