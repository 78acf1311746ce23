package text

import (
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/wire"
)

// Commands that are shown are safe to be copied, whatever an agent calls its session.
func TestShownCommandsAreQuoted(t *testing.T) {
	session := ";reboot;"
	var out strings.Builder
	Style{}.Session(&out, &wire.SessionDetail{Session: wire.Session{ID: session}}, time.Now(), "")
	out.WriteString(Style{}.promptItem(&wire.InboxRequest{Session: session}, time.Now()))
	if text := out.String(); strings.Contains(text, "resume ;") || strings.Contains(text, "jump ;") ||
		strings.Count(text, "';reboot;'") != 2 {
		t.Errorf("shown %q, want the session quoted behind resume and jump", text)
	}
}
