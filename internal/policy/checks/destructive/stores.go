package destructive

import (
	"fmt"
	"path"
	"strings"

	"github.com/hookmux/hookmux/internal/policy/facts"
	"github.com/hookmux/hookmux/internal/policy/shell"
)

// mirrorRule checks rclone sync, which deletes what the source doesn't have.
func mirrorRule(x *scope, r *shell.Run) {
	_, rest := facts.SplitFlags(r.Args())
	if len(rest) < 3 || rest[0].Text != "sync" || facts.HasWord(r.Args(), "--dry-run", "-n") {
		return
	}
	if x.WhyBroad(x.ResolveWord(rest[2], r)) != facts.NotBroad || x.copiesNothing(rest[1:2], r) {
		x.Report.Add("rm-outside", r.Head(), fmt.Sprintf("empties %s", rest[2].Text))
	}
}

// windowsRule checks rd /s C:\Users, del /s C:\* and format C:.
func windowsRule(x *scope, r *shell.Run) {
	all := r.Name() == "format"
	for _, a := range r.Args() {
		all = all || strings.EqualFold(a.Text, "/s") || strings.EqualFold(a.Text, "/s/q")
	}
	for _, a := range r.Args() {
		t := a.Text
		if all && (len(t) > 1 && t[1] == ':' || strings.HasPrefix(t, `\`) || strings.HasPrefix(t, "%")) {
			x.Report.Add("rm-broad", r.Head(), fmt.Sprintf("%s deletes %s and everything below it", r.Name(), t))
			return
		}
	}
}

// dataDirs are the folders where a service in a container keeps its data.
var dataDirs = []string{"/data", "/srv", "/home", "/root", "/mnt", "/media", "/backup", "/backups", "/var/backups",
	"/var/www", "/bitnami", "/uploads", "/storage", "/volumes", "/etc", "/usr/share/elasticsearch/data", "/var/opt",
	"/var/lib/postgresql", "/var/lib/pgsql", "/var/lib/mysql", "/var/lib/mariadb", "/var/lib/mongodb",
	"/var/lib/mongo",
	"/var/lib/redis", "/var/lib/rabbitmq", "/var/lib/elasticsearch", "/var/lib/cassandra", "/var/lib/clickhouse",
	"/var/lib/influxdb", "/var/lib/etcd", "/var/lib/grafana", "/var/lib/prometheus", "/var/lib/gitea",
	"/var/lib/kafka",
	"/var/lib/zookeeper", "/var/lib/neo4j", "/var/lib/couchdb", "/var/lib/ldap", "/var/lib/docker", "/var/lib/minio",
	"/var/lib/vault", "/var/lib/consul", "/var/lib/jenkins", "/var/jenkins_home", "/opt/couchdb/data", "/prometheus",
	"/sdcard", "/storage", "/data/media", "/var/lib/nexus", "/nexus-data", "/var/spool", "/var/mail", "/var/vmail"}

// holdsData reports whether a path in a running container is a place where its data is: a
// container that was started for this one command has none.
func holdsData(r *shell.Run, p facts.Place) bool {
	running := false
	for _, via := range r.Via {
		running = running || strings.HasSuffix(via, " exec") || strings.HasSuffix(via, " rsh") || strings.HasSuffix(via, " shell")
	}
	if !running || !p.Known || !strings.HasPrefix(p.Text, "/") && len(r.Dirs) == 0 {
		return false
	}
	for _, dir := range dataDirs {
		if facts.IsUnder(p.Path, dir) || facts.IsBelow(dir, p.Path) {
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

// findPermissions checks find / -exec chmod 777 {} +.
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
		if p.Known && why != facts.NotBroad && why != facts.WholeProject && why != facts.RepositoryHistory {
			x.Report.Add("permissions", r.Head(),
				fmt.Sprintf("%s changes what it finds in %s (%s)", program, p.Text, why))
		}
	}
}
