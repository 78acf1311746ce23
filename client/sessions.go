package client

import (
	"context"

	"github.com/hookmux/hookmux/internal/wire"
)

// Names for the values about sessions, so that programs can spell them.
type (
	SessionInfo    = wire.Session
	SessionDetail  = wire.SessionDetail
	SessionTurn    = wire.Turn
	SessionChange  = wire.SessionChange
	SessionsParams = wire.SessionsParams
	ResumeRecord   = wire.ResumeRecord
	SessionSent    = wire.SessionSent
)

// What a stream's Sessions may be.
const (
	SessionsAlso = wire.SessionsAlso // changes of sessions besides events
	SessionsOnly = wire.SessionsOnly // and nothing else
)

// Sessions lists what every session does: those that wait for you first, the
// longest waiting on top.
func (c *Client) Sessions(ctx context.Context, params SessionsParams) ([]SessionInfo, error) {
	var list []SessionInfo
	err := c.Call(ctx, wire.MethodSessions, params, &list)
	return list, err
}

// Session returns everything about one session. name is its id, the beginning of
// it, its title or its pane.
func (c *Client) Session(ctx context.Context, name string) (*SessionDetail, error) {
	var d SessionDetail
	if err := c.Call(ctx, wire.MethodSession, wire.SessionParams{Session: name}, &d); err != nil {
		return nil, err
	}
	return &d, nil
}

// RenameSession names a session; an empty title restores its agent's own. Agents
// can't call it.
func (c *Client) RenameSession(ctx context.Context, name, title string) (*SessionInfo, error) {
	var s SessionInfo
	err := c.Call(ctx, wire.MethodSessionRename, wire.SessionRenameParams{Session: name, Title: title,
		Auto: title == ""}, &s)
	if err != nil {
		return nil, err
	}
	return &s, nil
}

// ForgetSession removes a session from the list and deletes its resume record.
// Agents can't call it.
func (c *Client) ForgetSession(ctx context.Context, name string) (*SessionInfo, error) {
	var s SessionInfo
	if err := c.Call(ctx, wire.MethodSessionForget, wire.SessionParams{Session: name}, &s); err != nil {
		return nil, err
	}
	return &s, nil
}

// ResumeRecords returns how sessions are resumed; an empty name means all of
// them. claim reserves them for a minute, so that nothing else resumes them too.
// Leave a record alone if its Live isn't empty.
func (c *Client) ResumeRecords(ctx context.Context, name string, claim bool) ([]ResumeRecord, error) {
	var list []ResumeRecord
	err := c.Call(ctx, wire.MethodSessionResume, wire.SessionResumeParams{Session: name, Claim: claim}, &list)
	return list, err
}

// SendToSession sends a session a text as its next prompt: through its agent's
// plugin if one listens, or, if typed is set, as keystrokes into its tmux pane.
// Agents can't call it.
func (c *Client) SendToSession(ctx context.Context, name, text string, typed bool) (*SessionSent, error) {
	var s SessionSent
	if err := c.Call(ctx, wire.MethodSessionSend, wire.SessionSendParams{Session: name, Text: text, Type: typed},
		&s); err != nil {
		return nil, err
	}
	return &s, nil
}

// ProjectSessions lists the sessions in the project of the agent that started this
// process. The daemon finds out which one that is; it refuses anybody else.
func (c *Client) ProjectSessions(ctx context.Context, params SessionsParams) (list []SessionInfo, err error) {
	err = c.Call(ctx, wire.MethodProjectSessions, params, &list)
	return list, err
}

// ProjectBudgets lists the budgets that sessions in that project are checked by.
func (c *Client) ProjectBudgets(ctx context.Context) (list []wire.Budget, err error) {
	err = c.Call(ctx, wire.MethodProjectBudgets, nil, &list)
	return list, err
}

// ProjectHistory reads a page of what happened in that project.
func (c *Client) ProjectHistory(ctx context.Context, params QueryParams) (page wire.QueryResult, err error) {
	err = c.Call(ctx, wire.MethodProjectHistory, params, &page)
	return page, err
}
