package authority

import (
	"errors"
	"time"

	"github.com/hookmux/hookmux/internal/platform/proc"
)

// ErrUnknown says that a fact cannot be read here: another user's process, a
// system without it, or more questions than one evaluation may ask.
var ErrUnknown = errors.New("this cannot be read here")

// Unlimited is a limit that isn't set.
const Unlimited = ^uint64(0)

// Source reads facts about the machine. Each call reads again; [Facts] keeps what was read,
// so that one evaluation sees one picture.
type Source interface {
	proc.Table
	// FileLocks is the hard limit on file locks, which carries the mark.
	FileLocks(pid int) (uint64, error)
	// HoldsMaster reports whether a process has the master side of a pseudo
	// terminal open. ErrUnknown where its descriptors cannot be read.
	HoldsMaster(pid int, tty string) (bool, error)
	// Terminal gives the times of a terminal's device.
	Terminal(tty string) (Terminal, error)
	// Tmux asks a tmux server for its panes and clients.
	Tmux(server proc.Process) (Tmux, error)
	// Connected reports whether a socket of one process ends at the other.
	Connected(client, server int) (bool, error)
	// Clients lists processes with this program that are connected to a server.
	Clients(server proc.Process) ([]int, error)
	// Display says where the display connection of a process ends.
	Display(pid int) (Display, error)
	// Logins lists who is logged in, as utmp and logind have it.
	Logins() ([]Login, error)
	// LocalCallers are processes of this user that are connected, over the
	// network of this machine itself, to a server that runs as root.
	LocalCallers() ([]int, error)
	// Relays reports whether a login daemon's process still passes on what is typed,
	// and had a connection to do that when it was asked.
	Relays(pid int) (bool, error)
	// Stdin is the terminal that a process reads its standard input from, ""
	// for anything else.
	Stdin(pid int) (string, error)
	// Typists are the processes that could type into a terminal because it is
	// their own (TIOCSTI); none where the kernel forbids that.
	Typists(tty string) ([]int, error)
	// AgentSeen is when an agent was last found at a terminal that it could type
	// into; zero for never. What it typed ahead may be read after it has ended.
	AgentSeen(tty string) (time.Time, error)
	// RanBefore reports whether a process of hookmux ran another program before it became
	// hookmux (exec): a script or another program.
	RanBefore(pid int) (bool, error)
}

// Process describes one process.
type Process struct {
	proc.Process
	// Program is the file it runs, "" when that may not be read.
	Program string
	Args    []string
	Env     []string
	// FileLocks is the limit that carries the mark.
	FileLocks uint64
}

// Terminal describes the device of a terminal.
type Terminal struct {
	// Access moves when input is read (in steps of 8 s), Change when a program sets times
	// or modes.
	Access, Change time.Time
	// Noted is the Change that the daemon itself caused when it set Access back;
	// zero when it never did. For is the process that it did it for, zero for
	// none: a view, which has the daemon do it before each key it waits for.
	Noted time.Time
	For   Identity
	// Elsewhere says that input was read since then at another terminal of the
	// multiplexer that runs here: the key at this one went there.
	Elsewhere bool
	// Opened names, if a view waits for keys, another program that can write to it and so
	// make it answer as if you typed.
	Opened string
}

// Identity is one process: PID and start time, because PIDs are reused.
type Identity struct {
	PID   int
	Start uint64
}

// Tmux describes a tmux server.
type Tmux struct {
	Panes   []TmuxPane
	Clients []TmuxClient
}

// TmuxPane is one pane.
type TmuxPane struct{ ID, TTY string }

// TmuxClient is one attached client.
type TmuxClient struct {
	PID  int
	Name string
	// Pane is the one that gets the client's keys.
	Pane string
	// Active is the second of its last key; zero if it isn't known.
	Active time.Time
	// Asked says that programs can make tmux query the client's terminal, which answers as
	// if you typed.
	Asked bool
}

// Display is the other end of a display connection.
type Display struct {
	// PID is the display server, 0 when there is no connection.
	PID int
	// Input says that it reads keyboards: it holds an input device, or it is root's.
	Input bool
}

// Login is one entry of utmp or logind.
type Login struct {
	// TTY is "" where only the process is known.
	TTY string
	PID int
	// Remote is the address or name that the login came from, "" for none.
	Remote string
	// Local says that this address belongs to this machine.
	Local bool
}

