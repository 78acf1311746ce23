package tshook

import (
	"encoding/json"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/tshook/pi"
)

// Generation names the version of pi's interface that a file was written for.
type Generation = pi.Generation

// Info describes a loaded file.
type Info struct {
	Path       string       `json:"path"`
	Hash       string       `json:"hash"` // of the file's content
	Generation Generation   `json:"generation,omitempty"`
	Runtime    string       `json:"runtime"` // quickjs or node
	Events     []string     `json:"events"`  // pi's names, as registered
	Kinds      []event.Kind `json:"kinds"`   // where it must be called
	// Tools and Commands are offered to pi, as pi takes them.
	Tools    []json.RawMessage `json:"tools,omitempty"`
	Commands []json.RawMessage `json:"commands,omitempty"`
	Files    []string          `json:"files"` // every file it was made from, itself first
	LoadTime Milliseconds      `json:"loadMs"`
	Cached   bool              `json:"cached"` // the transformed text came from the cache
	LoadedAt time.Time         `json:"loadedAt"`
	// Errors are the file's own: why it didn't load, then what its handlers threw, each
	// once.
	Errors []Problem `json:"errors,omitempty"`
	// Limits say per agent what this file asks for and the agent cannot do.
	Limits []Limit `json:"limits,omitempty"`
	Runs   int     `json:"runs"`
	// Total, Longest are about the runs.
	Total   Milliseconds `json:"totalMs"`
	Longest Milliseconds `json:"longestMs"`
	Reloads int          `json:"reloads"`
}

// Milliseconds is a time span as JSON shows it.
type Milliseconds float64

// Limit is something a file asks for and an agent cannot carry. Agent is "*"
// for whatever only pi can do.
type Limit struct {
	Agent string `json:"agent"`
	Event string `json:"event,omitempty"` // pi's name
	Text  string `json:"text"`
}

// OK reports whether the file is loaded and can be called.
func (i *Info) OK() bool { return !i.LoadedAt.IsZero() }
