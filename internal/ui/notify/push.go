package notify

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/hookmux/hookmux/internal/handler"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/redact"
	"github.com/hookmux/hookmux/internal/selection/config"
)

// pushChannel runs the user's command of the setting notify.command. It gets a request as it
// always did, and what isn't a request as the webhook does.
type pushChannel struct {
	command   func() string
	processes handler.Processes
}

func (p *pushChannel) show(ctx context.Context, n *Notice) error {
	command := p.command()
	if command == "" {
		return absent("`hookmux config set %s COMMAND` sets the command", config.NotifyCommand)
	}
	var told any = newPosted(n, "notice")
	if n.Item != nil {
		told = n.Item
	}
	text, err := json.Marshal(told)
	if err != nil {
		return err
	}
	out, err := p.processes.Shell(ctx, command, "/", append(os.Environ(), "HOOKMUX_REQUEST="+n.Request),
		append(text, '\n'))
	if err != nil {
		return err
	}
	if out.Exit != 0 {
		said, _, _ := strings.Cut(string(out.Stderr), "\n")
		return fmt.Errorf("exit code %d: %s", out.Exit, termsafe.Line(redact.Text(said), 160))
	}
	return nil
}
