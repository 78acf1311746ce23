package terminal

import (
	"bytes"
	"strconv"
	"strings"
)

// Where accounts are written down.
var (
	passwdFile = "/etc/passwd"
	subuidFile = "/etc/subuid"
)

// accounts knows under which ids processes of a user may run.
type accounts struct {
	uid   int
	named map[int]bool // ids of accounts
	own   []idRange    // ids of this user's namespaces
}

type idRange struct{ first, count int }

// readAccounts reads them for a user. Without a list of namespaces' ids there are none.
func readAccounts(uid int) (accounts, error) {
	passwd, err := readBounded(passwdFile)
	if err != nil {
		return accounts{}, err
	}
	subuid, _ := readBounded(subuidFile) // it need not exist
	return parseAccounts(uid, passwd, subuid), nil
}

func parseAccounts(uid int, passwd, subuid []byte) accounts {
	a := accounts{uid: uid, named: map[int]bool{}}
	names := map[string]bool{strconv.Itoa(uid): true}
	for line := range bytes.Lines(passwd) {
		words := strings.Split(string(bytes.TrimSpace(line)), ":")
		if len(words) < 4 {
			continue
		}
		if id, err := strconv.Atoi(words[2]); err == nil {
			a.named[id] = true
			if id == uid {
				names[words[0]] = true
			}
		}
	}
	for line := range bytes.Lines(subuid) {
		words := strings.Split(string(bytes.TrimSpace(line)), ":")
		if len(words) != 3 || !names[words[0]] {
			continue
		}
		first, err := strconv.Atoi(words[1])
		count, err2 := strconv.Atoi(words[2])
		if err == nil && err2 == nil {
			a.own = append(a.own, idRange{first, count})
		}
	}
	return a
}

// mayBeOurs reports whether a process with another id may be the user's all the
// same: the id is one of the user's namespaces, or no account has it.
func (a *accounts) mayBeOurs(id int) bool {
	if id == a.uid {
		return true
	}
	for _, r := range a.own {
		if id >= r.first && id-r.first < r.count {
			return true
		}
	}
	return !a.named[id]
}
