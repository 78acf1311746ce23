package ownfiles

import (
	"fmt"
	"strings"

	"github.com/hookmux/hookmux/internal/policy/facts"
	"github.com/hookmux/hookmux/internal/policy/shell"
)

var writesInCode = []string{"write", "'w'", `"w"`, "'a'", `"a"`, "'w+'", "dump", "unlink", "remove", "rename",
	"rmSync", "truncate", "copyfile", "copyFile", "replace(", "rmtree", "shutil.", "File.open", "appendFile"}

// linksInCode give a file a second name.
var linksInCode = []string{"os.link", "os.symlink", "symlink", "link_to(", "hardlink", "linkSync", "fs.link", "link(",
	"File.link"}

// checkCode refuses python3 -c and the like that name our files and write.
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
	writes, deletes := false, false
	for _, w := range writesInCode {
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
	for _, p := range pathsIn(facts.QuotedIn(text)) {
		if t.isOwned(p) || deletes && t.holdsOwned(x, p) {
			x.Report.Add("write", r.Name(), fmt.Sprintf("%s code changes %s", r.Name(), p))
			return
		}
	}
}

// pathsIn returns the literals, and what neighbours make when a program joins them
// to one path: join('.claude', 'settings.json'), home + '/.claude/' + name.
func pathsIn(lits []string) []string {
	out := append([]string(nil), lits...)
	for i := range lits {
		joined, glued := lits[i], lits[i]
		for j := i + 1; j < len(lits) && j < i+4; j++ {
			if len(joined) > 1024 {
				break
			}
			joined += "/" + strings.TrimPrefix(lits[j], "/")
			glued += lits[j]
			out = append(out, joined, glued)
		}
	}
	return out
}

// hasNumber reports whether n stands in text with no digit beside it.
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
