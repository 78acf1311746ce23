package facts

import (
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/hookmux/hookmux/internal/policy/programs"
	"github.com/hookmux/hookmux/internal/policy/shell"
)

// TalkingPrograms returns the programs that are known to talk to other machines.
func TalkingPrograms() []string {
	return programs.With(func(p *programs.Program) bool { return p.Talks != nil })
}

// gatherHosts collects the hosts that one command talks to.
func (c *collector) gatherHosts(r *shell.Run, at int) {
	for _, rd := range r.Redirects { // the shell itself talks
		if host, ok := deviceHost(rd.Target.Text); ok {
			d := destinationOf(host)
			d.Known = d.Known && !rd.Target.Dynamic
			c.addDestination(d, at)
		}
	}
	if len(r.Argv) == 0 {
		return
	}
	cmd := &c.facts.Commands[at]
	known := c.programs.Of(cmd.Program)
	spec, talks := programs.Talker{}, known.Talks != nil
	if talks {
		spec = *known.Talks
	}
	container := cmd.Subcommand == "run" && spec.Implied == "docker.io" // what it runs is given the words
	if talks && len(spec.Only) > 0 && cmd.Subcommand != "" && !container &&
		!slices.Contains(spec.Only, cmd.Subcommand) {
		return
	}
	before := len(c.facts.Net)
	for _, text := range addressesIn(r, known) {
		d := destinationOf(schemeStart(text))
		d.Known = d.Known && !strings.ContainsAny(d.Host, "$`*?")
		c.addDestination(d, at)
	}
	for _, w := range c.namedHosts(r, cmd) {
		d := destinationOf(w.Text)
		d.Known = d.Known && !w.Dynamic
		c.addDestination(d, at)
	}
	if addressFile(cmd.Program, r.Args()) {
		c.addDestination(Destination{Scope: UnknownScope}, at)
	}
	found := len(c.facts.Net) > before
	for _, w := range OptionValues(r.Args(), spec.Hosts...) {
		d := destinationOf(w.Text)
		d.Known = d.Known && !w.Dynamic
		c.addDestination(d, at)
	}
	for _, variable := range cmd.Env {
		if name, value, _ := strings.Cut(variable, "="); slices.Contains(spec.Variables, name) {
			c.addDestination(destinationOf(value), at)
		}
	}
	if !talks || found || len(c.facts.Net) > before && !spec.Bare || container {
		return
	}
	words := operandWords(r.Args(), spec.Values+known.Values)
	switch {
	case spec.Bare:
		for _, w := range words[min(spec.Operand, len(words)):] {
			d := destinationOf(w.Text)
			d.Known = d.Known && !w.Dynamic
			c.addDestination(d, at)
			if cmd.Program == "ssh" || cmd.Program == "nc" || cmd.Program == "telnet" {
				break // what follows is a command or a port
			}
		}
	case cmd.Program == "scp" || cmd.Program == "rsync" || cmd.Program == "git":
		if cmd.Program == "git" {
			words = nil
			if _, args := GitParts(r); len(args) > 0 {
				words = operandWords(args, "bjo")
			}
		}
		for _, w := range words {
			if host, ok := copyHost(w.Text); ok {
				c.addDestination(Destination{Host: host, Scheme: "ssh", Scope: scopeOf(host), Known: !w.Dynamic}, at)
			}
		}
		if cmd.Program == "git" && len(c.facts.Net) == before && len(spec.Only) > 0 {
			c.addRemote(cmd, at)
		}
	case spec.Implied != "":
		host := spec.Implied
		named := OptionValues(r.Args(), "--registry", "--index-url", "--host", "--hostname", "--source")
		for _, w := range named {
			d := destinationOf(w.Text)
			c.addDestination(d, at)
			return
		}
		if cmd.Program == "docker" || cmd.Program == "podman" {
			for _, a := range cmd.Args {
				if first, _, ok := strings.Cut(a, "/"); ok && strings.ContainsAny(first, ".:") {
					host = first
				}
			}
		}
		d := destinationOf(host)
		d.Implied = true
		c.addDestination(d, at)
	}
}

// deviceHost returns the host of /dev/tcp/HOST/PORT, which shells connect to.
func deviceHost(file string) (string, bool) {
	for _, device := range []string{"/dev/tcp/", "/dev/udp/"} {
		if rest, ok := strings.CutPrefix(file, device); ok {
			host, port, _ := strings.Cut(rest, "/")
			return host + ":" + port, host != ""
		}
	}
	return "", false
}

