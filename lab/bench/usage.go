//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hookmux/hookmux/internal/wire"
)

// usage measures what counting usage costs, and how soon it knows.
func (b *bench) usage(ctx context.Context) error {
	for _, part := range b.usageParts() {
		if err := part.run(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) usageParts() []part {
	return []part{{"usage/budgets", b.budgetsCost}, {"usage/live", b.liveUsage}, {"usage/import", b.usageImport}}
}

// budgetsCost compares a decision with three budgets, one of them for a folder reached through a link,
// to one with none, while the session's records grow.
func (b *bench) budgetsCost(ctx context.Context) error {
	var contenders []contender
	names := []string{"no budgets", "three budgets"}
	for i, name := range names {
		link := filepath.Join(b.temp, "linked-project")
		budgets := []string{"day=1000000usd ask=80% block=100%", "session=1000000usd block=100%",
			"day=1000000usd block=100% project=" + link}
		if i == 0 {
			budgets = []string{}
		}
		settings, err := json.Marshal(map[string][]string{"usage.budgets": budgets})
		if err != nil {
			return err
		}
		p, err := b.startDaemon(ctx, fmt.Sprint("budgets-", i), map[string]string{"config/hookmux/config.json": string(settings)})
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		defer p.stop()
		if i == 1 {
			if err := os.Symlink(p.Project, link); err != nil {
				return err
			}
		}
		s, err := b.liveSession(p, fmt.Sprint("budgets-", i))
		if err != nil {
			return err
		}
		payload, err := b.stretched("PreToolUse.Bash", "tool_input", "description")
		if err != nil {
			return err
		}
		if payload, err = s.own(payload); err != nil {
			return err
		}
		growing, stop := context.WithCancel(ctx)
		defer stop()
		go s.grow(growing)
		contenders = append(contenders, contender{name, p.hook(b, "PreToolUse", payload).run})
	}
	results, err := interleave(ctx, b.rounds, contenders)
	if err != nil {
		return err
	}
	without := wallTimes(results[0])
	b.table.note("usage: a decision without budgets", median(without), "µs")
	b.table.atMost("usage: with three budgets ÷ without", median(ratios(wallTimes(results[1]), without)), 1.03, "×")
	return nil
}

// liveRecord is the record of a session that is at work.
type liveRecord struct {
	b     *bench
	p     *place
	id    string
	file  string
	calls int
}

// recordTokens is what each call in a live record used.
const recordTokens = 1000

func (b *bench) liveSession(p *place, id string) (*liveRecord, error) {
	s := &liveRecord{b: b, p: p, id: id, file: filepath.Join(p.dirs.Home, ".claude/projects/-bench", id+".jsonl")}
	if err := os.MkdirAll(filepath.Dir(s.file), 0o700); err != nil {
		return nil, err
	}
	return s, s.add()
}

// own is a payload of this session.
func (s *liveRecord) own(payload []byte) ([]byte, error) {
	var all map[string]any
	if err := json.Unmarshal(payload, &all); err != nil {
		return nil, err
	}
	all["session_id"], all["transcript_path"], all["cwd"] = s.id, s.file, s.p.Project
	return json.Marshal(all)
}

// add writes down one more call, as Claude Code does.
func (s *liveRecord) add() error {
	f, err := os.OpenFile(s.file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	s.calls++
	_, err = fmt.Fprintf(f, `{"type":"assistant","timestamp":%q,"sessionId":%q,"cwd":%q,"requestId":"r%d","message":{"id":"m%d",`+
		`"model":"claude-opus-5-5","usage":{"input_tokens":%d,"output_tokens":%d}}}`+"\n",
		time.Now().UTC().Format(time.RFC3339Nano), s.id, s.p.Project, s.calls, s.calls, recordTokens-1, 1)
	return err
}

func (s *liveRecord) grow(ctx context.Context) {
	for ctx.Err() == nil {
		_ = s.add() // the place may be gone already
		select {
		case <-ctx.Done():
		case <-time.After(300 * time.Millisecond):
		}
	}
}

// importLarge is a long history, in MB. importBegins is when an import is under way for sure:
// a daemon without budgets lets others start first.
const (
	importLarge  = 1000
	importBegins = 4 * time.Second
)

const (
	liveRounds  = 15
	liveHistory = 2000 // files that don't change
	liveWithin  = 2000 // milliseconds
)

// liveUsage measures how long after a call is in a session's record `hookmux ps --json` and `hookmux
// usage --json` have its number, next to a long history, and while the record of another session has a
// hole of 20 GB.
func (b *bench) liveUsage(ctx context.Context) error {
	p, err := b.newPlace("live-usage", nil)
	if err != nil {
		return err
	}
	for i := range liveHistory {
		old := filepath.Join(p.dirs.Home, ".claude/projects", fmt.Sprint("-old", i%40), fmt.Sprint(i, ".jsonl"))
		if err := writeFile(old, `{"type":"assistant","timestamp":"2026-10-01T00:00:00Z","sessionId":"old","requestId":"o","message":{"id":"`+
			fmt.Sprint(i)+`","model":"claude-opus-5-5","usage":{"input_tokens":1,"output_tokens":1}}}`+"\n"); err != nil {
			return err
		}
	}
	if p, err = b.startOpenDaemon(ctx, "live-usage"); err != nil {
		return err
	}
	defer p.stop()
	s, err := b.liveSession(p, "live")
	if err != nil {
		return err
	}
	if err := s.begin(ctx); err != nil {
		return err
	}
	shown := map[string]func(context.Context) (int64, error){"ps --json": s.inList, "usage --json": s.inReport}
	for _, name := range []string{"ps --json", "usage --json"} {
		if err := b.knownWithin(ctx, s, name, "", shown[name]); err != nil {
			return err
		}
	}
	hole := filepath.Join(p.dirs.Home, ".claude/projects/-hole/hole.jsonl")
	if err := writeFile(hole, "\n"); err != nil {
		return err
	}
	if err := os.Truncate(hole, 20<<30); err != nil {
		return err
	}
	if err := b.knownWithin(ctx, s, "ps --json", ", beside a hole of 20 GB", s.inList); err != nil {
		return err
	}
	return b.liveInImport(ctx)
}

// startOpenDaemon starts the daemon that takes every caller for the user: below an agent, lists
// show that agent's own sessions only.
func (b *bench) startOpenDaemon(ctx context.Context, name string) (*place, error) {
	if err := b.build(ctx, "inboxdaemon", "./lab/bench/inboxdaemon"); err != nil {
		return nil, err
	}
	return b.startDaemonProgram(ctx, name, filepath.Join(b.tools, "inboxdaemon"), nil, "-live")
}

// liveInImport is liveUsage while a first history is imported.
func (b *bench) liveInImport(ctx context.Context) error {
	p, err := b.newPlace("live-import", nil)
	if err != nil {
		return err
	}
	defer os.RemoveAll(p.dirs.Home)
	if err := writeHistory(p.dirs.Home, importLarge<<20); err != nil {
		return err
	}
	if p, err = b.startOpenDaemon(ctx, "live-import"); err != nil {
		return err
	}
	defer p.stop()
	s, err := b.liveSession(p, "live")
	if err != nil {
		return err
	}
	if err := s.begin(ctx); err != nil {
		return err
	}
	time.Sleep(importBegins)
	imported := make(chan error, 1)
	go func() { // an answer takes two seconds while it lasts
		for {
			var report wire.UsageReport
			err := p.client.Call(ctx, wire.MethodUsage, wire.UsageParams{}, &report)
			if err != nil || report.Reading == nil {
				imported <- err
				return
			}
		}
	}()
	var took []float64
	for over := false; !over; {
		one, err := s.untilKnown(ctx, "ps --json", s.inList)
		if err != nil {
			return err
		}
		select {
		case err := <-imported:
			if err != nil {
				return err
			}
			over = true
		default:
			took = append(took, one)
		}
	}
	if len(took) == 0 {
		return errors.New("the import was over before anything was measured")
	}
	b.table.note("usage: a call on record until ps --json shows it, while 1 GB is imported, median", median(took), "ms")
	b.table.atMost(fmt.Sprintf("usage: the slowest of %d, while 1 GB is imported", len(took)), slices.Max(took), liveWithin, "ms")
	return nil
}

// begin reports the session to the daemon, as its agent does.
func (s *liveRecord) begin(ctx context.Context) error {
	begin, err := json.Marshal(map[string]string{"hook_event_name": "UserPromptSubmit", "prompt": "go on"})
	if err != nil {
		return err
	}
	if begin, err = s.own(begin); err != nil {
		return err
	}
	hook := exec.CommandContext(ctx, filepath.Join(s.b.bin, "hookmux-hook"), "claude", "UserPromptSubmit", "60")
	hook.Env, hook.Dir, hook.Stdin = s.p.Env, s.p.Project, bytes.NewReader(begin)
	if err := hook.Run(); err != nil {
		return fmt.Errorf("hookmux-hook: %w", err)
	}
	return nil
}

func writeFile(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o600)
}

// knownWithin measures how long it takes until something shows one more call.
func (b *bench) knownWithin(ctx context.Context, s *liveRecord, name, where string, shows func(context.Context) (int64, error)) error {
	var took []float64
	for range liveRounds {
		one, err := s.untilKnown(ctx, name, shows)
		if err != nil {
			return err
		}
		took = append(took, one)
	}
	b.table.note("usage: a call on record until "+name+" shows it"+where+", median", median(took), "ms")
	b.table.atMost("usage: the slowest of "+fmt.Sprint(liveRounds)+where, slices.Max(took), liveWithin, "ms")
	return nil
}

// untilKnown adds a call, and is how many milliseconds later it's shown.
func (s *liveRecord) untilKnown(ctx context.Context, name string, shows func(context.Context) (int64, error)) (float64, error) {
	if err := s.add(); err != nil {
		return 0, err
	}
	began := time.Now()
	for {
		got, err := shows(ctx)
		if err != nil {
			return 0, err
		}
		if got == int64(s.calls)*recordTokens {
			break
		}
		if time.Since(began) > time.Minute {
			return 0, fmt.Errorf("%s shows %d tokens a minute after %d were on record", name, got, s.calls*recordTokens)
		}
		time.Sleep(10 * time.Millisecond)
	}
	took := time.Since(began)
	time.Sleep(130 * time.Millisecond) // not in step with the daemon
	return float64(took.Milliseconds()), nil
}

// inList returns what `hookmux ps --json` says the session used.
func (s *liveRecord) inList(ctx context.Context) (int64, error) {
	var list []wire.Session
	if err := s.askJSON(ctx, &list, "ps", "--json"); err != nil {
		return 0, err
	}
	for _, one := range list {
		if one.ID == s.id && one.Usage != nil {
			return one.Usage.Tokens, nil
		}
	}
	return 0, nil
}

// inReport returns what `hookmux usage --json` says the session used.
func (s *liveRecord) inReport(ctx context.Context) (int64, error) {
	var report wire.UsageReport
	if err := s.askJSON(ctx, &report, "usage", "--by", "session", "--json"); err != nil {
		return 0, err
	}
	for _, row := range report.Rows {
		if row.Session == s.id {
			return row.Total(), nil
		}
	}
	return 0, nil
}

// askJSON runs hookmux in this place and reads what it prints.
func (s *liveRecord) askJSON(ctx context.Context, into any, args ...string) error {
	cmd := exec.CommandContext(ctx, filepath.Join(s.b.bin, "hookmux"), args...)
	cmd.Env, cmd.Dir = s.p.Env, s.p.Project
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			err = fmt.Errorf("%w: %s", err, exit.Stderr)
		}
		return fmt.Errorf("hookmux %s: %w", strings.Join(args, " "), err)
	}
	return json.Unmarshal(out, into)
}

