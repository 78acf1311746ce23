package shell

import (
	"slices"
	"strings"
	"testing"
)

// TestNestedRuns holds what programs are told to run, in the order it is found.
func TestNestedRuns(t *testing.T) {
	for _, tt := range []struct {
		src  string
		want []string // without the program itself, which comes first
	}{
		// lists and variables
		{`a=(x y "$HOME"); "${a[@]}"`, []string{"x y $HOME"}},
		{`a=("x y" z); "${a[@]}"`, []string{"x y z"}},
		{`a=(x y z); "${a[@]:1}"`, []string{"y z"}},
		{`a=(x y z); "${a[@]:0:2}"`, []string{"x y"}},
		{`a=(x y z); "${a[@]:5}" w`, []string{"w"}},
		{`a=(); "${a[@]}" x y`, []string{"x y"}},
		{`$X y z`, []string{"$X y z", "y z"}},
		{`"" y`, []string{" y"}},
		{`a=(x y); ${a[1]} z`, []string{"y z"}},
		{`a=(x y); ${a[2]} z`, []string{"${a[2]} z", "z"}},
		{`IFS=:; x=a:b:c; $x "$x"`, []string{"a b c a:b:c"}},
		{`IFS=$y; x="a b"; $x`, []string{"a b"}},
		{`mapfile -t l <<< y; ${l[0]} z`, []string{"mapfile -t l", "y z"}},
		{`p=$HOME/a/b; x ${p%/*} ${p%%/a*}`, []string{"x $HOME/a $HOME"}},
		{`a=(x y); $a z`, []string{"x z"}},
		{`f() { "$@"; }; f x y`, []string{"$@", "f x y", "x y"}},
		{`f() { "${@:2}"; }; f x y z`, []string{"${@:2}", "f x y z", "y z"}},
		{`f() { shift; "$@"; }; f x y`, []string{"shift", "$@", "f x y", "shift", "y"}},
		{`f() { shift 3; "$1" z; }; f x y`, []string{"shift 3", "$1 z", "z", "f x y", "shift 3", "x z"}},
		{`set -- x y; "$@" "$2" "$3"`, []string{"set -- x y", "x y y $3"}},
		{`x="a b $Y/"; $x`, []string{"a b $Y/"}},
		{`x="a $(b c) d"; $x`, []string{"b c", "a $(b c) d"}},
		{`x=abc; ${x#a} ${x%c} ${x/b/x} ${x:1} ${x^^} ${x:0:1}`, []string{"bc ab axc bc ABC a"}},
		{`x=$Y; ${x#a}`, []string{"${x#a}"}},
		{`sh -c '$0 "$@"' x y z`, []string{"x y z"}},
		{`declare -A m=([k]=x ["l"]=y); ${m[k]} ${m[l]} ${m[z]}`, []string{"declare -A", "x y ${m[z]}"}},
		{`read -ra a <<< "x y"; "${a[@]}"`, []string{"read -ra a", "x y"}},
		{`echo "$HOME" | xargs x`, []string{"echo $HOME", "x $HOME"}},
		{`echo "$Z" | xargs x`, []string{"echo $Z", "x {}"}},
		// terminals
		{"xterm -e x y", []string{"xterm -e x y", "x y"}},
		{"xterm -e 'x; y'", []string{"xterm -e x; y", "x", "y"}},
		{"xterm -e", []string{"xterm -e"}},
		{"kitty @ launch --type=tab x", []string{"kitty @ launch --type=tab x", "x"}},
		{"kitty @ ls", []string{"kitty @ ls", "@ ls"}},
		{"zellij list-sessions", []string{"zellij list-sessions"}},
		{"gnome-terminal --command='x y'", []string{"gnome-terminal --command=x y", "x y"}},
		{"wezterm cli send-text 'x y'", []string{"wezterm cli send-text x y", "x y"}},
		{"dtach -n sock x y", []string{"dtach -n sock x y", "x y"}},
		{"script -q file x y", []string{"script -q file x y", "x y"}},
		{"rsync -aze 'x y' a b", []string{"x y", "rsync -aze x y a b"}},
		{"rsync -e ssh a b", []string{"rsync -e ssh a b"}},
		// tmux and screen
		{"tmux new -d x y", []string{"tmux new -d x y", "x y"}},
		{"tmux -L s -f f new -s n x", []string{"tmux -L s -f f new -s n x", "x"}},
		{"tmux new -d 'x; y'", []string{"tmux new -d x; y", "x", "y"}},
		{"tmux ls", []string{"tmux ls"}},
		{"tmux new x ';' neww y", []string{"tmux new x ; neww y", "x", "y"}},
		{`tmux new x\; neww y`, []string{"tmux new x; neww y", "x", "y"}},
		{"tmux send-keys -t 0 'x ' y Enter", []string{"tmux send-keys -t 0 x  y Enter", "x y"}},
		{"tmux send-keys x; tmux send-keys ' y' Enter", []string{"tmux send-keys x", "x", "tmux send-keys  y Enter", "x y"}},
		{"tmux if-shell 'x' 'run y' 'run z'", []string{"tmux if-shell x run y run z", "x", "y", "z"}},
		{"tmux if -F x 'run y'", []string{"tmux if -F x run y", "y"}},
		{"tmux bind k run 'x y'", []string{"tmux bind k run x y", "x y"}},
		{"tmux bind k 'run \"x y\"'", []string{`tmux bind k run "x y"`, "x y"}},
		{"tmux display -p '#(x y)'", []string{"tmux display -p #(x y)", "x y"}},
		{"tmux set -g default-command 'x y'", []string{"tmux set -g default-command x y", "x y", "tmux set-option default-command x y"}},
		{"tmux set -g mouse on", []string{"tmux set -g mouse on"}},
		{"tmux menu a k 'run x' b l 'run y'", []string{"tmux menu a k run x b l run y", "x", "y"}},
		{"tmux unknown-thing 'x y' '#{z y}'", []string{"tmux unknown-thing x y #{z y}", "x y"}},
		{"echo 'run \"x y\"' > f; tmux source f", []string{`echo run "x y"`, "tmux source f", "x y"}},
		{"screen -dmS n x y", []string{"screen -dmS n x y", "x y"}},
		{"screen -X stuff 'x y\\n'", []string{`screen -X stuff x y\n`, "x y"}},
		{"screen -ls", []string{"screen -ls"}},
		// git
		{"git -c core.pager='x y' log", []string{"git -c core.pager=x y log", "x y"}},
		{"git -c user.name='x y' log", []string{"git -c user.name=x y log"}},
		{"git -c alias.z='push -f' z o", []string{"git -c alias.z=push -f z o", "git push -f o"}},
		{"git -c alias.z='push -f' log o", []string{"git -c alias.z=push -f log o", "git push -f"}},
		{"git config --global alias.z '!x y'", []string{"git config --global alias.z !x y", "x y"}},
		{"git config set core.editor 'x y'", []string{"git config set core.editor x y", "x y"}},
		{"git config core.editor", []string{"git config core.editor"}},
		{"git rebase --exec='x y'", []string{"git rebase --exec=x y", "x y"}},
		{"git clone 'ext::x a% b c' d", []string{"git clone ext::x a% b c d", "x a b c"}},
		{"GIT_SSH_COMMAND='x y' z", []string{"z", "x y"}},
		{"env PAGER='x y' z", []string{"x y", "z"}},
		{"export EDITOR='x y'", []string{"export", "x y"}},
		{"EDITOR=vim z", []string{"z"}},
		// editors, databases, schedulers
		{`vim -c 'call system("x y")'`, []string{`vim -c call system("x y")`, "x y"}},
		{"vim -c ':!x y' +q!", []string{"vim -c :!x y +q!", "x y"}},
		{"vim -c 'set nu' file", []string{"vim -c set nu file"}},
		{"nvim -c 'term x y'", []string{"nvim -c term x y", "x y"}},
		{"ed f <<< '!x y'", []string{"ed f", "x y"}},
		{`emacs --eval '(shell-command "x y")'`, []string{`emacs --eval (shell-command "x y")`, "x y", "x y"}},
		{"less '+!x y' f", []string{"less +!x y f", "x y"}},
		{`psql -c '\! x y'`, []string{`psql -c \! x y`, "x y"}},
		{"sqlite3 d '.shell x y'", []string{"sqlite3 d .shell x y", "x y"}},
		{"echo 'x y' | at now", []string{"echo x y", "at now", "x y"}},
		{"echo '1 2 3 4 5 x y' | crontab -", []string{"echo 1 2 3 4 5 x y", "crontab -", "x y"}},
		{"printf '@daily x y\\n# z\\nA=1\\n' | crontab -", []string{`printf @daily x y\n# z\nA=1\n`, "crontab -", "x y"}},
		{"concurrently 'x y' z", []string{"concurrently x y z", "x y"}},
		{"socat a EXEC:'x y'", []string{"socat a EXEC:x y", "x y"}},
		// statements in front of a mistake
		{"x y\nif then", []string{"x y"}},
		{"x y; if then", nil},
	} {
		s := Parse(tt.src)
		if got := renderRuns(s); !slices.Equal(got, tt.want) {
			t.Errorf("%q:\n got %q\nwant %q", tt.src, got, tt.want)
		}
	}
}

