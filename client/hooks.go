package client

import (
	"context"
	"encoding/json"

	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/wire"
)

// HookPlace says where hooks are registered: in the project that a folder is in, or,
// without a folder, for all projects of the user.
type HookPlace struct{ Folder string }

func (p HookPlace) params() wire.HooksEditParams {
	if p.Folder == "" {
		return wire.HooksEditParams{Scope: "global"}
	}
	return wire.HooksEditParams{Scope: "project", Cwd: p.Folder}
}

// ListedHook is a registration with its source and whether it is active.
type ListedHook struct {
	hook.Registration
	Scope   string // global or project
	File    string
	InForce bool
	Why     string // why it is not in force
}

// HookChange reports a change: the registration after it, the file,
// and what the user should know about it.
type HookChange struct {
	hook.Registration
	File  string
	Notes []string
}

// Hooks lists the hooks that count in a folder, the user's own and the project's.
func (c *Client) Hooks(ctx context.Context, folder string) ([]ListedHook, error) {
	var list []wire.ListedHook
	if err := c.Call(ctx, wire.MethodHooksList, wire.HooksListParams{Cwd: folder}, &list); err != nil {
		return nil, err
	}
	out := make([]ListedHook, len(list))
	for i, one := range list {
		out[i] = ListedHook{Scope: one.Scope, File: one.File, InForce: one.InForce, Why: one.Why}
		if err := json.Unmarshal(one.Registration, &out[i].Registration); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// AddHook registers a hook; without an id it gets one. Agents can't, and the id
// must be new.
func (c *Client) AddHook(ctx context.Context, at HookPlace, r hook.Registration) (HookChange, error) {
	p := at.params()
	var err error
	if p.Registration, err = json.Marshal(r); err != nil {
		return HookChange{}, err
	}
	return c.editHook(ctx, wire.MethodHooksAdd, p)
}

// ChangeHook changes the members of a registration that patch names, by their names
// in hooks.json.
func (c *Client) ChangeHook(ctx context.Context, at HookPlace, id string, patch map[string]any) (HookChange, error) {
	p := at.params()
	p.ID = id
	var err error
	if p.Patch, err = json.Marshal(patch); err != nil {
		return HookChange{}, err
	}
	return c.editHook(ctx, wire.MethodHooksSet, p)
}

// RemoveHook takes a registration out.
func (c *Client) RemoveHook(ctx context.Context, at HookPlace, id string) (HookChange, error) {
	p := at.params()
	p.ID = id
	return c.editHook(ctx, wire.MethodHooksDrop, p)
}

func (c *Client) editHook(ctx context.Context, method string, p wire.HooksEditParams) (HookChange, error) {
	var done wire.HooksEditResult
	if err := c.Call(ctx, method, p, &done); err != nil {
		return HookChange{}, err
	}
	out := HookChange{File: done.File, Notes: done.Notes}
	return out, json.Unmarshal(done.Registration, &out.Registration)
}
