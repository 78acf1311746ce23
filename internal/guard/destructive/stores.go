package destructive

import (
	"fmt"
	"path"
	"strings"

	"github.com/hookmux/hookmux/internal/guard/inspect"
	"github.com/hookmux/hookmux/internal/shell"
)

// storePhrases are what stores of data, backups and virtual machines lose for good:
// per program, operands and options that must all be given.
var storePhrases = map[string][]string{
	"etcdctl": {"del --prefix", "del --from-key"}, "consul": {"kv delete -recurse"},
	"vault":  {"secrets disable", "kv metadata delete", "kv destroy", "operator seal"},
	"restic": {"forget --prune", "forget --unsafe-allow-remove-all", "prune --max-unused"},
	"borg":   {"delete"}, "duplicity": {"remove-all-but-n-full", "remove-older-than"},
	"kopia": {"snapshot delete --all-snapshots-for-source", "repository delete"}, "snapper": {"delete"},
	"timeshift": {"--delete-all"}, "rbd": {"rm", "remove"}, "ceph": {"osd pool delete", "fs rm", "osd purge"},
	"rabbitmqctl": {"reset", "force_reset", "delete_vhost"}, "kafka-topics": {"--delete"},
	"kafka-topics.sh": {"--delete"},
	"gpg":             {"--delete-secret-keys", "--delete-secret-key", "--delete-secret-and-public-key"},
	"gpg2":            {"--delete-secret-keys", "--delete-secret-key", "--delete-secret-and-public-key"},
	"ssh-add":         {"-D"},
	"pg_dropcluster":  {""}, "mongorestore": {"--drop"}, "nodetool": {"decommission"},
	"lxc": {"delete", "storage volume delete"}, "incus": {"delete", "storage volume delete"},
	"virsh": {"undefine", "vol-delete", "pool-delete", "snapshot-delete"}, "qm": {"destroy"}, "pct": {"destroy"},
	"vboxmanage": {"unregistervm --delete", "unregistervm --delete-all", "closemedium --delete"},
	"efibootmgr": {"-B", "--delete-bootnum"}, "bootctl": {"remove"},
	"multipass": {"purge", "delete --purge", "delete --all"}, "vmrun": {"deletevm"}, "crictl": {"rmp --all",
		"rmi --all"},
}

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
	for _, phrase := range storePhrases[r.Name()] {
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
