package see

import (
	"context"
	"errors"
	"slices"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/pipeline/evaluate"
	"github.com/hookmux/hookmux/internal/recorder"
	"github.com/hookmux/hookmux/internal/redact"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/sessions"
	"github.com/hookmux/hookmux/internal/wire"
)

// If no daemon runs, the journal and the sessions are read from disk.

// askDaemon returns a client of the daemon that runs, or nil while none does.
func askDaemon(ctx context.Context, app *cmdutil.App) (*client.Client, error) {
	c, err := app.RunningDaemon()
	if err != nil {
		return nil, err
	}
	switch err := cmdutil.AskDaemon(ctx, c); {
	case errors.Is(err, client.ErrNoDaemon):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return c, nil
}

// storedSession returns a session as the last daemon wrote it down.
func storedSession(app *cmdutil.App, name string) (*wire.SessionDetail, error) {
	dirs, err := app.Dirs()
	if err != nil {
		return nil, err
	}
	catalogue, err := app.Catalogue()
	if err != nil {
		return nil, err
	}
	stored, err := sessions.ReadStored(services.Deps{Dirs: dirs, Catalogue: catalogue, Processes: app.Table,
		Redactor: redact.New()}, evaluate.New(dirs, app.LiveSettings).Config)
	if err != nil {
		return nil, err
	}
	d, bad := stored.Session(name)
	if bad != nil {
		return nil, bad
	}
	return &d, nil
}

// queryStored reads the journal from disk, as [client.Client.Search] does through the
// daemon.
func queryStored(ctx context.Context, app *cmdutil.App, q wire.QueryParams, each func(client.Entry) bool) (
	unsearched int64, err error,
) {
	dirs, err := app.Dirs()
	if err != nil {
		return 0, err
	}
	catalogue, err := app.Catalogue()
	if err != nil {
		return 0, err
	}
	r, done, err := recorder.OpenStored(dirs, catalogue)
	if err != nil {
		return 0, err
	}
	defer done()
	if r == nil {
		return 0, nil
	}
	read := func(ctx context.Context, q wire.QueryParams) (wire.QueryResult, error) {
		page, err := r.Query(ctx, q)
		unsearched = max(unsearched, page.Unsearched)
		return page, err
	}
	if q.Newest {
		err = newestStored(ctx, read, q, each)
	} else {
		err = eachStored(ctx, read, q, each)
	}
	return unsearched, err
}

// readPage reads a page of the journal.
type readPage func(context.Context, wire.QueryParams) (wire.QueryResult, error)

// eachStored reads the events of q, oldest first.
func eachStored(ctx context.Context, read readPage, q wire.QueryParams, each func(client.Entry) bool) error {
	for left := q.Limit; ; {
		page := q
		page.Limit = left
		result, err := read(ctx, page)
		if err != nil {
			return err
		}
		for _, e := range result.Entries {
			if !each(e) {
				return nil
			}
		}
		if left > 0 {
			if left -= len(result.Entries); left <= 0 {
				return nil
			}
		}
		if result.Next == "" {
			return nil
		}
		q.After = result.Next
	}
}

// newestStored reads the last q.Limit events, page by page from the end.
func newestStored(ctx context.Context, read readPage, q wire.QueryParams, each func(client.Entry) bool) error {
	var pages [][]wire.Entry
	for left := q.Limit; left > 0; {
		page := q
		page.Limit = left
		result, err := read(ctx, page)
		if err != nil {
			return err
		}
		pages = append(pages, result.Entries)
		left -= len(result.Entries)
		if result.Next == "" || len(result.Entries) == 0 {
			break
		}
		q.Before = result.Next
	}
	for _, page := range slices.Backward(pages) {
		for _, e := range page {
			if !each(e) {
				return nil
			}
		}
	}
	return nil
}
