package programs

// FileOptions are the options of a program whose value is a file.
type FileOptions struct {
	// Shows are those whose contents come out again: printed, sent, or told in an error.
	Shows []string
	// Loads are those that the program works with, Writes those it makes or changes.
	Loads, Writes []string
}

// fileOptions are options of single programs. What several programs call alike stands
// in loadedBy and writtenBy.
var fileOptions = map[string]FileOptions{
	"xargs": {Shows: []string{"-a", "--arg-file"}}, "gxargs": {Shows: []string{"-a", "--arg-file"}},
	"parallel": {Shows: []string{"-a", "--arg-file", "::::"}}, "date": {Shows: []string{"-f", "--file"}},
	"file": {Shows: []string{"-f", "--files-from"}}, "dig": {Shows: []string{"-f"}}, "nmap": {Shows: []string{"-iL"},
		Writes: []string{"-oN", "-oX", "-oG", "-oA"}},
	"wc": {Shows: []string{"--files0-from"}}, "sort": {Shows: []string{"--files0-from"}, Writes: []string{"-o",
		"--output"}},
	"du": {Shows: []string{"--files0-from"}}, "find": {Shows: []string{"-files0-from"}, Writes: []string{"-fprint",
		"-fls",
		"-fprintf", "-fprint0"}}, "pastebinit": {Shows: []string{"-i"}}, "ip": {Shows: []string{"-batch", "-b"}},
	"ss": {Shows: []string{"-F"}}, "jq": {Shows: []string{"--rawfile", "--slurpfile", "--argfile", "-f",
		"--from-file"}},
	"mail": {Shows: []string{"-A", "-a", "--attach"}}, "mailx": {Shows: []string{"-a", "-A"}},
	"mutt": {Shows: []string{"-a",
		"-i"}}, "swaks": {Shows: []string{"--attach", "--body", "--data"}}, "gh": {Shows: []string{"-F",
		"--body-file",
		"--input", "--notes-file"}}, "glab": {Shows: []string{"-F", "--description-file"}},
	"git": {Shows: []string{"-F", "--file", "--add-file", "--pathspec-from-file"}, Writes: []string{"-o", "--output",
		"--output-directory"}}, "aws": {Shows: []string{"--body", "--payload", "--zip-file"}},
	"grep": {Shows: []string{"-f",
		"--file"}}, "rg": {Shows: []string{"-f", "--file"}}, "diff": {Shows: []string{"--from-file", "--to-file"}},
	"tar": {Shows: []string{"-T", "--files-from"}, Loads: []string{"-X", "--exclude-from"}, Writes: []string{
		"--index-file"}}, "rsync": {Shows: []string{"--files-from"}, Loads: []string{"--exclude-from",
		"--include-from",
		"--password-file"}, Writes: []string{"--log-file", "--backup-dir", "--partial-dir"}},
	"curl": {Shows: []string{"-T", "--upload-file", "-K", "--config"}, Loads: []string{"-b", "--cookie", "-E",
		"--cert",
		"--key", "--cacert", "--netrc-file"}, Writes: []string{"-o", "--output", "--output-dir", "-c",
		"--cookie-jar", "-D",
		"--dump-header", "--trace", "--trace-ascii", "--stderr"}},
	"wget": {Shows: []string{"--post-file", "--body-file", "-i", "--input-file"}, Loads: []string{"--load-cookies",
		"--certificate", "--private-key", "--ca-certificate", "--config"}, Writes: []string{"-O",
		"--output-document", "-P",
		"--directory-prefix", "-o", "--output-file", "-a", "--append-output", "--save-cookies"}},
	"ssh": {Loads: []string{"-i", "-F"}, Writes: []string{"-E"}}, "scp": {Loads: []string{"-i", "-F"}},
	"sftp": {Loads: []string{
		"-i", "-F", "-b"}}, "docker": {Loads: []string{"--env-file", "-f", "--file", "--build-arg-file", "--cidfile",
		"--secret", "--label-file"}, Writes: []string{"--iidfile", "--metadata-file"}},
	"kubectl": {Loads: []string{"-f", "--filename", "--from-file", "--from-env-file", "--kubeconfig", "-k",
		"--kustomize"}},
	"helm": {Loads: []string{"-f", "--values", "--set-file", "--kubeconfig"}},
	"node": {Loads: []string{"--env-file",
		"--env-file-if-exists", "-r", "--require", "--import", "--loader"}}, "bun": {Loads: []string{"--env-file",
		"--preload"}}, "deno": {Loads: []string{"--env-file", "--env", "--config", "--import-map"}},
	"make": {Loads: []string{"-f", "--file", "--makefile"}}, "awk": {Loads: []string{"-f", "--file"}},
	"sed": {Loads: []string{
		"-f", "--file"}}, "psql": {Loads: []string{"-f", "--file"}, Writes: []string{"-o", "--output", "-L"}},
	"pg_dump": {Writes: []string{"-f", "--file"}}, "mysqldump": {Loads: []string{"--defaults-file",
		"--defaults-extra-file"}, Writes: []string{"-r", "--result-file"}},
	"mysql": {Loads: []string{"--defaults-file",
		"--defaults-extra-file"}}, "pip": {Loads: []string{"-r", "--requirement", "-c", "--constraint"},
		Writes: []string{
			"-t", "--target", "--log"}}, "openssl": {Loads: []string{"-in", "-inkey", "-key", "-CAfile", "-cert"},
		Writes: []string{"-out", "-keyout", "-writerand"}}, "gpg": {Writes: []string{"-o", "--output", "--keyring"}},
	"patch": {Loads: []string{"-i", "--input"}, Writes: []string{"-o", "--output", "-r", "--reject-file"}},
	"unzip": {Writes: []string{"-d"}}, "zip": {Writes: []string{"-O", "--out"}}, "ffmpeg": {Loads: []string{"-i"}},
	"tee": {}, "time": {Writes: []string{"-o", "--output"}}, "strace": {Writes: []string{"-o", "--output"}},
	"script": {Writes: []string{"-O", "--log-out", "-I", "--log-in"}}, "xxd": {},
	"ansible-playbook": {Loads: []string{
		"-i", "--vault-password-file", "--private-key"}}, "terraform": {Loads: []string{"-var-file", "-state"},
		Writes: []string{"-out", "-state-out", "-backup"}}, "gcc": {Writes: []string{"-o"}},
	"clang":   {Writes: []string{"-o"}},
	"go":      {Writes: []string{"-o", "-coverprofile", "-cpuprofile", "-memprofile"}},
	"rustc":   {Writes: []string{"-o"}},
	"install": {Writes: []string{"-t", "--target-directory"}}, "split": {}, "env-cmd": {Loads: []string{"-f"}},
	"dotenv": {Loads: []string{"-e", "-f", "--file"}}, "dotenvx": {Loads: []string{"-f"}},
}