// usageImport measures the most memory that a daemon needs while it imports a history, by its size, and
// whether the import reports its progress.
func (b *bench) usageImport(ctx context.Context) error {
	var peaks []float64
	for _, size := range []int64{250, 500, importLarge} {
		peak, rate, looks, err := b.importPeak(ctx, fmt.Sprint("import-", size), func(home string) error { return writeHistory(home, size<<20) })
		if err != nil {
			return err
		}
		peaks = append(peaks, peak)
		b.table.note(fmt.Sprintf("usage: most memory while %d MB are imported", size), peak/1e6, "MB")
		b.table.note("usage: how fast, with the pauses of an import in the background", rate, "MB/s")
		if size == importLarge {
			b.table.atLeast("usage: times the import said how far it is", float64(looks), 2, "")
		}
	}
	b.table.atMost("usage: memory for 1,000 MB ÷ for 250 MB", peaks[2]/peaks[0], 1.25, "×")
	b.table.atMost("usage: most memory for 1,000 MB", peaks[2]/1e6, 110, "MB")
	peak, _, _, err := b.importPeak(ctx, "import-hole", func(home string) error {
		if err := writeHistory(home, 1<<20); err != nil {
			return err
		}
		return os.Truncate(filepath.Join(home, ".claude/projects/-history/0.jsonl"), 4<<30)
	})
	if err != nil {
		return err
	}
	b.table.atMost("usage: most memory while a hole of 4 GB is imported", peak/1e6, 110, "MB")
	return nil
}

