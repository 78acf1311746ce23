package seat

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hookmux/hookmux/internal/platform/proc"
)

// Enrolment is a process whose terminals a person vouched for from another
// seat: an editor's server, a web terminal, mosh.
type Enrolment struct {
	PID   int       `json:"pid"`
	Start uint64    `json:"start"`
	Boot  string    `json:"boot"` // start times are counted from it
	Name  string    `json:"name"`
	Added time.Time `json:"added"`
	From  string    `json:"from"`
}

// Enrolments are kept until their process ends.
type Enrolments struct {
	table proc.Table
	boot  string
	save  func([]Enrolment) error

	mu   sync.Mutex
	list []Enrolment
}

// maxEnrolments bounds what is kept.
const maxEnrolments = 256

// NewEnrolments begins with what was kept; save keeps what changes.
func NewEnrolments(table proc.Table, kept []Enrolment, save func([]Enrolment) error) *Enrolments {
	return &Enrolments{table: table, boot: bootID(), save: save, list: kept}
}

// bootID names this run of the machine; "" where start times are unique anyway.
func bootID() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// Enrolled tells whether somebody vouched for exactly this process.
func (e *Enrolments) Enrolled(pid int, start uint64) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.ContainsFunc(e.list, func(one Enrolment) bool {
		return one.PID == pid && one.Start == start && one.Boot == e.boot
	})
}

// Add vouches for a process. The caller has made sure that a person wants it.
func (e *Enrolments) Add(pid int, from string) (Enrolment, error) {
	p, err := e.table.Lookup(pid)
	if err != nil {
		return Enrolment{}, fmt.Errorf("there is no process %d", pid)
	}
	if p.PID == 1 || p.UID != os.Getuid() {
		return Enrolment{}, fmt.Errorf("process %d (%s) does not belong to you", pid, p.Name)
	}
	one := Enrolment{PID: p.PID, Start: p.Start, Boot: e.boot, Name: p.Name, Added: time.Now(), From: from}
	e.mu.Lock()
	defer e.mu.Unlock()
	list := slices.DeleteFunc(slices.Clone(e.list), func(old Enrolment) bool {
		return old.PID == pid ||
			!e.isAlive(old)
	})
	if len(list) >= maxEnrolments {
		return Enrolment{}, fmt.Errorf("%d terminals are enrolled already; remove some with `hookmux seat remove`",
			len(list))
	}
	list = append(list, one)
	if err := e.save(list); err != nil {
		return Enrolment{}, err
	}
	e.list = list
	return one, nil
}

// Remove takes it back; false when there was none.
func (e *Enrolments) Remove(pid int) (bool, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	list := slices.DeleteFunc(slices.Clone(e.list), func(one Enrolment) bool { return one.PID == pid })
	if len(list) == len(e.list) {
		return false, nil
	}
	e.list = list // it counts no more, whether or not that can be kept
	return true, e.save(list)
}

// List gives all whose process still runs.
func (e *Enrolments) List() []Enrolment {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(e.list), func(one Enrolment) bool { return !e.isAlive(one) })
}

func (e *Enrolments) isAlive(one Enrolment) bool {
	p, err := e.table.Lookup(one.PID)
	return err == nil && p.Start == one.Start && one.Boot == e.boot
}
