package programs

// CallsShell are words with which a program's own language runs a command.
var CallsShell = []string{"system", "popen", "subprocess", "exec", "spawn", "child_process", "do shell script",
	"do script", "write text", "`", "%x", "Popen", "IO.popen", "getline"}

// VimCalls are words with which Vim's languages run a command.
var VimCalls = []string{"system", "jobstart", "job_start", "term_start", "termopen", "execute", "popen", "subprocess",
	"exec "}

// LispCalls are words with which Emacs Lisp runs a command.
var LispCalls = []string{"shell-command", "call-process", "start-process", "make-process", "process-lines",
	"async-shell"}

// AlwaysSet are variables that a login session sets, so they never collapse a
// path to its root by being empty.
var AlwaysSet = map[string]bool{
	"HOME": true, "PWD": true, "OLDPWD": true, "TMPDIR": true, "USER": true,
	"LOGNAME": true, "SHELL": true, "UID": true, "HOSTNAME": true, "PPID": true,
}

// ScreenValues are the options of screen that take a value.
const ScreenValues = "ScehpstT"