func TestKnownOutputOfWriters(t *testing.T) {
	for src, want := range map[string]string{
		"echo a > f": "a\n", "cat > f <<'E'\nx\nE": "x\n", "echo a | tee f": "a\n", "printf '%s\\n' a >> f": "a\n",
	} {
		s := Parse(src)
		last := s.Runs[len(s.Runs)-1]
		if !last.HasOutput || last.Output != want {
			t.Errorf("%q writes %q, known %v; want %q", src, last.Output, last.HasOutput, want)
		}
	}
	for _, src := range []string{"echo $X > f", "ls > f", "echo a", "cat x > f", "echo a > /dev/null"} {
		s := Parse(src)
		if last := s.Runs[len(s.Runs)-1]; last.HasOutput {
			t.Errorf("%q is said to write %q", src, last.Output)
		}
	}
}

func TestTooDeep(t *testing.T) {
	deep := strings.Repeat("(", maxNesting+1)
	if s := Parse(deep); !s.TooDeep() || s.Readable() {
		t.Errorf("too deep %v, readable %v", s.TooDeep(), s.Readable())
	}
	if s := Parse(strings.Repeat("(", maxNesting) + "a" + strings.Repeat(")", maxNesting)); s.TooDeep() {
		t.Error("at the bound it is not too deep")
	}
	if s := Parse("echo \"x"); s.TooDeep() || s.Readable() {
		t.Error("an open quote is a mistake, not depth")
	}
}