// Facts holds everything one evaluation knows. Values that a test or a report wrote
// down are used as they are; what is missing is read from the source, once.
type Facts struct {
	Now       time.Time
	Processes map[int]Process
	// Masters says which processes hold the master of a terminal.
	Masters map[Holding]bool
	TTYs    map[string]Terminal
	Servers map[int]Tmux
	// Peers says which client process is connected to which server process.
	Peers map[Connection]bool
	// Attached are the clients of servers that don't report them.
	Attached map[int][]int
	Displays map[int]Display
	LoggedIn []Login
	// Callers are the processes of [Source.LocalCallers].
	Callers []int
	// HiddenCallers says that these cannot be known.
	HiddenCallers bool
	// Stdins and Shared hold the answers of [Source.Stdin] and [Source.Typists].
	Stdins map[int]string
	Shared map[string][]int
	// Visited and Became hold the answers of [Source.AgentSeen] and [Source.RanBefore].
	Visited map[string]time.Time
	Became  map[int]bool
	// Relaying holds the answer of [Source.Relays].
	Relaying map[int]bool

	source      Source
	readLogins  bool
	readCallers bool
	reads       int
}

// Holding is one process at one terminal.
type Holding struct {
	PID int
	TTY string
}

// Connection is a client and a server process.
type Connection struct{ Client, Server int }

// maxReads bounds how much one evaluation reads.
const maxReads = 2000

// NewFacts begins an empty picture that is read from source as needed.
func NewFacts(source Source, now time.Time) *Facts {
	return &Facts{
		Now: now, source: source, Processes: map[int]Process{}, Masters: map[Holding]bool{},
		TTYs:    map[string]Terminal{},
		Servers: map[int]Tmux{}, Peers: map[Connection]bool{}, Attached: map[int][]int{}, Displays: map[int]Display{},
		Stdins: map[int]string{}, Shared: map[string][]int{},
		Visited: map[string]time.Time{}, Became: map[int]bool{}, Relaying: map[int]bool{},
	}
}

// askSource says whether something may still be read.
func (f *Facts) askSource() bool {
	if f.source == nil || f.reads >= maxReads {
		return false
	}
	f.reads++
	return true
}

func (f *Facts) process(pid int) (Process, bool) {
	if p, ok := f.Processes[pid]; ok {
		return p, p.PID != 0
	}
	if pid <= 0 || !f.askSource() {
		return Process{}, false
	}
	basic, err := f.source.Lookup(pid)
	if err != nil {
		f.Processes[pid] = Process{}
		return Process{}, false
	}
	p := Process{Process: basic, FileLocks: Unlimited}
	p.Program, _ = f.source.Program(pid)
	p.Args, _ = f.source.Args(pid)
	p.Env, _ = f.source.Environ(pid)
	if limit, err := f.source.FileLocks(pid); err == nil {
		p.FileLocks = limit
	}
	f.Processes[pid] = p
	return p, true
}

// chain lists a process and what is above it, itself first, under the rules
// of [proc.Ancestry].
func (f *Facts) chain(pid int) []Process {
	var chain []Process
	seen := map[int]bool{}
	for len(chain) < maxChain && !seen[pid] {
		p, ok := f.process(pid)
		if !ok || len(chain) > 0 && p.Start > chain[len(chain)-1].Start {
			break
		}
		seen[pid] = true
		chain = append(chain, p)
		if p.PID == 1 {
			break
		}
		pid = p.PPID
	}
	return chain
}

// holdsMaster gives whether it is known, too.
func (f *Facts) holdsMaster(pid int, tty string) (holds, known bool) {
	key := Holding{pid, tty}
	if holds, ok := f.Masters[key]; ok {
		return holds, true
	}
	if !f.askSource() {
		return false, false
	}
	holds, err := f.source.HoldsMaster(pid, tty)
	if err != nil {
		return false, false
	}
	f.Masters[key] = holds
	return holds, true
}

func (f *Facts) terminal(tty string) (Terminal, bool) {
	if t, ok := f.TTYs[tty]; ok {
		return t, true
	}
	if tty == "" || !f.askSource() {
		return Terminal{}, false
	}
	t, err := f.source.Terminal(tty)
	if err != nil {
		return Terminal{}, false
	}
	f.TTYs[tty] = t
	return t, true
}

