package setup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hookmux/hookmux/internal/keeper"
	"github.com/hookmux/hookmux/internal/platform/paths"
)

// unitFile is the service's unit.
const unitFile = "/etc/systemd/system/hookmux-keeper.service"

const unit = `# Written by: hookmux system install. Removed by: hookmux system uninstall.
[Unit]
Description=hookmux: keeps what agents must not touch
Documentation=man:hookmux(1)

[Service]
Type=exec
ExecStart=` + paths.SystemFolder + `/hookmux-keeper
User=` + paths.KeeperName + `
Group=` + paths.KeeperName + `
Restart=always
RestartSec=1
RuntimeDirectory=hookmux-keeper
RuntimeDirectoryMode=0755
RuntimeDirectoryPreserve=restart
StateDirectory=hookmux-keeper
StateDirectoryMode=0700
UMask=0077
CapabilityBoundingSet=
NoNewPrivileges=yes
ProtectSystem=strict
ProtectHome=yes
PrivateDevices=yes
PrivateNetwork=yes
PrivateTmp=yes
ProtectKernelTunables=yes
ProtectKernelModules=yes
ProtectKernelLogs=yes
ProtectControlGroups=yes
ProtectClock=yes
ProtectHostname=yes
RestrictAddressFamilies=AF_UNIX
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
MemoryDenyWriteExecute=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
MemoryMax=64M
TasksMax=1200
LimitNOFILE=8192
OOMScoreAdjust=-900

[Install]
WantedBy=multi-user.target
`

// Step is one thing that is done, with a description.
type Step struct {
	Text string
	do   func() error
}

// Setup installs and removes.
type Setup struct {
	Programs string // the folder that has the programs to install
	User     int    // whose state moves in; 0 for no user's
	// Start starts the service and Stop stops it. Nil: with systemd.
	Start, Stop func() error
}

// Check says why the service can't be installed here, nil when it can.
func Check() error {
	name, _ := os.ReadFile("/proc/1/comm")
	if _, err := os.Stat("/run/systemd/system"); err != nil || strings.TrimSpace(string(name)) != "systemd" {
		return errors.New("there is no systemd here (in containers there usually isn't), which would run the service; " +
			"without the service hookmux works as before")
	}
	return nil
}

// checkKernel rejects a machine whose settings undo what the service is for.
func checkKernel() error {
	if text, err := os.ReadFile("/proc/sys/fs/suid_dumpable"); err == nil && strings.TrimSpace(string(text)) == "1" {
		return errors.New("fs.suid_dumpable is 1, so that every program can be debugged: sysctl fs.suid_dumpable=0")
	}
	var fs unix.Statfs_t
	if unix.Statfs("/usr", &fs) == nil && fs.Flags&unix.ST_NOSUID != 0 {
		return errors.New("/usr is mounted with nosuid, where hookmux-start can't work")
	}
	return nil
}

// Installed reports whether the service is installed.
func Installed() bool { return paths.HasSystem() }

// the programs by their source and mode.
var programs = []struct {
	from, to string
	mode     uint32
	group    bool // belongs to the keeper's group
}{
	{"hookmux", "hookmux", 0o755, false},
	{"hookmux-hook", "hookmux-hook", 0o755, false},
	{"hookmux", "hookmux-daemon", 0o711, false},
	{"hookmux-keeper", "hookmux-keeper", 0o755, false},
	{"hookmux-start", "hookmux-start", 0o2711, true},
}

// Install returns what installing does, in order.
func (s *Setup) Install() ([]Step, error) {
	if err := checkKernel(); err != nil {
		return nil, err
	}
	for _, p := range programs {
		if _, err := os.Stat(filepath.Join(s.Programs, p.from)); err != nil {
			return nil, fmt.Errorf("%s isn't beside hookmux; install all programs of the release first", p.from)
		}
	}
	steps := []Step{
		{"create the system user and group " + paths.KeeperName, makeAccount},
		{"copy the programs to " + paths.SystemFolder, s.copyPrograms},
		{"write " + unitFile + " and start hookmux-keeper", s.start},
	}
	if s.User != 0 {
		who := userName(s.User)
		steps = append(steps, Step{"stop " + who + "'s daemon and move what " + who + " accepted to the service",
			func() error { return s.move("in") }})
	}
	steps = append(steps, Step{"write " + paths.SystemMarker + ", so that hooks rely on the service", writeMarker})
	if s.User != 0 {
		steps = append(steps, Step{"have agents run " + paths.SystemProgram("hookmux-hook"), func() error { return s.move("link") }})
	}
	return steps, nil
}

// Uninstall returns what removing does, in order.
func (s *Setup) Uninstall() ([]Step, error) {
	steps := []Step{}
	folders, _ := os.ReadDir(paths.KeeperState)
	for _, folder := range folders {
		uid, err := strconv.Atoi(folder.Name())
		if err != nil {
			continue
		}
		one := &Setup{User: uid}
		if _, err := user.LookupId(folder.Name()); err != nil {
			continue // the user is gone
		}
		steps = append(steps, Step{"stop " + userName(uid) + "'s daemon and move its state back to " + userName(uid) + "'s home",
			func() error { return one.move("out") }})
	}
	return append([]Step{{"remove " + paths.SystemMarker + " and stop hookmux-keeper", s.stop}}, append(steps,
		Step{"remove " + paths.SystemFolder + ", " + paths.KeeperState + " and " + paths.KeeperRun, removeFiles},
		Step{"remove the system user and group " + paths.KeeperName, removeAccount})...), nil
}

