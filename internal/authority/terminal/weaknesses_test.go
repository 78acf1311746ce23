package terminal

import (
	"strings"
	"testing"
)

func TestWeaknesses(t *testing.T) {
	strong := map[string]string{"dev/tty/legacy_tiocsti": "0", "kernel/yama/ptrace_scope": "1"}
	for _, c := range []struct {
		name         string
		sysctl       map[string]string
		kernel, tmux string
		uid          int
		marks        bool
		want         string
	}{
		{"nothing", strong, "6.18.1", "3.3a", 1000, true, ""},
		{"no tmux", strong, "6.18.1", "", 1000, true, ""},
		{"root", strong, "6.18.1", "", 0, true, "root"},
		{"limited", strong, "6.18.1", "", 1000, false, "mark"},
		{"keys from programs", map[string]string{"dev/tty/legacy_tiocsti": "1", "kernel/yama/ptrace_scope": "1"},
			"6.18.1", "", 1000, true, "tiocsti"},
		{"an old kernel", map[string]string{"kernel/yama/ptrace_scope": "2"}, "5.15.0-91-generic", "", 1000, true,
			"tiocsti"},
		{"a new kernel without it", map[string]string{"kernel/yama/ptrace_scope": "2"}, "6.2.0", "", 1000, true, ""},
		{"tracing", map[string]string{"dev/tty/legacy_tiocsti": "0", "kernel/yama/ptrace_scope": "0"}, "6.18.1", "",
			1000, true, "ptrace"},
		{"no Yama", map[string]string{"dev/tty/legacy_tiocsti": "0"}, "6.18.1", "", 1000, true, "ptrace"},
		{"tmux without popups", strong, "6.18.1", "3.1c", 1000, true, "tmux"},
		{"tmux with -K", strong, "6.18.1", "3.4", 1000, true, "tmux"},
		{"tmux from its repository", strong, "6.18.1", "next-3.8", 1000, true, "tmux"},
		{"all", nil, "5.4", "2.9", 0, false, "root mark tiocsti ptrace tmux"},
	} {
		var got []string
		for _, w := range findWeaknesses(func(name string) string { return c.sysctl[name] }, c.kernel, c.tmux,
			c.uid, c.marks) {
			got = append(got, w.Check)
			if w.What == "" {
				t.Errorf(`%s: %s says nothing; want w.What != ""`, c.name, w.Check)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}