// importPeak is the most memory of a daemon until it has imported a history, how fast that
// was, and how many different states it named.
func (b *bench) importPeak(ctx context.Context, name string, write func(home string) error) (peak, rate float64, looks int, err error) {
	p, err := b.newPlace(name, nil)
	if err != nil {
		return 0, 0, 0, err
	}
	defer os.RemoveAll(p.dirs.Home)
	if err := write(p.dirs.Home); err != nil {
		return 0, 0, 0, err
	}
	began := time.Now()
	if p, err = b.startOpenDaemon(ctx, name); err != nil {
		return 0, 0, 0, err
	}
	defer p.stop()
	time.Sleep(importBegins)
	said := map[int64]bool{}
	for {
		var report wire.UsageReport
		if err := p.client.Call(ctx, wire.MethodUsage, wire.UsageParams{}, &report); err != nil {
			return 0, 0, 0, err
		}
		if report.Reading == nil {
			high, err := kilobytesIn(fmt.Sprintf("/proc/%d/status", p.pid()), "VmHWM:")
			used := report.Totals.Total()
			if err == nil && used == 0 {
				err = errors.New("nothing was imported")
			}
			return float64(high), float64(folderSize(p.dirs.Home)) / 1e6 / time.Since(began).Seconds(), len(said), err
		}
		said[report.Reading.Bytes] = true
		time.Sleep(50 * time.Millisecond)
	}
}

