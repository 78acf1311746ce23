package testbed

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hookmux/hookmux/internal/install"
	"github.com/hookmux/hookmux/internal/platform/shellquote"
)

// Breakage is a deliberately broken hookmux: an encoder, a decoder, a client
// or an installer with a fault. A check that does not fail under its breakage
// proves nothing.
type Breakage struct {
	Name string
	What string

	// In and Out are shell filters around the hook client: for its input and its
	// output.
	In, Out string
	// First is a shell line in front of everything; $2 is the event.
	First string
	// Catalogue is applied on top of the agent's entry; {agent} is replaced by its
	// name.
	Catalogue string
	Env       []string
	// Forget makes the daemon forget what hooks said: the one that works with
	// plugins, too, which run no hook client.
	Forget bool
	// Plugin replaces texts in the installed plugin: old, new, and so on. Plugins
	// run no hook client that In and Out could be put around.
	Plugin []string
	// Settings replace those of the run about status.
	Settings string
	// Immortal makes the daemon believe that processes never end; Pane is the pane
	// that agents are made to believe they are in.
	Immortal bool
	Pane     string
	// Broken replaces the hooks of the run that breaks them.
	Broken string
}

// prepare breaks a test bed. Without a breakage it does nothing.
func (s *Breakage) prepare(st *TestBed) error {
	if s == nil {
		return nil
	}
	st.Env = append(st.Env, s.Env...)
	if s.Catalogue != "" {
		file := filepath.Join(st.Home, ".config/hookmux/agents/saboteur.yaml")
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return err
		}
		text := strings.ReplaceAll(s.Catalogue, "{agent}", st.Driver.Name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return err
		}
	}
	if s.In == "" && s.Out == "" && s.First == "" {
		return nil
	}
	program := filepath.Join(st.Bin, "hookmux-hook")
	if err := st.OwnBin(); err != nil {
		return err
	}
	in, out := s.In, s.Out
	if in == "" {
		in = "cat"
	}
	if out == "" {
		out = "cat"
	}
	script := fmt.Sprintf("#!/bin/sh\n%s\nout=$(%s | %s \"$@\")\ncode=$?\nprintf '%%s' \"$out\" | %s\nexit $code\n",
		s.First, in, shellquote.Word(program), out)
	file := filepath.Join(st.Bin, "hookmux-hook")
	if err := os.Remove(file); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(script), 0o755)
}

// plugin breaks the plugin that was installed. Texts that aren't in it break nothing, and that must
// not pass for a check that holds.
func (s *Breakage) plugin(st *TestBed) error {
	if s == nil || len(s.Plugin) == 0 {
		return nil
	}
	_, path, ok := st.Agent.Install.Place(install.User, st.DiskView())
	if !ok {
		return fmt.Errorf("saboteur: %s has no place for a plugin", st.Agent.Name)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	text := string(b)
	for i := 0; i < len(s.Plugin); i += 2 {
		if strings.Count(text, s.Plugin[i]) != 1 {
			return fmt.Errorf("saboteur: %q is not in the plugin of %s once", s.Plugin[i], st.Agent.Name)
		}
		text = strings.Replace(text, s.Plugin[i], s.Plugin[i+1], 1)
	}
	return os.WriteFile(path, []byte(text), 0o600)
}