// Run does all steps.
func Run(steps []Step) error {
	for _, step := range steps {
		if err := step.do(); err != nil {
			return fmt.Errorf("can't %s: %w", step.Text, err)
		}
	}
	return nil
}

func userName(uid int) string {
	if u, err := user.LookupId(strconv.Itoa(uid)); err == nil {
		return u.Username
	}
	return "user " + strconv.Itoa(uid)
}

// command runs one of the system's programs.
func command(name string, args ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C"}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, bytes.TrimSpace(out))
	}
	return nil
}

const gecos = "hookmux system service"

func makeAccount() error {
	u, err := user.Lookup(paths.KeeperName)
	if err == nil {
		if u.Name != gecos {
			return errors.New("there is a user of that name that hookmux didn't create")
		}
		return nil
	}
	return command("useradd", "--system", "--user-group", "--no-create-home", "--home-dir", "/nonexistent",
		"--shell", "/usr/sbin/nologin", "--comment", gecos, paths.KeeperName)
}

func removeAccount() error {
	if u, err := user.Lookup(paths.KeeperName); err == nil && u.Name == gecos {
		if err := command("userdel", paths.KeeperName); err != nil {
			return err
		}
	}
	if _, err := user.LookupGroup(paths.KeeperName); err == nil { // if userdel leaves it
		return command("groupdel", paths.KeeperName)
	}
	return nil
}

// group returns the keeper's group, which has no members.
func group() (int, error) {
	g, err := user.LookupGroup(paths.KeeperName)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(g.Gid)
}

func (s *Setup) copyPrograms() error {
	gid, err := group()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(paths.SystemFolder, 0o755); err != nil {
		return err
	}
	if err := os.Chmod(paths.SystemFolder, 0o755); err != nil {
		return err
	}
	for _, p := range programs {
		owner := 0
		if p.group {
			owner = gid
		}
		if err := copyProgram(filepath.Join(s.Programs, p.from), paths.SystemProgram(p.to), owner, p.mode); err != nil {
			return err
		}
	}
	return nil
}

// copyProgram puts a program in place in one step. Its owner comes before its mode, which a
// change of owner would undo.
func copyProgram(from, to string, gid int, mode uint32) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // only read
	fresh := to + ".new"
	_ = os.Remove(fresh)
	out, err := os.OpenFile(fresh, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Sync(), out.Close()); err == nil {
		err = os.Chown(fresh, 0, gid)
	}
	if err == nil {
		err = unix.Chmod(fresh, mode)
	}
	if err == nil {
		err = os.Rename(fresh, to)
	}
	return err
}

func (s *Setup) start() error {
	if s.Start != nil {
		return s.Start()
	}
	if err := os.WriteFile(unitFile, []byte(unit), 0o644); err != nil {
		return err
	}
	if err := command("systemctl", "daemon-reload"); err != nil {
		return err
	}
	if err := command("systemctl", "enable", "hookmux-keeper"); err != nil {
		return err
	}
	if err := command("systemctl", "restart", "hookmux-keeper"); err != nil {
		return err
	}
	return Reachable(10 * time.Second)
}

// Reachable waits until the keeper answers.
func Reachable(wait time.Duration) error {
	for end := time.Now().Add(wait); ; time.Sleep(20 * time.Millisecond) {
		_, _, err := keeper.Send(paths.KeeperSocket, keeper.Ask)
		if err == nil || time.Now().After(end) {
			return err
		}
	}
}

func writeMarker() error {
	if err := os.MkdirAll(filepath.Dir(paths.SystemMarker), 0o755); err != nil {
		return err
	}
	return os.WriteFile(paths.SystemMarker, []byte("hookmux relies on its system service: hookmux system status\n"), 0o644)
}

func (s *Setup) stop() error {
	if err := os.Remove(paths.SystemMarker); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	_ = os.Remove(filepath.Dir(paths.SystemMarker)) // unless it has a policy
	if s.Stop != nil {
		return s.Stop()
	}
	if _, err := os.Stat(unitFile); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err := command("systemctl", "disable", "--now", "hookmux-keeper"); err != nil {
		return err
	}
	if err := os.Remove(unitFile); err != nil {
		return err
	}
	return command("systemctl", "daemon-reload")
}

func removeFiles() error {
	return errors.Join(os.RemoveAll(paths.SystemFolder), os.RemoveAll(paths.KeeperState), os.RemoveAll(paths.KeeperRun))
}

// Folder is the descriptor of a user's outer folder in the child that moves state; that of
// the inner one follows.
const Folder = 3

// move has a child that runs as the user move state, stop the daemon or set the link.
func (s *Setup) move(way string) error {
	u, err := user.LookupId(strconv.Itoa(s.User))
	if err != nil {
		return err
	}
	gid, err := strconv.Atoi(u.Gid)
	if err != nil {
		return err
	}
	outer, inner, err := keeper.OpenFolder(paths.KeeperState, s.User)
	if err != nil {
		return err
	}
	files := []*os.File{os.NewFile(uintptr(outer), "outer"), os.NewFile(uintptr(inner), "inner")}
	defer func() { _, _ = files[0].Close(), files[1].Close() }() // paths only
	// No one but root may read this program, so no program of the user can take the folder
	// from the child.
	cmd := exec.Command(paths.SystemProgram("hookmux-daemon"), "system", "move", way)
	cmd.Dir = "/"
	cmd.Env = []string{"HOME=" + u.HomeDir, "USER=" + u.Username, "LOGNAME=" + u.Username, "PATH=" + paths.DefaultPath}
	cmd.ExtraFiles = files
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(s.User), Gid: uint32(gid)}}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, bytes.TrimSpace(out))
	}
	return nil
}
