package programs

// CallsShell are words that run a command in a program's own language.
var CallsShell = []string{"system", "popen", "subprocess", "exec", "spawn", "child_process", "do shell script",
	"do script", "write text", "`", "%x", "Popen", "IO.popen", "getline", "System.cmd", "os:cmd",
	"callCommand", "run-program", "Deno.Command", "Command::new", "sys.process",
	"ProcessBuilder", "Process(", "\"|", "shell(", "qx", "Sys.command", "exec.Command", ".execute()", "run_command", "passthru",
	"shell \"", "shell '", " sh '", " sh \"", "proc_open", "Open3", "capture2", "capture3", "shell_exec", "syscmd", "esyscmd", "!rm", "!sh", "!curl", "!cat"}

// VimCalls are words that run a command in Vim's languages.
var VimCalls = []string{"system", "jobstart", "job_start", "term_start", "termopen", "execute", "popen", "subprocess",
	"exec "}

// LispCalls are words that run a command in Emacs Lisp.
var LispCalls = []string{"shell-command", "call-process", "start-process", "make-process", "process-lines",
	"async-shell"}

// ScreenValues are the options of screen that take a value.
const ScreenValues = "ScehpstT"

// IsStdin reports whether a file name means standard input.
func IsStdin(name string) bool {
	switch name {
	case "-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0":
		return true
	}
	return false
}
