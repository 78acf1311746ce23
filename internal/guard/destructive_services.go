package guard

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/hookmux/hookmux/internal/shell"
)

func isDryRun(args []shell.Word) bool {
	for _, a := range args {
		t := a.Text
		if t == "--dry-run" || t == "--dryrun" || t == "--help" || t == "-h" || t == "help" || strings.HasPrefix(t, "--dry-run=") && t != "--dry-run=none" {
			return true
		}
	}
	return false
}

// verbs are the leading operands of a command line, options left out.
func verbs(args []shell.Word) []shell.Word {
	_, rest := splitFlags(args)
	return rest
}

func clusterRule(x *env, r *shell.Run) {
	args := r.Args()
	if isDryRun(args) {
		return
	}
	flags, rest := splitFlags(args)
	say := func(what string) { x.f.add("cluster", r.String(), fmt.Sprintf("%s %s", r.Name(), what)) }
	switch r.Name() {
	case "kubectl", "oc", "k":
		if len(rest) == 0 {
			return
		}
		// Operands before the verb can only be values of global options.
		for _, v := range rest[:min(len(rest), 4)] {
			switch v.Text {
			case "delete":
				if !namedPods(r, flags, rest) {
					say("delete removes resources from the cluster")
				}
				return
			case "drain":
				say("drain evicts everything from a node")
				return
			case "replace":
				if hasLong(flags, "--force") {
					say("replace --force deletes and recreates resources")
				}
				return
			case "scale":
				if has(args, "--replicas=0") || strings.Contains(joinArgs(args), "--replicas 0") {
					say("scale to 0 stops the workload")
				}
				return
			case "get", "describe", "logs", "apply", "exec", "config", "create", "explain", "rollout", "port-forward", "top", "auth", "cp", "edit", "patch", "label", "annotate", "run", "expose", "wait", "diff", "kustomize", "version", "api-resources", "cluster-info", "debug", "attach", "events":
				return
			}
		}
	case "helm":
		if has(rest[:min(len(rest), 2)], "uninstall", "delete", "del", "un") {
			say("uninstall removes a release and what belongs to it")
		}
	case "velero", "eksctl", "kops", "argocd", "flux":
		if has(rest[:min(len(rest), 2)], "delete", "uninstall") {
			say("delete removes it for good")
		}
	case "nomad":
		if has(rest, "stop", "purge") && (hasLong(flags, "-purge", "--purge") || has(rest, "system")) {
			say("purges a job")
		}
	}
}

// namedPods: a pod that is deleted by its name comes back at once; people do it
// all day to restart something.
func namedPods(r *shell.Run, flags, rest []shell.Word) bool {
	if viaXargs(r) || hasLong(flags, "--all", "--all-namespaces", "--selector", "--field-selector", "--filename", "--kustomize") || has(flags, "-A", "-l", "-f", "-k", "-R") {
		return false
	}
	for _, f := range flags {
		if len(f.Text) > 2 && (strings.HasPrefix(f.Text, "-l") || strings.HasPrefix(f.Text, "-f")) {
			return false
		}
	}
	for i, w := range rest {
		if w.Text != "delete" {
			continue
		}
		kinds := rest[i+1:]
		if len(kinds) == 0 {
			return false
		}
		switch kinds[0].Text {
		case "pod", "pods", "po":
			return len(kinds) > 1
		}
		for _, k := range kinds {
			if !strings.HasPrefix(k.Text, "pod/") && !strings.HasPrefix(k.Text, "pods/") && !strings.HasPrefix(k.Text, "po/") {
				return false
			}
		}
		return true
	}
	return false
}

// phrases per program: the line's operands contain these words in this order.
var infraPhrases = map[string][]string{
	"terraform":  {"destroy", "state rm", "workspace delete", "apply -destroy", "force-unlock"},
	"tofu":       {"destroy", "state rm", "workspace delete", "apply -destroy", "force-unlock"},
	"terragrunt": {"destroy", "run-all destroy", "state rm", "destroy-all"},
	"pulumi":     {"destroy", "stack rm", "state delete", "down"},
	"cdk":        {"destroy"}, "cdktf": {"destroy"}, "serverless": {"remove"}, "sls": {"remove"}, "sam": {"delete"}, "sst": {"remove"},
	"amplify": {"delete"}, "copilot": {"app delete", "env delete", "svc delete"}, "vagrant": {"destroy"},
	"vercel": {"remove", "rm", "project rm", "env rm", "domains rm"}, "netlify": {"sites:delete", "env:unset"},
	"heroku": {"apps:destroy", "pg:reset", "addons:destroy", "apps:delete"}, "fly": {"apps destroy", "destroy", "volumes destroy", "machine destroy", "postgres destroy"},
	"flyctl": {"apps destroy", "destroy", "volumes destroy", "machine destroy"}, "railway": {"down", "delete"},
	"firebase": {"firestore:delete", "database:remove", "hosting:disable", "functions:delete"}, "wrangler": {"delete", "d1 delete", "kv:namespace delete", "r2 bucket delete"},
	"supabase": {"db reset --linked", "projects delete", "branches delete"}, "prisma": {"migrate reset", "db push --force-reset"},
}

