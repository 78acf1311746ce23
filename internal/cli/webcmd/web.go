// Package webcmd implements `hookmux web` and what belongs to it: the page for browsers and
// phones, and the devices that may use it.
package webcmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/wire"
)

// WebCommand is `hookmux web`.
func WebCommand(app *cmdutil.App) *cobra.Command {
	var asJSON bool
	show := func(cmd *cobra.Command, _ []string) error { return webStatus(cmd.Context(), app, asJSON) }
	cmd := &cobra.Command{
		Use:   "web",
		Short: "Answer your agents in a browser or on your phone",
		Long: `A page with your sessions and requests, for browsers and phones that you pair. Without
a command, shows whether the page is served, and where.`,
		Example: `  hookmux web on
  hookmux web pair
  hookmux web off`,
		Args: cmdutil.SubcommandArgs, RunE: show,
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	status := &cobra.Command{Use: "status", Short: "Show whether the page is served, and where", Example: "  hookmux web status --json",
		Args: cmdutil.ExactArgs(), RunE: show}
	status.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.AddCommand(onCommand(app), offCommand(app), status, pairCommand(app), devicesCommand(app))
	return cmd
}

// webStatus says whether the page is served, and where.
func webStatus(ctx context.Context, app *cmdutil.App, asJSON bool) error {
	var status wire.WebStatus
	if err := app.ReadOnce(ctx, func(ctx context.Context, c *client.Client) error {
		return c.Call(ctx, wire.MethodWebStatus, nil, &status)
	}); err != nil {
		return err
	}
	switch {
	case asJSON:
		return app.PrintJSON(status)
	case status.Error != "":
		app.Say("the page can't be served: %s", status.Error)
	case !status.On:
		app.Say("the page isn't being served; `hookmux web on` serves it")
	default:
		app.Say("the page is at %s", status.URL)
	}
	switch status.Devices {
	case 0:
		app.Say("no device is paired; `hookmux web pair` pairs one")
	case 1:
		app.Say("1 device is paired; `hookmux web devices` shows it")
	default:
		app.Say("%d devices are paired; `hookmux web devices` lists them", status.Devices)
	}
	return nil
}

func onCommand(app *cmdutil.App) *cobra.Command {
	var o webOptions
	cmd := &cobra.Command{
		Use:   "on",
		Short: "Serve the page, and open it",
		Long: `Serves the page, on this machine only unless you say otherwise, and opens it. A browser
can do nothing until you pair it: hookmux web pair.

Phones need https. There are three ways:

  Tailscale         hookmux web on --tailscale
  your own proxy    hookmux web on --public-url https://agents.example.org
  your certificate  hookmux web on --listen 0.0.0.0:4665 --cert FILE --key FILE

The page is served until hookmux web off, also after the daemon restarts.`,
		Example: `  hookmux web on
  hookmux web on --tailscale
  hookmux web on --public-url https://agents.example.org`,
		Args: cmdutil.ExactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error { return runWeb(cmd.Context(), app, o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.Listen, "listen", "", "address to listen on (default 127.0.0.1:4665)")
	f.StringVar(&o.PublicURL, "public-url", "", "the URL under which a proxy serves the page")
	f.StringVar(&o.Cert, "cert", "", "file with the TLS certificate")
	f.StringVar(&o.Key, "key", "", "file with the certificate's key")
	f.BoolVar(&o.Insecure, "insecure", false, "allow plain HTTP beyond this machine")
	f.BoolVar(&o.tailscale, "tailscale", false, "serve it to your own devices with tailscale serve")
	f.BoolVar(&o.noOpen, "no-open", false, "don't open a browser")
	f.BoolVar(&o.asJSON, "json", false, "print JSON, and don't open a browser")
	return cmd
}

func offCommand(app *cmdutil.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "off", Short: "Stop serving the page", Example: "  hookmux web off", Args: cmdutil.ExactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error { return stopWeb(cmd.Context(), app, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

type webOptions struct {
	wire.WebStartParams
	tailscale, noOpen, asJSON bool
}

func runWeb(ctx context.Context, app *cmdutil.App, o webOptions) error {
	if o.Listen != "" {
		_, port, err := net.SplitHostPort(o.Listen)
		if err != nil || port == "" {
			return cmdutil.UsageError("--listen %q isn't an address; write one like 127.0.0.1:4665", o.Listen)
		}
		if _, err := strconv.ParseUint(port, 10, 16); err != nil {
			return cmdutil.UsageError("--listen %q has no valid port; use 1 to 65535", o.Listen)
		}
	}
	switch {
	case o.Cert != "" && o.Key == "":
		return cmdutil.UsageError("--cert needs --key: the file with the certificate's key")
	case o.Key != "" && o.Cert == "":
		return cmdutil.UsageError("--key needs --cert: the file with the certificate")
	case o.tailscale && o.Listen != "":
		return cmdutil.UsageError("use --tailscale or --listen, not both")
	}
	for _, file := range []string{o.Cert, o.Key} {
		if _, err := os.Stat(file); file != "" && err != nil {
			return cmdutil.FileError(file, err)
		}
	}
	if o.tailscale {
		if o.PublicURL != "" || o.Cert != "" {
			return cmdutil.UsageError("--tailscale brings its own address and certificate; leave out --public-url, --cert and --key")
		}
		name, err := tailscaleName(ctx)
		if err != nil {
			return err
		}
		o.PublicURL = "https://" + name
	}
	for _, file := range []*string{&o.Cert, &o.Key} {
		if *file != "" && !strings.HasPrefix(*file, "/") {
			*file = app.Cwd() + "/" + *file
		}
	}
	var status wire.WebStatus
	if err := app.CallDaemon(ctx, wire.MethodWebStart, o.WebStartParams, &status); err != nil {
		return err
	}
	if o.tailscale {
		if err := tailscaleServe(ctx, status.Listen); err != nil {
			return err
		}
	}
	if o.asJSON {
		return app.PrintJSON(status)
	}
	app.Say("hookmux is at %s", status.URL)
	if status.Devices == 0 {
		app.Say("no device is paired yet; `hookmux web pair` lets this browser or your phone in")
	}
	if !o.noOpen && !o.tailscale {
		openBrowser(app, status.URL)
	}
	return nil
}

func stopWeb(ctx context.Context, app *cmdutil.App, asJSON bool) error {
	var status wire.WebStatus
	before := wire.WebStatus{}
	_ = app.CallDaemon(ctx, wire.MethodWebStatus, nil, &before) // only to undo tailscale serve
	if err := app.CallDaemon(ctx, wire.MethodWebStop, nil, &status); err != nil {
		return err
	}
	if strings.HasSuffix(before.PublicURL, ".ts.net") {
		if out, err := exec.CommandContext(ctx, "tailscale", "serve", "--https=443", "off").CombinedOutput(); err != nil {
			fmt.Fprintf(app.Stderr, "`tailscale serve --https=443 off` failed: %s\n", strings.TrimSpace(string(out)))
		}
	}
	if asJSON {
		return app.PrintJSON(status)
	}
	if !before.On {
		app.Say("the page isn't being served")
		return nil
	}
	app.Say("stopped serving the page; paired devices stay paired")
	return nil
}

// tailscaleName is this machine's name in its tailnet.
func tailscaleName(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "tailscale", "status", "--json").Output()
	if err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			return "", cmdutil.FailWith(cmdutil.ExitFailed, "Tailscale isn't installed (no `tailscale` on PATH); install it, or use --public-url")
		}
		return "", fmt.Errorf("`tailscale status` failed: %w; is Tailscale running?", err)
	}
	var status struct {
		Self struct{ DNSName string }
	}
	if err := json.Unmarshal(out, &status); err != nil || status.Self.DNSName == "" {
		return "", fmt.Errorf("tailscale has no name for this machine; turn on MagicDNS and HTTPS in its settings")
	}
	return strings.TrimSuffix(status.Self.DNSName, "."), nil
}

// tailscaleServe has tailscale pass https requests on.
func tailscaleServe(ctx context.Context, listen string) error {
	_, port, err := net.SplitHostPort(listen)
	if err != nil {
		return err
	}
	out, err := exec.CommandContext(ctx, "tailscale", "serve", "--bg", "--https=443", "http://127.0.0.1:"+port).CombinedOutput()
	if err != nil {
		return fmt.Errorf("tailscale serve: %s", strings.TrimSpace(string(out)))
	}
	return nil
}

// openBrowser opens the page if there is a desktop; otherwise the address is enough.
func openBrowser(app *cmdutil.App, url string) {
	program := "xdg-open"
	if runtime.GOOS == "darwin" {
		program = "open"
	} else if app.Getenv("DISPLAY") == "" && app.Getenv("WAYLAND_DISPLAY") == "" {
		return
	}
	if !app.IsTerminal() || app.Getenv("SSH_CONNECTION") != "" {
		return
	}
	cmd := exec.Command(program, url)
	cmd.Env = app.Environ
	cmd.Stdout, cmd.Stderr = nil, nil
	if cmd.Start() == nil {
		go func() { _ = cmd.Wait() }()
	}
}
