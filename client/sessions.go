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

// Sessions lists what every session does: those that wait for a person first,
// the longest waiting on top.
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

// RenameSession names a session; an empty title gives it back its agent's own.
// Only a person may.
func (c *Client) RenameSession(ctx context.Context, name, title string) (*SessionInfo, error) {
	var s SessionInfo
	err := c.Call(ctx, wire.MethodSessionRename, wire.SessionRenameParams{Session: name, Title: title,
		Auto: title == ""}, &s)
	if err != nil {
		return nil, err
	}
	return &s, nil
}

// ForgetSession takes a session out of the list and deletes how it is taken up
// again. Only a person may.
func (c *Client) ForgetSession(ctx context.Context, name string) (*SessionInfo, error) {
	var s SessionInfo
	if err := c.Call(ctx, wire.MethodSessionForget, wire.SessionParams{Session: name}, &s); err != nil {
		return nil, err
	}
	return &s, nil
}

// ResumeRecords says how sessions are taken up again; an empty name is all of
// them. claim marks them as taken up for a minute, so that nobody else does it
// as well; a record whose Live says something must be left alone.
func (c *Client) ResumeRecords(ctx context.Context, name string, claim bool) ([]ResumeRecord, error) {
	var list []ResumeRecord
	err := c.Call(ctx, wire.MethodSessionResume, wire.SessionResumeParams{Session: name, Claim: claim}, &list)
	return list, err
}

// SendToSession gives a session a text as its next prompt: through its agent's
// plugin where one listens, else, if typed says so, typed into its tmux pane.
// Only a person may.
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