func folderSize(dir string) (sum int64) {
	_ = filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				sum += info.Size()
			}
		}
		return nil
	})
	return sum
}

// writeHistory writes records of Claude Code's, a quarter of whose bytes are lines with usage.
func writeHistory(home string, size int64) error {
	const perFile = 4 << 20
	other := `{"type":"user","message":{"content":"` + strings.Repeat("text of a tool's result, \\\"quoted\\\" here ", 90) + `"}}` + "\n"
	words := strings.Repeat("what the model said ", 30)
	for file := int64(0); file*perFile < size; file++ {
		var text strings.Builder
		for i := 0; text.Len() < perFile && int64(text.Len()) < size; i++ {
			text.WriteString(other)
			fmt.Fprintf(&text, `{"parentUuid":"ec495593-9a8b-48ce-ad52-ae96f7ba5b9f","isSidechain":false,"message":{"id":"msg_%d_%d",`+
				`"type":"message","role":"assistant","model":"claude-opus-5-5","content":[{"type":"text","text":"%s"}],`+
				`"usage":{"input_tokens":1200,"cache_creation_input_tokens":10,"cache_read_input_tokens":9000,"output_tokens":1}},`+
				`"requestId":"req_%d_%d","type":"assistant","uuid":"b03e63a2-%d-%d","timestamp":"2026-11-15T01:40:56.499Z",`+
				`"cwd":"/home/user/project","sessionId":"session-%d"}`+"\n", file, i, words, file, i, file, i, file)
		}
		if err := writeFile(filepath.Join(home, ".claude/projects/-history", fmt.Sprint(file, ".jsonl")), text.String()); err != nil {
			return err
		}
	}
	return nil
}
