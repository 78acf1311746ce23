package main

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"modernc.org/quickjs"
)

// What people ask is answered by one of the first five sections that the search shows.
func TestQuestionsFindTheirPages(t *testing.T) {
	out := t.TempDir()
	if _, err := buildSite(repository, out); err != nil {
		t.Fatal(err)
	}
	index, err := os.ReadFile(filepath.Join(out, "search.js"))
	if err != nil {
		t.Fatal(err)
	}
	vm, err := quickjs.NewVM()
	if err != nil {
		t.Fatal(err)
	}
	defer vm.Close()
	for _, script := range []string{"var window = {};", string(index), string(findJS)} {
		if _, err := vm.Eval(script, quickjs.EvalGlobal); err != nil {
			t.Fatal(err)
		}
	}
	for query, want := range map[string]string{
		"install homebrew":              "docs/install.html#packages",
		"check it works":                "docs/guide/1-start.html#check-that-it-works",
		"command was blocked":           "docs/troubleshooting.html#why-was-my-command-blocked",
		"status meaning":                "docs/guide/2-see.html#as-a-list",
		"answer from phone":             "docs/guide/7-phone.html",
		"answer permission tmux":        "docs/tmux.html#answering-in-tmux",
		"rules for one repository":      "docs/guide/4-guard.html#for-one-project",
		"allow host":                    "docs/guide/4-guard.html#allow-only-these-hosts",
		"share rules team":              "docs/rules.html#packs",
		"typescript hook":               "docs/typescript.html",
		"upgrade":                       "docs/install.html#after-an-upgrade",
		"uninstall":                     "docs/troubleshooting.html#how-do-i-remove-it-completely-uninstall",
		"stored how long":               "docs/security.html#privacy-and-network",
		"privacy network":               "docs/security.html#privacy-and-network",
		"telemetry":                     "docs/security.html#privacy-and-network",
		"crash":                         "docs/troubleshooting.html#what-happens-if-hookmux-crashes",
		"unsupported agent":             "docs/agents.html#an-agent-that-isnt-listed",
		"two agents same file":          "docs/install.html#two-agents-that-read-the-same-file",
		"ci":                            "docs/install.html#in-ci-and-in-containers",
		"performance slow":              "docs/hooks.html#what-it-costs-performance",
		"agent disable guard":           "docs/concepts.html",
		"resume session":                "docs/guide/2-see.html#resume-sessions-after-a-reboot",
		"how do I turn everything off?": "docs/guide/4-guard.html#everything-off",
		"notifications do not arrive":   "docs/troubleshooting.html#why-does-no-notification-arrive",
		"turn off":                      "docs/troubleshooting.html#how-do-i-turn-it-off-for-an-hour",
		"pause a guard":                 "docs/commands/guard.html#hookmux-guard-pause",
		"devcontainer":                  "docs/install.html#in-ci-and-in-containers",
		"docker":                        "docs/install.html#in-ci-and-in-containers",
		"what if I don't answer":        "docs/troubleshooting.html#what-happens-if-i-dont-answer",
		"other hooks":                   "docs/install.html#together-with-your-own-and-other-tools-hooks",
		"backup":                        "docs/install.html#what-changes-on-your-machine",
		"daemon not running":            "docs/troubleshooting.html#what-happens-if-hookmux-crashes",
		"tokens cost":                   "docs/troubleshooting.html#does-it-show-tokens-and-cost",
		"remote server":                 "docs/install.html#in-ci-and-in-containers",
		"without tmux":                  "docs/guide/6-tmux.html#tmux",
		"delete recorded data":          "docs/troubleshooting.html#how-do-i-delete-what-was-recorded",
		"only one project":              "docs/install.html#for-one-project",
		"history":                       "docs/guide/2-see.html#what-happened-the-history",
		// Twenty questions, asked as people would type them.
		"how do I install it":                      "docs/install.html",
		"auto approve safe commands":               "docs/recipes.html#stop-asking-me-about-safe-commands",
		"stop agents from pushing to main":         "docs/recipes.html#no-push-to-main",
		"block reading .env":                       "docs/recipes.html#block-reading-env-and-other-secrets",
		"why was my command blocked":               "docs/troubleshooting.html#why-was-my-command-blocked",
		"allow it once":                            "docs/blocked.html#allow-it-once-or-always",
		"what does claude print when it's blocked": "docs/blocked.html",
		"guard or rule or hook":                    "docs/concepts.html",
		"team rules":                               "docs/recipes.html#rules-for-the-whole-team",
		"slack message when done":                  "docs/recipes.html#slack-when-an-agent-is-done",
		"ask before npm publish":                   "docs/recipes.html#ask-before-publishing",
		"phone":                                    "docs/web.html#on-a-phone",
		"keyboard shortcuts":                       "docs/keys.html",
		"cursor":                                   "docs/agents/cursor.html",
		"does it send data anywhere":               "docs/security.html#privacy-and-network",
		"approval refused terminal":                "docs/troubleshooting.html#why-is-my-answer-refused",
		"turn it off for an hour":                  "docs/troubleshooting.html#how-do-i-turn-it-off-for-an-hour",
		"remove it completely":                     "docs/troubleshooting.html#how-do-i-remove-it-completely-uninstall",
		"what happens when the daemon crashes":     "docs/troubleshooting.html#what-happens-if-hookmux-crashes",
		"I edited config.json and nothing changed": "docs/troubleshooting.html#why-does-my-edit-have-no-effect",
		"daily budget":                             "docs/recipes.html#a-daily-budget",
		"write my own rule":                        "docs/guide/4-guard.html#write-your-own-rules",
		// Twenty more, written before the pages were shortened.
		"update hookmux":                     "docs/install.html#after-an-upgrade",
		"install without a network":          "docs/install.html#packages",
		"check the signature":                "docs/install.html#packages",
		"mac":                                "docs/install.html",
		"git worktree":                       "docs/inbox.html#start-a-new-agent-from-here",
		"approve several requests at once":   "docs/inbox.html",
		"always allow npm test":              "docs/inbox.html#saved-permissions",
		"revoke a permission":                "docs/inbox.html#saved-permissions",
		"no notifications at night":          "docs/notifications.html",
		"telegram":                           "docs/notifications.html",
		"codex asks in its own window":       "docs/inbox.html#answers-typed-into-the-agents-own-dialog",
		"vs code":                            "docs/agents/vscode.html",
		"zed":                                "docs/acp.html",
		"resume sessions after a reboot":     "docs/guide/2-see.html#resume-sessions-after-a-reboot",
		"who approved what":                  "docs/audit.html",
		"try a guard without blocking":       "docs/recipes.html#try-it-before-it-blocks",
		"search for a command":               "docs/sessions.html#search",
		"status bar":                         "docs/tmux.html",
		"how long does an agent wait for me": "docs/inbox.html#how-long-an-agent-waits",
		// Twenty, written before the site got its present form.
		"what does it cost to just try it":              "docs/guide/1-start.html#look-at-it-first",
		"does setup overwrite my claude settings":       "docs/guide/1-start.html#set-it-up",
		"can I use it without tmux":                     "docs/guide/6-tmux.html#tmux",
		"which agents are really tested":                "docs/contributing/verify.html",
		"approve from my phone outside the house":       "docs/guide/7-phone.html",
		"agent stops waiting after a minute":            "docs/inbox.html#how-long-an-agent-waits",
		"git-history.force-push but git-history is off": "docs/guide/4-guard.html#when-something-was-stopped",
		"let one force push through":                    "docs/guide/4-guard.html#when-something-was-stopped",
		"block an mcp tool":                             "docs/recipes.html",
		"what is the difference between deny and skip":  "docs/guide/3-answer.html",
		"rule only for one repository":                  "docs/guide/4-guard.html#for-one-project",
		"is my prompt sent to a server":                 "docs/security.html#privacy-and-network",
		"how do I stop the daemon":                      "docs/commands/daemon.html",
		"desktop notification only when I'm away":       "docs/notifications.html",
		"codex on a remote machine":                     "docs/remote.html",
		"answer several questions in one go":            "docs/guide/3-answer.html",
		"cheap model budget per day":                    "docs/usage.html",
		"hook that runs prettier after every edit":      "docs/recipes.html",
		"what happens on ctrl-c while an agent waits":   "docs/troubleshooting.html",
		"windows support":                               "docs/troubleshooting.html",
		// Questions of a reader who hadn't seen the site.
		"How do I uninstall it and get my settings back?":                                "docs/troubleshooting.html#how-do-i-remove-it-completely-uninstall",
		"How do I approve from my phone when I'm not at home (not on the same Wi-Fi)?":   "docs/guide/7-phone.html",
		"How do I let `npm test` always pass without asking?":                            "docs/recipes.html#stop-asking-me-about-safe-commands",
		"What happens if hookmux (the daemon) crashes / isn't running — do agents hang?": "docs/troubleshooting.html#what-happens-if-hookmux-crashes",
		"How do I stop being asked / turn hookmux off for an hour (pause)?":              "docs/troubleshooting.html#how-do-i-turn-it-off-for-an-hour",
		"Does it send anything to the internet (telemetry, privacy)?":                    "docs/security.html#privacy-and-network",
		"How do I deny with a reason the agent sees?":                                    "docs/guide/3-answer.html",
		"How do I see what it blocked yesterday?":                                        "docs/guide/2-see.html#what-happened-the-history",
		"How do I share guards with my team (in the repository)?":                        "docs/guide/4-guard.html#for-one-project",
		"How do I set a budget of $10 a day?":                                            "docs/recipes.html#a-daily-budget",
		"Why isn't my agent in the list (\"agent doesn't appear\")?":                     "docs/troubleshooting.html#why-doesnt-my-agent-appear",
		"Does it work on Windows / WSL?":                                                 "docs/troubleshooting.html#does-it-run-on-windows",
		"How do I change the keys / colours / theme?":                                    "docs/keys.html",
		"Someone lost/stole my phone: how do I revoke it?":                               "docs/guide/7-phone.html",
		"How long does an agent wait for an answer (timeout), and what then?":            "docs/inbox.html#how-long-an-agent-waits",
		// Twenty about what's new: other machines, usage, the page for browsers, starting agents.
		"add another machine":             "docs/remote.html#add-a-machine",
		"agents over ssh":                 "docs/remote.html",
		"remove a remote machine":         "docs/remote.html#remove-a-machine",
		"connection lost":                 "docs/remote.html#when-the-link-is-lost",
		"what did claude cost today":      "docs/usage.html",
		"how much context is left":        "docs/usage.html",
		"5 hour limit":                    "docs/usage.html",
		"lift a budget":                   "docs/usage.html#budgets",
		"wrong price":                     "docs/usage.html#prices",
		"set a pin":                       "docs/inbox.html#a-pin",
		"why do I have to type a code":    "docs/security.html#how-hookmux-knows-its-you",
		"bypass mode":                     "docs/troubleshooting.html#why-does-the-agent-not-wait-for-me",
		"pair my phone":                   "docs/web.html#pairing",
		"lost phone":                      "docs/web.html",
		"start a new agent":               "docs/inbox.html#start-a-new-agent-from-here",
		"rename a session":                "docs/sessions.html",
		"which files does hookmux change": "docs/install.html#what-changes-on-your-machine",
		"socket api":                      "docs/contributing/protocol.html",
		"claude code plan mode":           "docs/inbox.html#questions-forms-and-plans",
		"claude status line":              "docs/commands/usage.html",
		// Twenty, written before the pages repeated less.
		"stop an agent that repeats the same failing command": "docs/hooks.html#guards",
		"can a colleague answer my agent's requests":          "docs/fleet.html",
		"what did my agents do last night":                    "docs/guide/2-see.html#what-happened-the-history",
		"does it work with the claude vs code extension":      "docs/agents/claude.html#good-to-know",
		"move my settings to a new laptop":                    "docs/troubleshooting.html#how-do-i-move-my-settings-to-another-machine",
		"make a folder read-only for agents":                  "docs/recipes.html#make-a-folder-read-only-let-other-edits-pass",
		"does it work with zellij or kitty":                   "docs/tmux.html#other-multiplexers-and-terminals",
		"where are my api keys stored":                        "docs/security.html#secrets-and-api-keys-whats-stored",
		"limit an agent to $20 a day":                         "docs/usage.html#budgets",
		"which ports does it open":                            "docs/security.html#privacy-and-network",
		"where is the daemon's log file":                      "docs/troubleshooting.html#where-is-the-log-file-where-do-i-report-a-fault",
		"auto-accept edits but ask for shell commands":        "docs/recipes.html#make-a-folder-read-only-let-other-edits-pass",
		"what happens to running agents when I upgrade":       "docs/install.html#after-an-upgrade",
		"codex doesn't wait long enough":                      "docs/inbox.html#how-long-an-agent-waits",
		"can one agent read another project's history":        "docs/sessions.html#for-agents-mcp",
		"send events to grafana or splunk":                    "docs/telemetry.html",
		"who approved this command last week":                 "docs/audit.html",
		"rule that depends on the git branch":                 "docs/rules.html",
		"write a hook in python":                              "docs/guide/5-hooks.html#a-command",
		"does it work with subagents":                         "docs/hooks.html#guards",
	} {
		found, err := vm.Eval("window.findSections(window.searchIndex, "+strconv.Quote(query)+
			").sections.slice(0, 5).map(function (s) { return s.u; }).join(' ')", quickjs.EvalGlobal)
		if err != nil {
			t.Fatal(err)
		}
		addresses := strings.Fields(found.(string))
		if !slices.ContainsFunc(addresses, func(a string) bool { return a == want || strings.HasPrefix(a, want+"#") }) {
			t.Errorf("%q finds\n\t%s\nwant %s among them", query, strings.Join(addresses, "\n\t"), want)
		}
	}
}
