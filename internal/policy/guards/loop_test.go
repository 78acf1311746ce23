package guards

import (
	"fmt"
	"testing"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/policy/facts"
	"github.com/hookmux/hookmux/internal/policy/guards/names"
)

// What agents run again and again although nothing changes.
var stuckCommands = []string{"go test ./...", "npm test", "npm run build", "make", "cargo build", "pytest -x", "tsc --noEmit",
	"python main.py", "node index.js", "ruff check .", "mvn -q test", "./gradlew test", "git commit -m x", "git push",
	"docker build .", "npm install", "pip install x", "rm build/x", "cat a.txt > b.txt", "sed -i s/a/b/ x", "eslint src"}

// What they run again and again because something changes.
var pollingCommands = []string{"git status", "sleep 10", "sleep 5 && gh run view 1", "gh run watch 1", "gh pr checks 2", "gh run list",
	"kubectl get pods", "kubectl -n x get deploy web", "kubectl describe pod x", "kubectl logs web-1", "kubectl rollout status deploy/x",
	"kubectl wait pod/x", "tail -5 build.log", "tail -n 20 /tmp/x.log", "cat build.log", "ls -la dist", "ps aux", "pgrep node",
	"curl -s localhost:3000/health", "curl -sf http://localhost/up", "docker ps", "docker logs app", "docker inspect app",
	"docker compose ps", "docker compose logs", "systemctl status nginx", "systemctl is-active x", "journalctl -n 5",
	"git log -1", "git fetch", "git diff --stat", "head -3 x", "wc -l x", "grep done build.log", "jobs", "date", "df -h", "free -m",
	"lsof -i :3000", "nc -z localhost 80", "ping -c1 x", "aws ecs describe-services", "aws s3 ls", "aws logs tail x",
	"gcloud run services list", "az vm show -n x", "helm status x", "terraform output", "fly status", "heroku ps", "vercel inspect x",
	"tmux capture-pane -p", "squeue", "nvidia-smi", "pg_isready", "redis-cli ping", "mysqladmin ping", "adb devices", "pm2 ls",
	"sleep 30; tail -1 x.log", "glab ci status", "argocd app get x", "supervisorctl status", "cat x | grep y", "echo waiting; sleep 3"}

// repeat lets a session run commands in turn and gives what the guard says last.
func repeat(t *testing.T, times int, failed bool, commands ...string) []Finding {
	t.Helper()
	tracker := facts.New()
	g := NewGuard(names.Loop, Options{Counts: tracker.Of})
	var got []Finding
	for i := range times {
		call := shellCall(commands[i%len(commands)])
		ev := &event.Event{ID: fmt.Sprint(i), Kind: event.ToolBefore, Agent: "test", Session: "s", Cwd: call.Cwd,
			Tool: &event.Tool{Name: "Bash", Kind: event.Shell, Commands: call.Commands, CallID: fmt.Sprint(i)}}
		tracker.Observe(ev)
		got = g.CheckEvent(ev, call.Project, call.Home)
		after := *ev
		after.Kind, after.Tool = event.ToolAfter, &event.Tool{Name: "Bash", CallID: fmt.Sprint(i), Failed: failed}
		tracker.Observe(&after)
	}
	return got
}

func TestLoops(t *testing.T) {
	for i, c := range stuckCommands {
		next := stuckCommands[(i+1)%len(stuckCommands)]
		if got := repeat(t, 8, false, c); !hasRule(got, "loop.same-call") {
			t.Errorf("%s eight times: got %v, want loop.same-call", c, got)
		}
		if got := repeat(t, 5, true, c); !hasRule(got, "loop.same-failure") {
			t.Errorf("%s fails four times: got %v, want loop.same-failure", c, got)
		}
		if got := repeat(t, 8, false, c, next); !hasRule(got, "loop.ping-pong") {
			t.Errorf("%s and %s in turns: got %v, want loop.ping-pong", c, next, got)
		}
		for n, commands := range map[int][]string{3: {c}, 4: {c, next}, 21: stuckCommands} {
			if got := repeat(t, n, false, commands...); len(got) > 0 {
				t.Errorf("%d calls of %v: got %v, want nothing", n, commands, got)
			}
		}
	}
}

func TestPollingIsNoLoop(t *testing.T) {
	for _, c := range pollingCommands {
		if got := repeat(t, 40, false, c); len(got) > 0 {
			t.Errorf("%s: got %v, want nothing", c, got)
		}
		if got := repeat(t, 12, true, c); len(got) > 0 {
			t.Errorf("%s fails: got %v, want nothing", c, got)
		}
		if got := repeat(t, 120, false, c); !hasRule(got, "loop.polling") {
			t.Errorf("%s a hundred times: got %v, want loop.polling", c, got)
		}
	}
}

// Without a daemon nobody knows what happened before.
func TestLoopWithoutCounts(t *testing.T) {
	g := NewGuard(names.Loop, Options{})
	if got := g.Check(shellCall("go test ./...")); len(got) > 0 {
		t.Errorf("got %v, want nothing", got)
	}
}