// What stands in programs of other languages, in editors and behind filters is seen
// as the command that it becomes.
func TestCommandsElsewhere(t *testing.T) {
	for src, want := range map[string]string{
		"bash <<EOF\nrm -rf /x":                               "rm -rf /x",
		"echo 'ez -es /k' | tr a-z n-za-m | sh":               "rm -rf /x",
		"echo 'a;rm -rf /x' | cut -d';' -f2 | sh":             "rm -rf /x",
		"echo 'Xm -Xf /x' | sed s/X/r/g | sh":                 "rm -rf /x",
		`python3 -c 'print("rm -rf /x")' | sh`:                "rm -rf /x",
		`python3 -c 'exec("import os;os.system(\"rm /x\")")'`: "rm /x",
		`awk 'BEGIN{print "y" | "rm -rf /x"}'`:                "rm -rf /x",
		`awk '{print | "sh"}' <<< 'rm -rf /x'`:                "rm -rf /x",
		`vim -c "call delete('/x', 'rf')"`:                    "rm -rf /x",
		`vim -c 'r /x/y' -c q`:                                "cat /x/y",
		`emacs --batch --eval '(delete-directory "/x" t)'`:    "rm -rf /x",
		`emacs --batch --eval '(find-file "/x")'`:             "cat /x",
		`tclsh <<< 'file delete -force /x'`:                   "rm -rf /x",
		`ssh h rm -rf /x`:                                     "rm -rf /x",
		`ansible all -m shell -a 'rm -rf /x'`:                 "rm -rf /x",
		`lxc exec web -- rm -rf /x`:                           "rm -rf /x",
		`aws ssm send-command --parameters 'c=["rm -rf /x"]'`: "rm -rf /x",
		`bwrap --bind / / --dev /dev rm -rf /x`:               "rm -rf /x",
		`sh -s -- /x <<< 'rm -rf "$1"'`:                       "rm -rf /x",
		`IFS=, read -ra w <<< 'rm,-rf,/x'; "${w[@]}"`:         "rm -rf /x",
		`read -r a b c <<< 'rm -rf /x'; "$a" "$b" "$c"`:       "rm -rf /x",
		`p=/x; n=p; rm -rf "${!n}"`:                           "rm -rf /x",
		`echo 'rm -rf /x' > c.sh; ./c.sh`:                     "rm -rf /x",
		`f() { "$@" {/x,/y}; }; f rm -rf`:                     "rm -rf /x /y",
		`git grep -O'rm -rf /x' foo`:                          "rm -rf /x",
	} {
		s := Parse(src)
		found := false
		var all []string
		for i := range s.Runs {
			all = append(all, s.Runs[i].String())
			found = found || s.Runs[i].String() == want
		}
		if !found {
			t.Errorf("%q: got the runs %q, want %q among them", src, all, want)
		}
	}
}
