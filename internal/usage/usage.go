// Package usage knows what agents used: tokens, money, and how much of a plan's windows is used up.
// It reads the agents' own records, stores every model call once, and prices calls by a dated table.
//
// Contract: a call is counted once, however often and in however many files an agent writes it down.
// What was counted once never gets less, whatever happens to the records. A model that the table
// doesn't know has no price; its calls are named and never cost zero. Records are only read;
// databases of agents are opened read-only.
package usage

import "time"

// Tokens holds the tokens of one or more model calls. Each token is in only one field.
type Tokens struct {
	Input        int64 `json:"inputTokens"`
	Output       int64 `json:"outputTokens"` // with reasoning
	CacheRead    int64 `json:"cacheReadTokens"`
	CacheWrite   int64 `json:"cacheWriteTokens"`   // kept for five minutes, or if it isn't known how long
	CacheWrite1h int64 `json:"cacheWrite1hTokens"` // kept for an hour
}

// Total returns all of them.
func (t Tokens) Total() int64 {
	return t.Input + t.Output + t.CacheRead + t.CacheWrite + t.CacheWrite1h
}

// Prompt returns what went to the model.
func (t Tokens) Prompt() int64 { return t.Total() - t.Output }

// Add adds o.
func (t *Tokens) Add(o Tokens) {
	t.Input += o.Input
	t.Output += o.Output
	t.CacheRead += o.CacheRead
	t.CacheWrite += o.CacheWrite
	t.CacheWrite1h += o.CacheWrite1h
}

// Minus is t without o, never below zero.
func (t Tokens) Minus(o Tokens) Tokens {
	return Tokens{
		max(0, t.Input-o.Input), max(0, t.Output-o.Output), max(0, t.CacheRead-o.CacheRead),
		max(0, t.CacheWrite-o.CacheWrite), max(0, t.CacheWrite1h-o.CacheWrite1h),
	}
}

// atLeast returns the larger of t and o, field by field.
func (t Tokens) atLeast(o Tokens) Tokens {
	return Tokens{
		max(t.Input, o.Input), max(t.Output, o.Output), max(t.CacheRead, o.CacheRead),
		max(t.CacheWrite, o.CacheWrite), max(t.CacheWrite1h, o.CacheWrite1h),
	}
}

// bounded is t without numbers that no call has: below zero, or beyond maxCount.
func (t Tokens) bounded() Tokens {
	return Tokens{}.atLeast(Tokens{
		min(t.Input, maxCount), min(t.Output, maxCount), min(t.CacheRead, maxCount),
		min(t.CacheWrite, maxCount), min(t.CacheWrite1h, maxCount),
	})
}

// Call is one model call as an agent wrote it down, or a total of calls.
type Call struct {
	Agent   string
	ID      string // the same for every copy of the record
	Request string // the request that ID belongs to, if the agent names one
	Model   string
	Session string
	Project string // the folder it worked in
	At      time.Time
	Tokens  Tokens
	Cost    float64 // in dollars as the agent wrote it down; 0 if it didn't
	Fast    bool    // at the price of a model's fast mode
	// Replay says that the record may be a copy of another one with the same ID,
	// whatever its Request: a side chain, or a session that went to the background.
	Replay bool
	// Sum says that Tokens are all that Session used of Model so far.
	Sum bool
	// Window is how many tokens fit into the model's context; 0 if unknown.
	Window int64
}

// Window is how much of a plan is used up.
type Window struct {
	Agent   string        `json:"agent"`
	Name    string        `json:"name"`   // 5h, 7d
	Used    float64       `json:"used"`   // percent
	Length  time.Duration `json:"-"`      // of the window
	Resets  time.Time     `json:"resets"` // when it begins again; zero if unknown
	Plan    string        `json:"plan,omitempty"`
	Learned time.Time     `json:"learned"` // when the agent said so
}