// namedHosts returns words that name a host in a way specific to a program.
func (c *collector) namedHosts(r *shell.Run, cmd *Command) []shell.Word {
	var out []shell.Word
	switch cmd.Program {
	case "curl":
		// host:port:host:port, host:port:address
		for _, w := range OptionValues(r.Args(), "--connect-to", "--resolve") {
			out = append(out, behindColons(w, 2))
		}
		out = append(out, OptionValues(r.Args(), "--doh-url", "--dns-servers")...)
	case "ssh", "scp", "sftp":
		out = OptionValues(r.Args(), "-J", "-W")
	case "openssl":
		out = OptionValues(r.Args(), "-connect", "-proxy", "-host")
	case "socat":
		for _, w := range r.Args() {
			kind, rest, ok := strings.Cut(w.Text, ":")
			switch strings.ToLower(kind) {
			case "tcp", "tcp4", "tcp6", "tcp-connect", "tcp4-connect", "tcp6-connect", "udp", "udp4", "udp6",
				"udp-connect", "udp-sendto", "udp-datagram", "openssl", "ssl", "openssl-connect", "sctp",
				"sctp-connect", "proxy", "socks4", "socks4a", "socks5", "proxy-connect", "socks5-connect":
				if ok {
					w.Text, _, _ = strings.Cut(rest, ",")
					out = append(out, w)
				}
			}
		}
	}
	return out
}

// behindColons returns what comes after count colons.
func behindColons(w shell.Word, count int) shell.Word {
	for range count {
		_, rest, ok := strings.Cut(w.Text, ":")
		if !ok {
			break
		}
		w.Text = rest
	}
	return w
}

// addressFile reports whether a program takes its addresses from a file, so that they aren't
// known.
func addressFile(program string, args []shell.Word) bool {
	switch program {
	case "curl":
		return len(OptionValues(args, "-K", "--config")) > 0
	case "wget", "aria2c", "wget2":
		return len(OptionValues(args, "-i", "--input-file")) > 0
	}
	return false
}

// addressesIn returns the words of a command that are addresses, and those in program text
// that it is given. A text that only mentions one is ignored.
func addressesIn(r *shell.Run, p *programs.Program) []string {
	if p.Has(programs.NoFiles) && !p.Has(programs.TalksAnyway) || p.Has(programs.Mentions) {
		return nil
	}
	var out []string
	for _, w := range r.Args() {
		i := strings.Index(w.Text, "://")
		if i > 0 && !strings.ContainsAny(w.Text[:i], " \n\t") {
			out = append(out, w.Text)
		}
	}
	if code, ok := r.Code(); ok && !shell.IsShell(r.Name()) {
		for _, text := range QuotedIn(code) {
			if i := strings.Index(text, "://"); i > 0 && !strings.ContainsAny(text, " \n\t") {
				out = append(out, text)
			}
		}
	}
	return out
}

// addRemote adds the remote that git's files name, for a git command without an
// address.
func (c *collector) addRemote(cmd *Command, at int) {
	if cmd.Subcommand == "remote" || cmd.Subcommand == "" || cmd.Subcommand == "submodule" {
		return
	}
	d := Destination{Scope: UnknownScope, Command: at, Implied: true}
	if c.Git != nil && c.facts.Cwd != "" {
		if repo := c.Git(c.facts.Cwd); repo != nil {
			if address, ok := repo.Remote(); ok && address != "" {
				d = destinationOf(address)
				if host, ok := copyHost(address); ok && !strings.Contains(address, "://") {
					d = Destination{Host: host, Scheme: "ssh", Scope: scopeOf(host), Known: true}
				}
				d.Implied = true
			}
		}
	}
	c.addDestination(d, at)
}

func (c *collector) addDestination(d Destination, at int) {
	d.Command = at
	if c.net[d] {
		return
	}
	if c.net == nil {
		c.net = map[Destination]bool{}
	}
	c.net[d] = true
	c.facts.Net = append(c.facts.Net, d)
	if at >= 0 && d.Host != "" {
		c.facts.Commands[at].Hosts = append(c.facts.Commands[at].Hosts, d.Host)
	}
}

// schemeStart cuts off what comes before an address: --url=https://….
func schemeStart(text string) string {
	i := strings.Index(text, "://")
	start := i
	for start > 0 && (text[start-1] >= 'a' && text[start-1] <= 'z' || text[start-1] >= 'A' && text[start-1] <= 'Z' ||
		text[start-1] == '+') {
		start--
	}
	return text[start:]
}

// destinationOf reads an address: a URL, host:port, user@host, or a bare host.
func destinationOf(address string) Destination {
	d := Destination{Scope: UnknownScope}
	text := address
	if scheme, rest, ok := strings.Cut(address, "://"); ok {
		d.Scheme = strings.ToLower(scheme)
		text = rest
	}
	end := strings.IndexAny(text, "/?#")
	if end >= 0 {
		text = text[:end]
	}
	if before, _, cut := strings.Cut(text, "$"); cut {
		if _, err := netip.ParseAddr(before); err == nil {
			text = before // http://1.2.3.4$PATH_BEHIND
		}
	}
	u, err := url.Parse("//" + text)
	if err != nil || u.Hostname() == "" {
		return d
	}
	d.Host, d.Port = plainAddress(strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))), u.Port()
	d.Scope = scopeOf(d.Host)
	d.Known = !strings.ContainsAny(d.Host, "$`{}")
	return d
}

