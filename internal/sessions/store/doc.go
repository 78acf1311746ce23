// Package store keeps what must outlive the daemon about sessions: their latest states (Log)
// and how each can be resumed (Store).
package store
