package testbed

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// WriteFiles puts the evidence next to the home it comes from, for a bug report.
func (e *Evidence) WriteFiles(st *TestBed) error {
	dir := filepath.Join(st.Base, "evidence")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	type event struct {
		Event    string          `json:"event"`
		Kind     string          `json:"kind"`
		Payload  json.RawMessage `json:"payload"`
		Verdict  string          `json:"verdict"`
		Degraded []string        `json:"degraded,omitempty"`
		Stdout   string          `json:"stdout"`
		Stderr   string          `json:"stderr,omitempty"`
		Exit     int             `json:"exit"`
	}
	var events []event
	for _, x := range e.Seen {
		payload := json.RawMessage(x.Event.Raw)
		if !json.Valid(payload) {
			payload, _ = json.Marshal(string(x.Event.Raw))
		}
		events = append(
			events,
			event{x.Event.Native, string(x.Event.Kind), payload, x.Decision.Verdict.Word(), x.Decision.DegradedText(),
				x.Answer.Stdout, x.Answer.Stderr, x.Answer.Exit},
		)
	}
	texts := map[string]string{
		"stdout.txt":  e.Stdout,
		"stderr.txt":  e.Stderr,
		"screens.txt": strings.Join(e.Screens, "\n"+strings.Repeat("=", 78)+"\n"),
	}
	for name, text := range texts {
		if text == "" {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	for name, v := range map[string]any{"events.json": events, "told.json": e.Told, "requests.json": e.Requests} {
		if err := writePlain(filepath.Join(dir, name), v); err != nil {
			return err
		}
	}
	return nil
}

// RemoveAll removes a test bed, including the read-only folders that agents leave.
func RemoveAll(dir string) {
	if os.RemoveAll(dir) == nil {
		return
	}
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	_ = os.RemoveAll(dir) // below the system's folder for temporary things in any case
}

func CopyFile(from, to string) error {
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	info, err := src.Stat()
	if err != nil {
		return err
	}
	dst, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, info.Mode().Perm()|0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	return errors.Join(err, dst.Close())
}

func writePlain(file string, v any) error {
	b, err := PlainJSON(v)
	if err != nil {
		return err
	}
	return os.WriteFile(file, b, 0o644)
}

func PlainJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(v)
	return b.Bytes(), err
}