func (f *Facts) tmux(server Process) (Tmux, bool) {
	if t, ok := f.Servers[server.PID]; ok {
		return t, true
	}
	if !f.askSource() {
		return Tmux{}, false
	}
	t, err := f.source.Tmux(server.Process)
	if err != nil {
		return Tmux{}, false
	}
	f.Servers[server.PID] = t
	return t, true
}

func (f *Facts) connected(client, server int) bool {
	key := Connection{client, server}
	if yes, ok := f.Peers[key]; ok {
		return yes
	}
	if !f.askSource() {
		return false
	}
	yes, err := f.source.Connected(client, server)
	f.Peers[key] = yes && err == nil
	return f.Peers[key]
}

func (f *Facts) clientsOf(server Process) []int {
	if list, ok := f.Attached[server.PID]; ok {
		return list
	}
	if !f.askSource() {
		return nil
	}
	list, err := f.source.Clients(server.Process)
	if err != nil {
		list = nil
	}
	f.Attached[server.PID] = list
	return list
}

func (f *Facts) display(pid int) Display {
	if d, ok := f.Displays[pid]; ok {
		return d
	}
	if !f.askSource() {
		return Display{}
	}
	d, err := f.source.Display(pid)
	if err != nil {
		d = Display{}
	}
	f.Displays[pid] = d
	return d
}

func (f *Facts) logins() []Login {
	if f.LoggedIn == nil && !f.readLogins && f.askSource() {
		f.readLogins = true
		f.LoggedIn, _ = f.source.Logins()
	}
	return f.LoggedIn
}

// localCallers also says whether they could be read at all.
func (f *Facts) localCallers() (pids []int, known bool) {
	if f.HiddenCallers {
		return nil, false
	}
	if f.Callers != nil || f.source == nil || f.readCallers {
		return f.Callers, true
	}
	if !f.askSource() {
		return nil, false
	}
	pids, err := f.source.LocalCallers()
	if err != nil {
		f.HiddenCallers = true
		return nil, false
	}
	f.readCallers, f.Callers = true, pids
	return pids, true
}

// relays is false where it cannot be found out, too. It must be asked after what
// it is to confirm was read.
func (f *Facts) relays(pid int) bool {
	if relays, ok := f.Relaying[pid]; ok {
		return relays
	}
	if !f.askSource() {
		return false
	}
	relays, err := f.source.Relays(pid)
	f.Relaying[pid] = relays && err == nil
	return f.Relaying[pid]
}

// stdin is "" where it cannot be read, too.
func (f *Facts) stdin(pid int) string {
	if tty, ok := f.Stdins[pid]; ok {
		return tty
	}
	if !f.askSource() {
		return ""
	}
	tty, err := f.source.Stdin(pid)
	if err != nil {
		tty = ""
	}
	f.Stdins[pid] = tty
	return tty
}

// typists also says whether they could be read at all.
func (f *Facts) typists(tty string) (pids []int, known bool) {
	if pids, ok := f.Shared[tty]; ok {
		return pids, true
	}
	if !f.askSource() {
		return nil, false
	}
	pids, err := f.source.Typists(tty)
	if err != nil {
		return nil, false
	}
	f.Shared[tty] = pids
	return pids, true
}

// agentSeen also says whether it could be read at all.
func (f *Facts) agentSeen(tty string) (at time.Time, known bool) {
	if at, ok := f.Visited[tty]; ok {
		return at, true
	}
	if !f.askSource() {
		return time.Time{}, false
	}
	at, err := f.source.AgentSeen(tty)
	if err != nil {
		return time.Time{}, false
	}
	f.Visited[tty] = at
	return at, true
}

// ranBefore is true where it cannot be read, too.
func (f *Facts) ranBefore(pid int) bool {
	if before, ok := f.Became[pid]; ok {
		return before
	}
	if !f.askSource() {
		return true
	}
	before, err := f.source.RanBefore(pid)
	f.Became[pid] = before || err != nil
	return f.Became[pid]
}

// Recorded returns a picture that reads nothing any more: what is missing stays
// unknown.
func Recorded(f Facts) *Facts {
	f.source = nil
	return &f
}
