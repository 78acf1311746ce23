package programs

// CallsShell are words with which a program's own language runs a command.
var CallsShell = []string{"system", "popen", "subprocess", "exec", "spawn", "child_process", "do shell script",
	"do script", "write text", "`", "%x", "Popen", "IO.popen", "getline", "System.cmd", "os:cmd",
	"callCommand", "run-program", "Deno.Command", "Command::new", "sys.process",
	"ProcessBuilder", "Process(", "\"|", "shell(", "qx", "run_command", "passthru",
	"shell \"", "shell '", "shell_exec", "syscmd", "esyscmd", "!rm", "!sh", "!curl", "!cat"}

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

// IsStdin reports whether a name of a file stands for standard input.
func IsStdin(name string) bool {
	switch name {
	case "-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0":
		return true
	}
	return false
}

// RemoteValues are the short options of ssh and its like that take a value.
func RemoteValues(name string) string {
	if name == "autossh" {
		return ShortValues("ssh") + "M"
	}
	return ShortValues("ssh")
}

// Renames reports whether other programs get another name by a program of this name.
func Renames(name string) bool {
	switch name {
	case "cp", "ln", "mv", "install", "hash", "gcp", "gln":
		return true
	}
	return false
}

// statementReaders are programs that read statements, of which it matters what they
// are: what is piped into them is kept as their input where it is known.
var statementReaders = map[string]bool{"psql": true, "mysql": true, "mariadb": true, "sqlite3": true,
	"redis-cli":  true,
	"valkey-cli": true, "mongosh": true, "mongo": true, "duckdb": true, "cqlsh": true, "clickhouse-client": true,
	"nc":   true,
	"ncat": true, "netcat": true, "usql": true, "sqlcmd": true, "influx": true, "telnet": true}

// TakesStatements reports whether a program of this base name reads statements.
func TakesStatements(name string) bool { return statementReaders[name] }
