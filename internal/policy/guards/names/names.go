// Package names lists the built-in guards: what they are called, what they stop, and whether they
// are on from the start. Settings and guards are built from it.
package names

import "slices"

// Guard is one row.
type Guard struct {
	Name      string
	What      string // what it stops
	DefaultOn bool
}

// The names.
const (
	Destructive  = "destructive"
	Secrets      = "secrets"
	OwnFiles     = "own-files"
	Persistence  = "persistence"
	Publish      = "publish"
	Network      = "network"
	SupplyChain  = "supply-chain"
	GitHistory   = "git-history"
	Infra        = "infra"
	ProdDatabase = "prod-database"
	Loop         = "loop"
)

// All lists the guards in the order they run.
func All() []Guard {
	return []Guard{
		{Name: Destructive, What: "commands that lose data or break a machine or a service"},
		{Name: Secrets, What: "reading or sending keys, tokens and credentials"},
		{Name: OwnFiles, What: "changing hookmux's own files or an agent's hook configuration", DefaultOn: true},
		{Name: Persistence, What: "installing something that runs later: logins, keys, profiles, cron, services, setuid"},
		{Name: Publish, What: "publishing packages, images or releases"},
		{Name: Network, What: "connecting to hosts you haven't allowed, or to paste and tunnel services"},
		{Name: SupplyChain, What: "running freshly downloaded code, adding package sources, skipping checks"},
		{Name: GitHistory, What: "rewriting shared history, deleting branches, pushing to main"},
		{Name: Infra, What: "changing clusters, clouds and machines: terraform, kubectl, aws, ansible"},
		{Name: ProdDatabase, What: "connecting to remote databases, and statements that lose data"},
		{Name: Loop, What: "repeating the same call or the same failure"},
	}
}

// Is reports whether there is a guard of that name.
func Is(name string) bool {
	return slices.ContainsFunc(All(), func(g Guard) bool { return g.Name == name })
}

// Recommended returns the guards that an installation offers, in addition to those that are on
// from the start.
func Recommended() []string { return []string{Destructive, Secrets, Persistence, Loop} }