// loadedBy are options that mean a file to work with wherever they are known.
var loadedBy = []string{"--config", "--config-file", "--conf", "--env-file", "--envfile", "--dotenv", "--from-file",
	"--from-env-file", "--input", "--input-file", "--infile", "--in-file", "--values", "--var-file", "--vars-file",
	"--key",
	"--key-file", "--keyfile", "--cert", "--private-key", "--identity-file", "--kubeconfig", "--credentials",
	"--credentials-file", "--secrets-file", "--secret-file", "--password-file", "--token-file",
	"--service-account-file",
	"--settings", "--data-file", "--body-file", "--script", "--manifest", "--filename", "--schema", "--project-file"}

// writtenBy are options that mean a file or folder that is written.
var writtenBy = []string{"--output", "--out", "--outfile", "--out-file", "--output-file", "--output-dir", "--outdir",
	"--out-dir", "--outDir", "--dest", "--destination", "--destdir", "--target-dir", "--directory-prefix",
	"--log-file",
	"--logfile", "--report-file", "--save-to", "--download-dir", "--pidfile", "--pid-file", "--cache-dir"}

// FileOptionsOf are the options of a program whose value is a file, those included that
// many programs know.
func FileOptionsOf(name string) FileOptions {
	o := fileOptions[name]
	return FileOptions{
		Shows: o.Shows, Loads: append(loadedBy[:len(loadedBy):len(loadedBy)], o.Loads...),
		Writes: append(writtenBy[:len(writtenBy):len(writtenBy)], o.Writes...),
	}
}

// ShownBy are the options of a program that bring out what stands in a file.
func ShownBy(name string) []string { return fileOptions[name].Shows }
