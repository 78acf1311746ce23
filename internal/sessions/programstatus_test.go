package sessions

import (
	"encoding/base64"
	"strings"
	"testing"
)

func TestSequence(t *testing.T) {
	pack := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	for _, c := range []struct {
		report ProgramStatus
		want   string
	}{
		{ProgramStatus{State: programIdle}, "state=idle"},
		{ProgramStatus{State: programClear, ID: []string{"hookmux", "codex-s:1"}, App: "codex", Title: "x"},
			"state=clear:id=hookmux/codex-s-1"},
		{ProgramStatus{State: programBlocked, Kind: programPermission, App: "claude", ID: []string{"a"}, Title: "Fix it", Message: "Bash: ls\x1b]0;x\a\nnow"},
			"state=blocked:id=a:kind=permission:app=claude:title=" + pack("Fix it") + ":msg=" + pack("Bash: ls ]0;x now")},
		{ProgramStatus{State: programWorking, Kind: programPermission, App: "my agent"}, "state=working:app=my-agent"},
	} {
		if got, want := c.report.Sequence(), "\x1b]7501;"+c.want+"\x1b\\"; got != want {
			t.Errorf("%+v: %q, want %q", c.report, got, want)
		}
	}
	long := ProgramStatus{State: programDone, App: strings.Repeat("a", 99), ID: []string{strings.Repeat("b", 99)},
		Title: strings.Repeat("ü", 999), Message: strings.Repeat("€", 9999)}
	got := long.Sequence()
	for key, most := range map[string]int{"title": maxTitle, "msg": maxMessage} {
		_, value, _ := strings.Cut(got, ":"+key+"=")
		value, _, _ = strings.Cut(strings.TrimSuffix(value, "\x1b\\"), ":")
		text, err := base64.StdEncoding.DecodeString(value)
		if err != nil || len(text) > most || len(text) < most-4 || strings.ContainsRune(string(text), 0xFFFD) {
			t.Errorf("%s has %d bytes, %v; want whole characters in at most %d", key, len(text), err, most)
		}
	}
	if len(got) > 4096 || !strings.Contains(got, ":id="+strings.Repeat("b", 32)+":") {
		t.Errorf("%d bytes, want at most 4096 and segments of 32: %.80q", len(got), got)
	}
}
