package see

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/audit"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/ui/text"
	"github.com/hookmux/hookmux/internal/wire"
)

// AuditCommand is `hookmux audit`.
func AuditCommand(app *cmdutil.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Check and export the audit trail",
		Long: `Every decision is recorded in a signed audit trail. verify checks that no record was
changed, removed, added or moved; export prints the trail as JSON lines or CSV. Both
work without a running daemon. Without a command, verifies the trail.`,
		Example: "  hookmux audit verify\n  hookmux audit export --since 30d --format csv > decisions.csv",
		Args:    cmdutil.SubcommandArgs,
	}
	verify := auditVerifyCommand(app)
	cmd.RunE = verify.RunE
	cmd.Flags().AddFlagSet(verify.Flags())
	cmd.AddCommand(verify, auditExportCommand(app))
	return cmd
}

func auditVerifyCommand(app *cmdutil.App) *cobra.Command {
	var end string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Check the audit trail and name the first record that was changed",
		Long: `Checks every record's hash and order, and the signed end of each day and of the trail.
It prints the end of the trail. Keep it where your agents can't write; later,
--expect-end proves that nothing recorded up to then was removed.

Exit code 1 means that a record was changed, removed, added or moved.`,
		Example: "  hookmux audit verify\n  hookmux audit verify --expect-end 1274:9f2c…",
		Args:    cmdutil.ExactArgs(),
		RunE:    func(*cobra.Command, []string) error { return verifyTrail(app, end, asJSON) },
	}
	cmd.Flags().StringVar(&end, "expect-end", "", "an end that verify printed before; the trail must still have it")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON: {records, files, removed, seq, hash, gaps, problem}")
	return cmd
}

func verifyTrail(app *cmdutil.App, end string, asJSON bool) error {
	dirs, err := app.Dirs()
	if err != nil {
		return err
	}
	var known *audit.End
	if end != "" {
		if known, err = audit.ParseEnd(end); err != nil {
			return cmdutil.UsageError("--expect-end: %v", err)
		}
	}
	report, err := audit.VerifyEnd(dirs, known)
	if err != nil {
		return err
	}
	if asJSON {
		if err := app.PrintJSON(report); err != nil {
			return err
		}
	} else {
		printReport(app, report)
	}
	if report.Problem != nil {
		return errors.New("the audit trail was changed: " + termsafe.Text(report.Problem.Error()))
	}
	return nil
}

func printReport(app *cmdutil.App, report *audit.Report) {
	if report.Seq == 0 && report.Problem == nil {
		app.Say("nothing was decided yet")
		return
	}
	for _, gap := range report.Gaps {
		app.Say("gap before record %d, %s: %s%s", gap.Seq, gap.Time.Local().Format(time.DateTime),
			termsafe.Line(gap.Reason, 500), missedText(gap.Missed))
	}
	if report.Problem != nil {
		return
	}
	verb := "are"
	if report.Records == 1 {
		verb = "is"
	}
	app.Say("%s in %s %s intact", text.Count(report.Records, "record"), text.Count(int64(report.Files), "file"), verb)
	if report.Removed > 0 {
		app.Say("%s removed with the journal's old events; their signatures are intact", text.Count(int64(report.Removed), "older file"))
	}
	app.Say("end  %d:%s", report.Seq, report.Hash)
}

func missedText(n int64) string {
	if n == 0 {
		return ""
	}
	return " (" + text.Count(n, "decision") + ")"
}

func auditExportCommand(app *cmdutil.App) *cobra.Command {
	var since, until, format, host string
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Print the records of the audit trail as JSON lines or CSV",
		Long: `Prints the records of the audit trail, oldest first. The trail is checked first: where
something doesn't fit, export prints the records before it and exits with code 1.

--host prints what another machine of your fleet decided, from the fleet's journal. Only
that machine has the signed trail itself: check it there with hookmux audit verify.`,
		Example: "  hookmux audit export --since 30d\n  hookmux audit export --since 30d --format csv > decisions.csv",
		Args:    cmdutil.ExactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return exportTrail(cmd.Context(), app, since, until, format, host)
		},
	}
	cmd.Flags().StringVar(&host, "host", "", "records of this other machine; all for every one")
	cmd.Flags().StringVar(&since, "since", "", "nothing older: 1h, 30d, 2026-01-31, 2026-01-31T12:00:00Z")
	cmd.Flags().StringVar(&until, "until", "", "nothing newer")
	cmd.Flags().StringVar(&format, "format", "jsonl", "jsonl or csv")
	return cmd
}

func exportTrail(ctx context.Context, app *cmdutil.App, since, until, format, host string) error {
	from, err := cmdutil.Moment("--since", since)
	if err != nil {
		return err
	}
	to, err := cmdutil.Moment("--until", until)
	if err != nil {
		return err
	}
	dirs, err := app.Dirs()
	if err != nil {
		return err
	}
	var put func(r *audit.Record, line string) error
	flush := func() error { return nil }
	switch format {
	case "jsonl":
		put = func(_ *audit.Record, line string) error { _, err := io.WriteString(app.Stdout, line); return err }
	case "csv":
		w := csv.NewWriter(app.Stdout)
		if err := w.Write(auditColumns); err != nil {
			return err
		}
		put = func(r *audit.Record, _ string) error { return w.Write(auditRow(r)) }
		flush = func() error { w.Flush(); return w.Error() }
	default:
		return cmdutil.UnknownName("format", format, []string{"jsonl", "csv"}, "")
	}
	var failed error
	if host != "" && host != text.ThisMachine {
		err := queryFleet(ctx, app, host, wire.QueryParams{Filter: wire.Filter{Since: from, Until: to}}, func(e client.Entry) bool {
			if r, ok := fleetRecord(&e); ok {
				line, err := json.Marshal(r)
				failed = errors.Join(err, put(&r, string(line)+"\n"))
			}
			return failed == nil
		})
		return errors.Join(err, failed, flush())
	}
	report, err := audit.Verify(dirs, func(r *audit.Record, line string) {
		if failed == nil && !r.Time.Before(from) && (to.IsZero() || !r.Time.After(to)) {
			failed = put(r, line)
		}
	})
	if err != nil {
		return err
	}
	if err := errors.Join(failed, flush()); err != nil {
		return err
	}
	if report.Problem != nil {
		return errors.New("the audit trail was changed: " + termsafe.Text(report.Problem.Error()))
	}
	return nil
}

var auditColumns = []string{"seq", "time", "type", "verdict", "by", "reason", "asked", "agent", "event", "kind", "tool", "session",
	"folder", "id", "sha256", "hash of the record before", "host"}

func auditRow(r *audit.Record) []string {
	e := r.Event
	if e == nil {
		e = &audit.Event{}
	}
	reason := r.Reason
	if r.Gap != nil {
		reason = r.Gap.Reason + missedText(r.Gap.Missed)
	}
	row := []string{strconv.FormatInt(r.Seq, 10), r.Time.Format(time.RFC3339Nano), r.Type, r.Verdict, r.By, reason, r.Asked, e.Agent,
		e.Native, e.Kind, e.Tool, e.Session, e.Cwd, e.ID, e.SHA256, r.Prev, r.Host}
	for i := range row {
		row[i] = csvCell(row[i])
	}
	return row
}

// csvCell makes a text safe on a screen and in a spreadsheet, which would take some for a
// formula.
func csvCell(text string) string {
	text = termsafe.Line(text, 4096)
	if text != "" && strings.ContainsRune("=+-@\t\r", rune(text[0])) {
		return "'" + text
	}
	return text
}
