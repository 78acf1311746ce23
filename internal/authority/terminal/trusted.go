package terminal

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hookmux/hookmux/internal/platform/proc"
)

// TrustedTerminal is a process whose terminals you trusted from another trusted terminal: an
// editor's server, a web terminal, mosh.
type TrustedTerminal struct {
	PID   int       `json:"pid"`
	Start uint64    `json:"start"`
	Boot  string    `json:"boot"` // start times are counted from it
	Name  string    `json:"name"`
	Added time.Time `json:"added"`
	From  string    `json:"from"`
}

// TrustedTerminals are kept until their process ends.
type TrustedTerminals struct {
	table proc.Table
	boot  string
	save  func([]TrustedTerminal) error

	mu   sync.Mutex
	list []TrustedTerminal
}

// maxTrustedTerminals bounds what is kept.
const maxTrustedTerminals = 256

// NewTrustedTerminals begins with what was kept; save keeps what changes.
func NewTrustedTerminals(table proc.Table, kept []TrustedTerminal, save func([]TrustedTerminal) error) *TrustedTerminals {
	return &TrustedTerminals{table: table, boot: bootID(), save: save, list: kept}
}

// bootID names this run of the machine; "" where start times are unique anyway.
func bootID() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// Trusts reports whether you trusted exactly this process.
func (e *TrustedTerminals) Trusts(pid int, start uint64) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.ContainsFunc(e.list, func(one TrustedTerminal) bool {
		return one.PID == pid && one.Start == start && one.Boot == e.boot
	})
}

// Add trusts a process. The caller has made sure that you want it.
func (e *TrustedTerminals) Add(pid int, from string) (TrustedTerminal, error) {
	p, err := e.table.Lookup(pid)
	if err != nil {
		return TrustedTerminal{}, fmt.Errorf("there is no process %d", pid)
	}
	if p.PID == 1 || p.UID != os.Getuid() {
		return TrustedTerminal{}, fmt.Errorf("process %d (%s) isn't yours", pid, p.Name)
	}
	one := TrustedTerminal{PID: p.PID, Start: p.Start, Boot: e.boot, Name: p.Name, Added: time.Now(), From: from}
	e.mu.Lock()
	defer e.mu.Unlock()
	list := slices.DeleteFunc(slices.Clone(e.list), func(old TrustedTerminal) bool {
		return old.PID == pid ||
			!e.isAlive(old)
	})
	if len(list) >= maxTrustedTerminals {
		return TrustedTerminal{}, fmt.Errorf("%d terminals are trusted already; remove some with `hookmux whoami remove`",
			len(list))
	}
	list = append(list, one)
	if err := e.save(list); err != nil {
		return TrustedTerminal{}, err
	}
	e.list = list
	return one, nil
}

// Remove takes it back; false when there was none.
func (e *TrustedTerminals) Remove(pid int) (bool, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	list := slices.DeleteFunc(slices.Clone(e.list), func(one TrustedTerminal) bool { return one.PID == pid })
	if len(list) == len(e.list) {
		return false, nil
	}
	e.list = list // it counts no more, whether or not that can be kept
	return true, e.save(list)
}

// List gives all whose process still runs.
func (e *TrustedTerminals) List() []TrustedTerminal {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(e.list), func(one TrustedTerminal) bool { return !e.isAlive(one) })
}

func (e *TrustedTerminals) isAlive(one TrustedTerminal) bool {
	p, err := e.table.Lookup(one.PID)
	return err == nil && p.Start == one.Start && one.Boot == e.boot
}
