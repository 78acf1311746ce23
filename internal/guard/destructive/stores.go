package destructive

import (
	"fmt"
	"path"
	"strings"

	"github.com/hookmux/hookmux/internal/guard/inspect"
	"github.com/hookmux/hookmux/internal/policy/programs"
	"github.com/hookmux/hookmux/internal/shell"
)

// storeRule judges what loses the data of stores, backups and virtual machines for
// good: all words of a phrase, operands and options, are given.
func storeRule(x *scope, r *shell.Run) {
	args := r.Args()
	if isDryRun(args) || r.Contained && r.Name() != "etcdctl" {
		return
	}
	flags, rest := inspect.SplitFlags(args)
	operands := strings.ToLower(inspect.JoinArgs(rest))
	// restic -r /mnt/backup forget: the first operand may be an option's value.
	optionFirst := len(args) > 0 && strings.HasPrefix(args[0].Text, "-") && len(rest) > 1
	_, behind, _ := strings.Cut(operands, " ")
	for _, phrase := range programs.Of(r.Name()).Does[programs.LosesData] {
		all := true
		said := ""
		for _, word := range strings.Fields(phrase) {
			if strings.HasPrefix(word, "-") {
				all = all && inspect.HasLong(flags, word)
			} else {
				said += word + " "
			}
		}
		if all && (strings.HasPrefix(operands+" ", said) || optionFirst && strings.HasPrefix(behind+" ", said)) {
			x.Report.Add("database", r.String(), strings.TrimSpace(r.Name()+" "+phrase)+" loses stored data for good")
			return
		}
	}
}

// toolRule judges what your own files say about a program: subcommands that delete are
// refused, those that deploy ask.
func toolRule(x *scope, r *shell.Run) {
	p := x.Script.Programs.Of(r.Name())
	if !p.Own() || isDryRun(r.Args()) {
		return
	}
	words := inspect.KnownTexts(r.Args())
	for _, effect := range [...]programs.Effect{programs.LosesData, programs.Deploys} {
		if phrase, ok := p.Phrase(effect, words); ok {
			x.Report.AddAsking("tool", r.String(), fmt.Sprintf("%s %s, as your description of %s says",
				strings.TrimSpace(r.Name()+" "+phrase), effect, r.Name()), effect == programs.Deploys)
			return
		}
	}
}

// ansibleRule judges ansible all -m file -a 'path=/srv state=absent'.
func ansibleRule(x *scope, r *shell.Run) {
	line := inspect.JoinArgs(r.Args())
	if inspect.HasWord(r.Args(), "--check", "-C") || !strings.Contains(line, "state=absent") {
		return
	}
	for _, field := range strings.Fields(line) {
		for _, key := range [...]string{"path=", "dest=", "name="} {
			target, ok := strings.CutPrefix(strings.Trim(field, `'"`), key)
			if !ok || key == "name=" && !strings.HasPrefix(target, "/") {
				continue
			}
			p := x.ResolveText(target, strings.HasPrefix(target, "~"), false, r)
			if p.Known && (x.WhyBroad(p) != inspect.NotBroad || x.IsOutside(p)) {
				x.Report.Add("infra", r.String(), fmt.Sprintf("removes %s on every machine of the group", target))
				return
			}
		}
	}
}

// windowsRule judges rd /s C:\Users, del /s C:\* and format C:.
func windowsRule(x *scope, r *shell.Run) {
	all := r.Name() == "format"
	for _, a := range r.Args() {
		all = all || strings.EqualFold(a.Text, "/s") || strings.EqualFold(a.Text, "/s/q")
	}
	for _, a := range r.Args() {
		t := a.Text
		if all && (len(t) > 1 && t[1] == ':' || strings.HasPrefix(t, `\`) || strings.HasPrefix(t, "%")) {
			x.Report.Add("rm-broad", r.String(), fmt.Sprintf("%s deletes %s and everything below it", r.Name(), t))
			return
		}
	}
}

// dataDirs hold what a service in a container is there for.
var dataDirs = []string{"/data", "/srv", "/home", "/root", "/mnt", "/media", "/backup", "/backups", "/var/backups",
	"/var/www", "/bitnami", "/uploads", "/storage", "/volumes", "/etc", "/usr/share/elasticsearch/data", "/var/opt",
	"/var/lib/postgresql", "/var/lib/pgsql", "/var/lib/mysql", "/var/lib/mariadb", "/var/lib/mongodb",
	"/var/lib/mongo",
	"/var/lib/redis", "/var/lib/rabbitmq", "/var/lib/elasticsearch", "/var/lib/cassandra", "/var/lib/clickhouse",
	"/var/lib/influxdb", "/var/lib/etcd", "/var/lib/grafana", "/var/lib/prometheus", "/var/lib/gitea",
	"/var/lib/kafka",
	"/var/lib/zookeeper", "/var/lib/neo4j", "/var/lib/couchdb", "/var/lib/ldap", "/var/lib/docker", "/var/lib/minio",
	"/var/lib/vault", "/var/lib/consul", "/var/lib/jenkins", "/var/jenkins_home", "/opt/couchdb/data", "/prometheus",
	"/var/lib/nexus", "/nexus-data", "/var/spool", "/var/mail", "/var/vmail"}

// holdsData reports whether a path in a running container is a place where its data
// lie: a container that was started for this one command has none.
func holdsData(r *shell.Run, p inspect.Place) bool {
	running := false
	for _, via := range r.Via {
		running = running || strings.HasSuffix(via, " exec") || strings.HasSuffix(via, " rsh")
	}
	if !running || !p.Known || !strings.HasPrefix(p.Text, "/") && len(r.Dirs) == 0 {
		return false
	}
	for _, dir := range dataDirs {
		if inspect.IsUnder(p.Path, dir) || inspect.IsBelow(dir, p.Path) {
			return !isCacheName(path.Base(p.Path))
		}
	}
	return false
}

func isCacheName(name string) bool {
	switch name {
	case "cache", ".cache", "tmp", "temp", "logs", "log", "node_modules", "dist", "build", "__pycache__",
		".npm", "target":
		return true
	}
	return strings.HasSuffix(name, ".pid") || strings.HasSuffix(name, ".log")
}

// findPermissions judges find / -exec chmod 777 {} +.
func findPermissions(x *scope, r *shell.Run, args, starts []shell.Word) {
	program := ""
	for i, a := range args[:max(0, len(args)-1)] {
		if strings.HasPrefix(a.Text, "-exec") || strings.HasPrefix(a.Text, "-ok") {
			program = path.Base(args[i+1].Text)
			if program == "sudo" && i+2 < len(args) {
				program = path.Base(args[i+2].Text)
			}
		}
	}
	switch program {
	case "chmod", "chown", "chgrp", "setfacl", "chattr":
	default:
		return
	}
	for _, start := range starts {
		p := x.ResolveWord(start, r)
		why := x.WhyBroad(p)
		if p.Known && why != inspect.NotBroad && why != inspect.WholeProject && why != inspect.RepositoryHistory {
			x.Report.Add("permissions", r.String(),
				fmt.Sprintf("%s changes what it finds in %s (%s)", program, p.Text, why))
		}
	}
}