func infraRule(x *env, r *shell.Run) {
	args := r.Args()
	if isDryRun(args) || len(args) == 0 {
		return
	}
	line := strings.ToLower(joinArgs(args))
	operands := strings.ToLower(joinArgs(verbs(args)))
	if strings.HasPrefix(r.Name(), "t") && hasPhrase(line, "plan") {
		return // terraform plan -destroy only shows
	}
	for _, p := range infraPhrases[r.Name()] {
		hit := strings.HasPrefix(operands+" ", p+" ") || strings.HasPrefix(line+" ", p+" ") || hasPhrase(line, p) && (strings.Contains(p, " ") || p == "destroy")
		if !hit && strings.HasPrefix(p, "apply -destroy") {
			hit = strings.HasPrefix(operands, "apply") && (hasPhrase(line, "-destroy") || hasPhrase(line, "--destroy"))
		}
		if !hit && p == "db push --force-reset" {
			hit = strings.HasPrefix(operands, "db push") && hasPhrase(line, "--force-reset")
		}
		if hit {
			rule := "infra"
			if r.Name() == "prisma" || r.Name() == "supabase" && strings.HasPrefix(p, "db") {
				rule = "database"
			}
			x.f.add(rule, r.String(), fmt.Sprintf("%s %s takes things down for good", r.Name(), p))
			return
		}
	}
}

func cloudRule(x *env, r *shell.Run) {
	args := r.Args()
	if isDryRun(args) {
		return
	}
	flags, rest := splitFlags(args)
	say := func(what string) {
		x.f.add("cloud", r.String(), fmt.Sprintf("%s %s deletes cloud resources", r.Name(), what))
	}
	switch r.Name() {
	case "aws":
		if len(rest) == 0 {
			return
		}
		for _, v := range rest[:min(len(rest), 6)] {
			for _, p := range [...]string{"delete-", "terminate-", "deregister-", "purge-", "remove-", "batch-delete-", "destroy-", "schedule-key-deletion", "disable-key", "empty-bucket"} {
				if strings.HasPrefix(v.Text, p) {
					say(v.Text)
					return
				}
			}
		}
		if has(rest, "s3") {
			switch {
			case has(rest, "rb"):
				say("s3 rb")
			case has(rest, "rm") && hasLong(flags, "--recursive"):
				say("s3 rm --recursive")
			case has(rest, "sync") && hasLong(flags, "--delete"):
				say("s3 sync --delete")
			}
		}
	case "gsutil":
		if has(rest, "rb") || has(rest, "rm") && (hasShort(flags, 'r', 'R', 'a') || strings.Contains(joinArgs(rest), "*")) || has(rest, "rsync") && hasShort(flags, 'd') {
			say("rm")
		}
	case "bq":
		if has(rest, "rm") {
			say("rm")
		}
	case "gcloud":
		if has(rest, "delete", "destroy", "purge") || has(rest, "storage") && has(rest, "rm") {
			say("delete")
		}
	case "rclone":
		if len(rest) > 0 && has(rest[:1], "purge", "delete", "rmdirs", "cleanup") || len(rest) > 0 && rest[0].Text == "sync" && len(rest) > 2 && x.broad(x.place(rest[2], r)) != "" {
			say(rest[0].Text)
		}
	case "mc":
		if len(rest) > 0 && (rest[0].Text == "rb" || rest[0].Text == "rm" && (hasShort(flags, 'r') || hasLong(flags, "--recursive"))) {
			say(rest[0].Text)
		}
	case "s3cmd":
		if len(rest) > 0 && has(rest[:1], "rb", "del", "rm") {
			say(rest[0].Text)
		}
	default: // az, doctl, oci, hcloud …: one verb for all
		if has(rest, "delete", "purge", "destroy", "terminate", "server:delete") {
			say("delete")
		}
	}
}