// plainAddress rewrites a number that programs accept as an IPv4 address as one: 2852039166,
// 0xa9fea9fe, 0251.0376.0251.0376, 127.1, ::ffff:1.2.3.4.
func plainAddress(host string) string {
	if a, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		if a.Is4In6() {
			return a.Unmap().String()
		}
		return host
	}
	if host == "" || host[0] < '0' || host[0] > '9' || strings.Trim(host, "0123456789abcdefx.") != "" {
		return host
	}
	parts := strings.Split(host, ".")
	if len(parts) > 4 || len(parts) == 1 && len(host) < 8 { // a port
		return host
	}
	var address uint64
	for i, part := range parts {
		n, err := strconv.ParseUint(part, 0, 32) // leading 0x and 0 as in C
		if err != nil {
			return host
		}
		last := i == len(parts)-1
		if !last && n > 255 || last && n >= 1<<(8*(5-len(parts))) {
			return host
		}
		if last {
			address |= n
		} else {
			address |= n << (8 * (3 - i))
		}
	}
	return netip.AddrFrom4([4]byte{byte(address >> 24), byte(address >> 16), byte(address >> 8),
		byte(address)}).String()
}

// copyHost returns the host of host:path, as scp, rsync and git write it.
func copyHost(text string) (string, bool) {
	before, _, ok := strings.Cut(text, ":")
	if !ok || before == "" || strings.ContainsAny(before, "/\\ ") || len(before) == 1 {
		return "", false
	}
	_, host, found := strings.Cut(before, "@")
	if !found {
		host = before
	}
	return strings.ToLower(host), host != ""
}

// scopeOf returns how far away a host is.
func scopeOf(host string) string {
	name := strings.ToLower(strings.Trim(host, "[]"))
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return Loopback
	}
	if a, err := netip.ParseAddr(name); err == nil {
		a = a.Unmap()
		switch {
		case a.IsLoopback(), a.IsUnspecified():
			return Loopback
		case a.IsPrivate(), a.IsLinkLocalUnicast():
			return Private
		}
		return Public
	}
	if strings.ContainsAny(name, "$`{}") || name == "" {
		return UnknownScope
	}
	if !strings.Contains(name, ".") || strings.HasSuffix(name, ".local") || strings.HasSuffix(name, ".internal") ||
		strings.HasSuffix(name, ".lan") || strings.HasSuffix(name, ".home.arpa") {
		return Private
	}
	return Public
}

// gatherFlows collects what is read and where it goes: through pipes, command
// substitutions, and options that send files.
func (c *collector) gatherFlows(scope *Scope, index map[*shell.Run]int, first int) {
	script := scope.Script
	for i := range script.Runs {
		r := &script.Runs[i]
		at, ok := index[r]
		if !ok {
			continue
		}
		cmd := &c.facts.Commands[at]
		from := append([]string(nil), cmd.Reads...)
		for _, w := range r.Argv {
			for _, v := range w.Vars {
				from = append(from, "env:"+v)
			}
			for _, src := range scope.Sources(w.From) {
				if j, ok := index[src]; ok {
					from = append(from, sourceNames(&c.facts.Commands[j])...)
				}
			}
		}
		for _, src := range scope.Sources(r.From) {
			if j, ok := index[src]; ok && j >= first {
				from = append(from, sourceNames(&c.facts.Commands[j])...)
			}
		}
		for _, source := range from {
			if len(c.facts.Flows) >= maxFlows {
				c.noteUnknown(FlowsFact, len(cmd.Hosts)+len(cmd.Writes) > 0)
				break
			}
			for _, host := range cmd.Hosts {
				c.addFlow(Flow{From: source, To: host, Kind: "host"})
			}
			for _, file := range cmd.Writes {
				c.addFlow(Flow{From: source, To: file, Kind: "path"})
			}
		}
		if !r.From.Empty() {
			for _, src := range scope.Sources(r.From) {
				if j, ok := index[src]; ok {
					c.addFlow(Flow{From: c.facts.Commands[j].Program, To: cmd.Program, Kind: "program"})
				}
			}
		}
	}
}

// sourceNames returns what is in a command's output: what it read, and what it fetched.
func sourceNames(cmd *Command) []string {
	out := append([]string(nil), cmd.Reads...)
	out = append(out, cmd.Hosts...)
	if len(out) == 0 && cmd.Program != "" {
		out = append(out, cmd.Program)
	}
	return out
}

func (c *collector) addFlow(f Flow) {
	if f.From == f.To || c.flows[f] {
		return
	}
	if len(c.facts.Flows) >= maxFlows {
		c.noteUnknown(FlowsFact, true)
		return
	}
	if c.flows == nil {
		c.flows = map[Flow]bool{}
	}
	c.flows[f] = true
	c.facts.Flows = append(c.facts.Flows, f)
}
