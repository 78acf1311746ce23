package usage

import (
	"bytes"
	"io"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/hookmux/hookmux/internal/platform/jsontext"
)

// Where an agent worked, according to the files next to its records; "" if none says it.

// maxBesideBytes is how much of such a file is read.
const maxBesideBytes = 64 << 10

// beside returns the beginning of a file.
func beside(path string) []byte {
	file, err := openRecord(path)
	if err != nil {
		return nil
	}
	defer file.Close()
	data, _ := io.ReadAll(io.LimitReader(file, maxBesideBytes))
	return data
}

// firstLine returns the first line of a file.
func firstLine(path string) []byte {
	line, _, _ := bytes.Cut(beside(path), []byte{'\n'})
	return line
}

// folder is a folder's name, whole; "" for anything else.
func folder(name string) string {
	if !filepath.IsAbs(name) {
		return ""
	}
	return filepath.Clean(name)
}

// geminiFolder reads .project_root in the project's folder, which has chats in it.
func geminiFolder(path string) string {
	for dir := filepath.Dir(path); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if filepath.Base(dir) == "chats" {
			return folder(strings.TrimSpace(string(firstLine(filepath.Join(filepath.Dir(dir), ".project_root")))))
		}
	}
	return ""
}

// kimiFolder reads the state of the session, which has its agents' records below it.
func kimiFolder(path string) string {
	dir := filepath.Dir(path)
	for range 3 {
		if cwd := folder(text(jsontext.Get(beside(filepath.Join(dir, "state.json")), "cwd"))); cwd != "" {
			return cwd
		}
		dir = filepath.Dir(dir)
	}
	return ""
}

// droidFolder reads the beginning of the conversation, whose settings have the numbers.
func droidFolder(path string) string {
	return folder(text(jsontext.Get(firstLine(strings.TrimSuffix(path, ".settings.json")+".jsonl"), "cwd")))
}

// grokFolder reads the name of the folder that has the project's sessions.
func grokFolder(path string) string {
	name, err := url.PathUnescape(filepath.Base(filepath.Dir(filepath.Dir(path))))
	if err != nil {
		return ""
	}
	return folder(name)
}