func containerRule(x *env, r *shell.Run) {
	args := r.Args()
	if isDryRun(args) {
		return
	}
	flags, rest := splitFlags(args)
	say := func(what string) { x.f.add("containers", r.String(), fmt.Sprintf("%s %s", r.Name(), what)) }
	two := func(a, b string) bool { return len(rest) > 1 && rest[0].Text == a && rest[1].Text == b }
	switch {
	case two("system", "prune"):
		if hasShort(flags, 'a') || hasLong(flags, "--all", "--volumes") {
			say("system prune takes unused images and volumes with it")
		}
	case two("system", "reset"):
		say("system reset removes everything")
	case two("volume", "rm"), two("volume", "remove"), two("volume", "prune"):
		say("removes volumes and the data in them")
	case len(rest) > 0 && (rest[0].Text == "compose" && has(rest, "down", "rm") || r.Name() == "docker-compose" && has(rest, "down", "rm")):
		// down -v resets a development set-up, which is what compose is for.
		if has(flags, "--rmi=all") || has(flags, "--rmi") && has(rest, "all") {
			say("compose down --rmi all removes every image the project uses")
		}
	case len(rest) > 0 && (rest[0].Text == "rm" || rest[0].Text == "rmi" || rest[0].Text == "stop" || rest[0].Text == "kill" || two("container", "rm") || two("image", "rm")):
		for _, a := range rest {
			for i := a.From.Lo; i < a.From.Hi && i < len(x.script.Runs); i++ {
				from := &x.script.Runs[i]
				if from.Name() == r.Name() && !strings.Contains(joinArgs(from.Args()), "-f ") && !strings.Contains(joinArgs(from.Args()), "--filter") && rest[0].Text != "stop" {
					say(rest[0].Text + " of everything there is")
					return
				}
			}
		}
	case two("swarm", "leave") && hasLong(flags, "--force"), two("stack", "rm"):
		say("takes a swarm or stack down")
	}
}

var (
	sqlDrop     = regexp.MustCompile(`(?i)\b(drop\s+(database|schema|table|keyspace|user|role|owned|tablespace|collection|view|materialized\s+view|index)\b|truncate\s+(table\s+)?["\w` + "`" + `])`)
	sqlDelete   = regexp.MustCompile(`(?i)\bdelete\s+from\s+["\w.` + "`" + `\[\]]+\s*(;|$)`)
	sqlUpdate   = regexp.MustCompile(`(?i)\balter\s+table\s+\S+\s+drop\b`)
	mongoDrop   = regexp.MustCompile(`(?i)(dropDatabase\s*\(|\.drop\s*\(|deleteMany\s*\(\s*(\{\s*\})?\s*\)|\.remove\s*\(\s*\{\s*\}\s*\))`)
	manageTasks = []string{"db:drop", "db:reset", "db:wipe", "migrate:fresh", "migrate:reset", "db:schema:load", "ecto.drop", "ecto.reset", "db:drop:all", "schema:drop", "db:purge", "db:migrate:reset", "db:truncate_all"}
)

// sqlText is everything a database client may take as statements.
func (x *env) sqlText(r *shell.Run) string {
	var b strings.Builder
	for _, a := range r.Args() {
		b.WriteString(a.Text)
		b.WriteByte('\n')
	}
	if r.HasInput {
		b.WriteString(r.Input.Text)
	}
	for i := r.From.Lo; i < r.From.Hi && i < len(x.script.Runs); i++ {
		from := &x.script.Runs[i]
		if n := from.Name(); n == "echo" || n == "printf" || n == "cat" {
			b.WriteString(joinArgs(from.Args()))
			b.WriteByte('\n')
			if from.HasInput {
				b.WriteString(from.Input.Text)
			}
		}
	}
	return b.String()
}

// production reports whether something says that this is not a development
// database: the environment, an option, or that it happens on another machine.
func (x *env) production(r *shell.Run) bool {
	if r.Remote {
		return true
	}
	names := func(s string) bool {
		l := strings.ToLower(s)
		return strings.Contains(l, "prod") && !strings.Contains(l, "product") || strings.Contains(l, "production") || l == "live"
	}
	for _, a := range r.Args() {
		if names(a.Text) || strings.HasPrefix(a.Text, "DISABLE_DATABASE_ENVIRONMENT_CHECK=") {
			return true
		}
	}
	for i := range x.script.Runs {
		// Assignments on lines of their own, and exports, last.
		other := &x.script.Runs[i]
		if other != r && len(other.Argv) > 0 && other.Name() != "export" && other.Name() != "declare" {
			continue
		}
		for _, a := range other.Assigns {
			if names(a.Value.Text) || a.Name == "DISABLE_DATABASE_ENVIRONMENT_CHECK" {
				return true
			}
		}
	}
	return false
}

