package webcmd

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"rsc.io/qr"

	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/wire"
)

func pairCommand(app *cmdutil.App) *cobra.Command {
	var p wire.WebPairParams
	var read, open bool
	cmd := &cobra.Command{
		Use:   "pair",
		Short: "Let a phone or browser answer your agents",
		Long: `Lets a phone or browser answer your agents. It shows a QR code for your phone's camera. It's good for one device and two minutes.
The device and this terminal then show four digits: confirm only if they are the same.
On an iPhone, add the page to the Home Screen first and paste the link there.`,
		Example: "  hookmux web pair\n  hookmux web pair --open\n  hookmux web pair --read --name \"kitchen tablet\"",
		Args:    cmdutil.ExactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if read {
				p.Scope = wire.ScopeRead
			}
			return pairDevice(cmd.Context(), app, p, open)
		},
	}
	cmd.Flags().BoolVar(&read, "read", false, "let the device watch, but not answer")
	cmd.Flags().StringVar(&p.Name, "name", "", "what to call the device")
	cmd.Flags().BoolVar(&open, "open", false, "pair the browser on this machine: open the link there")
	return cmd
}

func pairDevice(ctx context.Context, app *cmdutil.App, p wire.WebPairParams, open bool) error {
	c, err := app.ConnectDaemon(ctx)
	if err != nil {
		return err
	}
	var status wire.WebStatus
	if err := c.Call(ctx, wire.MethodWebStatus, nil, &status); err == nil && !status.On {
		return cmdutil.FailWith(cmdutil.ExitFailed, "the page isn't served; `hookmux web on` serves it")
	}
	if !app.IsTerminal() {
		return cmdutil.UsageError("run it in your terminal: you compare the digits that the device shows there")
	}
	var pairing wire.WebPairing
	if err := c.Call(ctx, wire.MethodWebPair, p, &pairing); err != nil {
		return err
	}
	if open {
		openBrowser(app, pairing.URL)
	} else if code, err := qr.Encode(pairing.URL, qr.L); err == nil {
		fmt.Fprint(app.Stdout, drawQR(code, app.Style().Color))
	}
	app.Say("Scan it with your phone, or open:\n  %s", pairing.URL)
	if strings.HasPrefix(pairing.URL, "http://localhost") {
		app.Say("Only browsers on this machine reach that address; for a phone see `hookmux web on --help`.")
	}
	app.Say("Waiting until %s …", pairing.Until.Local().Format("15:04:05"))
	patient := *c
	patient.Timeout = time.Until(pairing.Until) + 10*time.Second
	var claim wire.WebClaim
	if err := patient.Call(ctx, wire.MethodWebPairWait, wire.WebPairingParams{Pairing: pairing.Pairing}, &claim); err != nil {
		return err
	}
	app.Say("\n  %s\n", strings.Join(strings.Split(claim.Digits, ""), " "))
	may := "answer your agents"
	if claim.Scope == wire.ScopeRead {
		may = "see what your agents do"
	}
	if err := app.Confirm(fmt.Sprintf("%s (%s, %s) wants to %s. Does it show %s?", termsafe.Line(claim.Name, 40),
		termsafe.Line(claim.Browser, 40), claim.Address, may, claim.Digits), false); err != nil {
		return err
	}
	var device wire.WebDevice
	if err := c.Call(ctx, wire.MethodWebPairConfirm, wire.WebConfirmParams{Pairing: pairing.Pairing, Digits: claim.Digits,
		Name: claim.Name, Scope: claim.Scope}, &device); err != nil {
		return err
	}
	app.Say("paired: %s (%s); `hookmux web devices remove %s` ends that at once", device.Name, device.ID, device.ID)
	return nil
}

// drawQR draws a code with two rows of it in each line.
func drawQR(code *qr.Code, color bool) string {
	const quiet = 2
	var b strings.Builder
	for y := -quiet; y < code.Size+quiet; y += 2 {
		if color {
			b.WriteString("\x1b[38;5;16;48;5;231m")
		}
		for x := -quiet; x < code.Size+quiet; x++ {
			// Without colours the terminal is taken to be dark: what's white is drawn.
			top, bottom := code.Black(x, y) == color, code.Black(x, y+1) == color
			switch {
			case top && bottom:
				b.WriteString("█")
			case top:
				b.WriteString("▀")
			case bottom:
				b.WriteString("▄")
			default:
				b.WriteString(" ")
			}
		}
		if color {
			b.WriteString("\x1b[0m")
		}
		b.WriteString("\n")
	}
	return b.String()
}
