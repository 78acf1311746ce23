package ownfiles

import (
	"fmt"
	"strings"

	"github.com/hookmux/hookmux/internal/policy/facts"
	"github.com/hookmux/hookmux/internal/policy/shell"
)

// changesInCode change files, in addition to what facts.CodeWrites knows.
var changesInCode = []string{"unlink", "remove", "rmSync", "rmtree", "shutil.", "Remove-Item", "delete("}

// linksInCode give a file a second name, or another one.
var linksInCode = []string{"os.link", "os.symlink", "symlink", "link_to(", "hardlink", "linkSync", "fs.link", "link(",
	"File.link", "rename", "move("}

// checkCode denies python3 -c and the like that name our files and write.
func (t *Checker) checkCode(x *scope, r *shell.Run) {
	text, ok := r.Code()
	if !ok {
		return
	}
	if strings.Contains(text, "HOOKMUX_DISABLED") || strings.Contains(text, "HOOKMUX_RUNTIME_DIR") || switchesOff(text) {
		x.Report.Add("environment", r.Name(), r.Name()+" code sets a variable that switches hookmux off")
	}
	kills := strings.Contains(text, ".kill(") || strings.Contains(text, "Process.kill") ||
		strings.Contains(text, "taskkill")
	if kills && strings.Contains(text, "hookmux") {
		x.Report.Add("daemon", r.Name(), r.Name()+" code stops the daemon")
	}
	if t.daemon != "" && strings.Contains(text, "kill") && hasNumber(text, t.daemon) {
		x.Report.Add("daemon", r.Name(), r.Name()+" code stops the daemon")
	}
	writes, deletes := facts.CodeWrites(text), false
	for _, w := range changesInCode {
		writes = writes || strings.Contains(text, w)
	}
	if strings.HasSuffix(r.Name(), "awk") {
		writes = writes || strings.Contains(text, ">") || strings.Contains(text, "system") ||
			strings.Contains(text, "|")
	}
	for _, d := range facts.DeletersInCode {
		deletes = deletes || strings.Contains(text, d)
	}
	for _, l := range linksInCode { // a second name for what holds ours is one for ours
		deletes = deletes || strings.Contains(text, l)
	}
	if !writes && !deletes {
		return
	}
	for _, p := range x.CodePaths(r, text) {
		if t.isOwned(p) || deletes && t.holdsOwned(x, p) {
			x.Report.Add("write", r.Name(), fmt.Sprintf("%s code changes %s", r.Name(), p))
			return
		}
		if f, ok := startFileAt(x, p); ok && !r.Contained && !r.Remote {
			x.Report.Add("launch", r.Name(), startReason(p, f))
			return
		}
	}
}

// hasNumber reports whether n occurs in text without a digit next to it.
func hasNumber(text, n string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], n)
		if i < 0 {
			return false
		}
		i += from
		end := i + len(n)
		if (i == 0 || text[i-1] < '0' || text[i-1] > '9') && (end == len(text) || text[end] < '0' || text[end] > '9') {
			return true
		}
		from = end
	}
}