func databaseRule(x *env, r *shell.Run) {
	args := r.Args()
	say := func(what string) { x.f.add("database", r.String(), fmt.Sprintf("%s %s", r.Name(), what)) }
	name := r.Name()
	switch name {
	case "dropdb", "dropuser":
		if !has(args, "--help", "-h", "--version") || len(args) > 1 && name == "dropdb" && has(args, "-h") {
			say("deletes a database or user")
		}
		return
	case "mysqladmin":
		if has(args, "drop") {
			say("drop deletes a database")
		}
		return
	case "redis-cli", "valkey-cli":
		text := strings.ToLower(x.sqlText(r))
		if strings.Contains(text, "flushall") || strings.Contains(text, "flushdb") {
			say("empties the database")
		}
		return
	case "mongo", "mongosh":
		if mongoDrop.MatchString(x.sqlText(r)) {
			say("drops a database or collection")
		}
		return
	case "rails", "rake", "artisan", "php", "mix", "sequelize", "knex", "typeorm", "python", "python3":
		for _, a := range args {
			for _, t := range manageTasks {
				if a.Text == t && x.production(r) {
					say(t + " empties a production database")
					return
				}
			}
		}
		if strings.HasPrefix(name, "python") && len(args) > 1 && strings.HasSuffix(args[0].Text, "manage.py") && has(args[1:2], "flush", "reset_db") && x.production(r) {
			say(args[1].Text + " empties a production database")
		}
		if name == "knex" && has(args, "migrate:rollback") && has(args, "--all") {
			say("rolls every migration back")
		}
		return
	case "alembic":
		if has(args, "downgrade") && has(args, "base") {
			say("downgrade base rolls every migration back")
		}
		return
	case "flyway", "liquibase":
		if has(args, "clean", "drop-all", "dropAll") {
			say("drops every object of the schema")
		}
		return
	case "drizzle-kit":
		if has(args, "drop") {
			say("drops migrations")
		}
		return
	case "influx":
		if has(args, "delete") {
			say("delete removes data")
		}
		return
	case "curl":
		line := joinArgs(args)
		if strings.Contains(line, "DELETE") && (strings.Contains(line, ":9200/_all") || strings.Contains(line, ":9200/*")) {
			say("deletes every search index")
		}
		return
	}
	text := x.sqlText(r)
	switch {
	case sqlDrop.MatchString(text):
		say("drops or empties database objects")
	case sqlDelete.MatchString(text):
		say("deletes every row of a table")
	case sqlUpdate.MatchString(text):
		say("drops a column")
	}
}

func remoteRule(x *env, r *shell.Run) {
	args := r.Args()
	if isDryRun(args) {
		return
	}
	_, rest := splitFlags(args)
	if len(rest) == 0 {
		return
	}
	line := joinArgs(rest)
	say := func(what string) {
		x.f.add("remote", r.String(), fmt.Sprintf("%s %s", r.Name(), what))
	}
	switch r.Name() {
	case "gh", "glab", "hub":
		if len(rest) > 1 && (rest[1].Text == "delete" || rest[1].Text == "archive" && rest[0].Text == "repo" || r.Name() == "hub" && rest[0].Text == "delete") {
			say(rest[0].Text + " " + rest[1].Text + " removes it for everyone")
		}
		if rest[0].Text == "api" && (has(args, "DELETE") || strings.Contains(joinArgs(args), "-XDELETE") || strings.Contains(joinArgs(args), "--method=DELETE")) {
			say("api DELETE removes it for everyone")
		}
	case "npm", "pnpm", "yarn", "lerna":
		if has(rest[:min(len(rest), 2)], "unpublish") || strings.HasPrefix(line, "owner rm") || strings.HasPrefix(line, "access revoke") {
			say("unpublish takes a package away from everyone")
		}
	case "gem", "cargo":
		if rest[0].Text == "yank" || strings.HasPrefix(line, "owner --remove") {
			say("yank takes a published version away")
		}
	case "nuget", "dotnet", "vsce":
		if rest[0].Text == "unpublish" || strings.HasPrefix(line, "nuget delete") || r.Name() == "nuget" && rest[0].Text == "delete" {
			say("takes a published package away")
		}
	}
}
