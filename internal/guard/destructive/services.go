package destructive

import (
	"fmt"
	"strings"

	"github.com/hookmux/hookmux/internal/guard/inspect"
	"github.com/hookmux/hookmux/internal/platform/lazyregexp"
	"github.com/hookmux/hookmux/internal/shell"
)

func isDryRun(args []shell.Word) bool {
	for _, a := range args {
		t := a.Text
		if t == "--dry-run" || t == "--dryrun" || t == "--help" || t == "-h" || t == "-help" || t == "help" ||
			strings.HasPrefix(t, "--dry-run=") && t != "--dry-run=none" {
			return true
		}
	}
	return false
}

// operandsOf are the leading operands of a command line, options left out.
func operandsOf(args []shell.Word) []shell.Word {
	_, rest := inspect.SplitFlags(args)
	return rest
}

func clusterRule(x *scope, r *shell.Run) {
	args := r.Args()
	if isDryRun(args) {
		return
	}
	flags, rest := inspect.SplitFlags(args)
	say := func(what string) { x.Report.Add("cluster", r.String(), fmt.Sprintf("%s %s", r.Name(), what)) }
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
				if inspect.HasLong(flags, "--force") {
					say("replace --force deletes and recreates resources")
				}
				return
			case "scale":
				if inspect.HasWord(args, "--replicas=0") || strings.Contains(inspect.JoinArgs(args), "--replicas 0") {
					say("scale to 0 stops the workload")
				}
				return
			case "get", "describe", "logs", "apply", "exec", "config", "create", "explain", "rollout", "port-forward",
				"top",
				"auth", "cp", "edit", "patch", "label", "annotate", "run", "expose", "wait", "diff", "kustomize",
				"version",
				"api-resources", "cluster-info", "debug", "attach", "events":
				return
			}
		}
	case "helm":
		if inspect.HasWord(rest[:min(len(rest), 2)], "uninstall", "delete", "del", "un") {
			say("uninstall removes a release and what belongs to it")
		}
	case "velero", "eksctl", "kops", "argocd", "flux":
		if inspect.HasWord(rest[:min(len(rest), 2)], "delete", "uninstall") {
			say("delete removes it for good")
		}
	case "nomad":
		if inspect.HasWord(rest, "stop", "purge") &&
			(inspect.HasLong(flags, "-purge", "--purge") || inspect.HasWord(rest,
				"system")) {
			say("purges a job")
		}
	}
}

// namedPods reports whether only pods are deleted, each by its name. Such a pod comes
// back at once; people do it all day to restart something.
func namedPods(r *shell.Run, flags, rest []shell.Word) bool {
	if inspect.ViaXargs(r) || inspect.HasLong(flags, "--all", "--all-namespaces", "--selector", "--field-selector",
		"--filename", "--kustomize") || inspect.HasWord(flags, "-A", "-k", "-R") {
		return false
	}
	for _, f := range flags {
		if strings.HasPrefix(f.Text, "-l") || strings.HasPrefix(f.Text, "-f") {
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
		case "pod", "pods", "po", "job", "jobs", "event", "events", "rs", "replicaset", "replicasets":
			return len(kinds) > 1
		}
		for _, k := range kinds {
			switch kind, _, named := strings.Cut(k.Text, "/"); kind {
			case "pod", "pods", "po", "job", "jobs", "jobs.batch", "job.batch":
				if !named {
					return false
				}
			default:
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
	"cdk":        {"destroy"}, "cdktf": {"destroy"}, "serverless": {"remove"}, "sls": {"remove"}, "sam": {"delete"},
	"sst":     {"remove"},
	"amplify": {"delete"}, "copilot": {"app delete", "env delete", "svc delete"}, "vagrant": {"destroy"},
	"vercel": {"remove", "rm", "project rm", "env rm", "domains rm"}, "netlify": {"sites:delete", "env:unset"},
	"heroku": {"apps:destroy", "pg:reset", "addons:destroy", "apps:delete"}, "fly": {"apps destroy", "destroy",
		"volumes destroy", "machine destroy", "postgres destroy"},
	"flyctl": {"apps destroy", "destroy", "volumes destroy", "machine destroy"}, "railway": {"down", "delete"},
	"firebase": {"firestore:delete", "database:remove", "hosting:disable", "functions:delete"}, "wrangler": {"delete",
		"d1 delete", "kv:namespace delete", "r2 bucket delete"},
	"supabase": {"db reset --linked", "projects delete", "branches delete"}, "prisma": {"migrate reset",
		"db push --force-reset"},
}

func infraRule(x *scope, r *shell.Run) {
	args := r.Args()
	if isDryRun(args) || len(args) == 0 {
		return
	}
	line := strings.ToLower(inspect.JoinArgs(args))
	operands := strings.ToLower(inspect.JoinArgs(operandsOf(args)))
	if strings.HasPrefix(r.Name(), "t") && inspect.HasPhrase(line, "plan") {
		return // terraform plan -destroy only shows
	}
	for _, p := range infraPhrases[r.Name()] {
		if isSaid(p, operands, line) {
			rule := "infra"
			if r.Name() == "prisma" || r.Name() == "supabase" && strings.HasPrefix(p, "db") {
				rule = "database"
			}
			x.Report.Add(rule, r.String(), fmt.Sprintf("%s %s takes things down for good", r.Name(), p))
			return
		}
	}
}

// isSaid reports whether a line says a phrase: its words are the first operands, and its options are given somewhere,
// with one dash or two. Phrases of several words, and "destroy", count wherever they stand.
func isSaid(phrase, operands, line string) bool {
	if inspect.HasPhrase(line, phrase) && (strings.Contains(phrase, " ") || phrase == "destroy") {
		return true
	}
	said := ""
	for _, word := range strings.Fields(phrase) {
		if !strings.HasPrefix(word, "-") {
			said += word + " "
		} else if !inspect.HasPhrase(line, word) && !inspect.HasPhrase(line, "-"+word) {
			return false
		}
	}
	return strings.HasPrefix(operands+" ", said)
}

func cloudRule(x *scope, r *shell.Run) {
	args := r.Args()
	if isDryRun(args) {
		return
	}
	flags, rest := inspect.SplitFlags(args)
	say := func(what string) {
		x.Report.Add("cloud", r.String(), fmt.Sprintf("%s %s deletes cloud resources", r.Name(), what))
	}
	switch r.Name() {
	case "aws":
		if len(rest) == 0 {
			return
		}
		for _, v := range rest[:min(len(rest), 6)] {
			for _, p := range [...]string{"delete-", "terminate-", "deregister-", "purge-", "remove-",
				"batch-delete-",
				"destroy-", "schedule-key-deletion", "disable-key", "empty-bucket"} {
				if strings.HasPrefix(v.Text, p) {
					say(v.Text)
					return
				}
			}
		}
		if inspect.HasWord(rest, "s3") {
			switch {
			case inspect.HasWord(rest, "rb"):
				say("s3 rb")
			case inspect.HasWord(rest, "rm") && inspect.HasLong(flags, "--recursive"):
				say("s3 rm --recursive")
			case inspect.HasWord(rest, "sync") && inspect.HasLong(flags, "--delete"):
				say("s3 sync --delete")
			}
		}
	case "gsutil":
		if inspect.HasWord(rest, "rb") || inspect.HasWord(rest, "rm") && (inspect.HasShort(flags, 'r', 'R', 'a') ||
			strings.Contains(inspect.JoinArgs(rest), "*")) ||
			inspect.HasWord(rest, "rsync") && inspect.HasShort(flags, 'd') {
			say("rm")
		}
	case "bq":
		if inspect.HasWord(rest, "rm") {
			say("rm")
		}
	case "gcloud":
		if inspect.HasWord(rest, "delete", "destroy", "purge") ||
			inspect.HasWord(rest, "storage") && inspect.HasWord(rest,
				"rm") {
			say("delete")
		}
	case "rclone":
		if len(rest) > 0 && inspect.HasWord(rest[:1], "purge", "delete", "rmdirs", "cleanup") || len(rest) > 0 &&
			rest[0].Text == "sync" && len(rest) > 2 && (x.WhyBroad(x.ResolveWord(rest[2], r)) != inspect.NotBroad ||
			x.copiesNothing(rest[1:2], r)) {
			say(rest[0].Text)
		}
	case "mc":
		if len(rest) > 0 && (rest[0].Text == "rb" || rest[0].Text == "rm" && (inspect.HasShort(flags, 'r') ||
			inspect.HasLong(flags, "--recursive"))) {
			say(rest[0].Text)
		}
	case "s3cmd":
		if len(rest) > 0 && inspect.HasWord(rest[:1], "rb", "del", "rm") {
			say(rest[0].Text)
		}
	default: // az, doctl, oci, hcloud …: one verb for all
		if inspect.HasWord(rest, "delete", "purge", "destroy", "terminate", "server:delete") {
			say("delete")
		}
	}
}

func containerRule(x *scope, r *shell.Run) {
	args := r.Args()
	if isDryRun(args) {
		return
	}
	flags, rest := inspect.SplitFlags(args)
	say := func(what string) { x.Report.Add("containers", r.String(), fmt.Sprintf("%s %s", r.Name(), what)) }
	two := func(a, b string) bool { return len(rest) > 1 && rest[0].Text == a && rest[1].Text == b }
	switch {
	case two("system", "prune"):
		if inspect.HasShort(flags, 'a') || inspect.HasLong(flags, "--all", "--volumes") {
			say("system prune takes unused images and volumes with it")
		}
	case two("system", "reset"):
		say("system reset removes everything")
	case two("volume", "rm"), two("volume", "remove"), two("volume", "prune"):
		say("removes volumes and the data in them")
	case len(rest) > 0 && (rest[0].Text == "compose" && inspect.HasWord(rest, "down", "rm") ||
		r.Name() == "docker-compose" && inspect.HasWord(rest, "down", "rm")):
		if inspect.HasWord(rest, "down") && (inspect.HasShort(flags, 'v') || inspect.HasLong(flags, "--volumes")) {
			say("compose down -v removes the project's volumes and the data in them")
		}
		if inspect.HasWord(flags, "--rmi=all") || inspect.HasWord(flags, "--rmi") && inspect.HasWord(rest, "all") {
			say("compose down --rmi all removes every image the project uses")
		}
	case len(rest) > 0 && (rest[0].Text == "rm" || rest[0].Text == "rmi" || rest[0].Text == "stop" ||
		rest[0].Text == "kill" || two("container", "rm") || two("image", "rm")):
		for _, a := range rest {
			for _, from := range x.RunsIn(a.From) {
				if from.Name() == r.Name() && !strings.Contains(inspect.JoinArgs(from.Args()), "-f ") &&
					!strings.Contains(inspect.JoinArgs(from.Args()), "--filter") && rest[0].Text != "stop" {
					say(rest[0].Text + " of everything there is")
					return
				}
			}
		}
	case two("swarm", "leave") && inspect.HasLong(flags, "--force"), two("stack", "rm"):
		say("takes a swarm or stack down")
	}
}

var (
	sqlDrop = lazyregexp.New(`(?i)\b(drop\s+(database|schema|table|keyspace|user|role|owned|tablespace|` +
		`collection|view|materialized\s+view|index)\b|truncate\s+(table\s+)?["\w` + "`" + `])`)
	// What stands in a string of SQL is data, where nothing runs strings.
	sqlString = lazyregexp.New(`'[^'\n]*'`)
	sqlDelete = lazyregexp.New(`(?i)\bdelete\s+from\s+["\w.` + "`" + `\[\]]+\s*(;|$)`)
	sqlUpdate = lazyregexp.New(`(?i)\balter\s+table\s+\S+\s+drop\b`)
	mongoDrop = lazyregexp.New(`(?i)(dropDatabase\s*\(|\.drop\s*\(|deleteMany\s*\(\s*(\{\s*\})?\s*\)|` +
		`\.remove\s*\(\s*\{\s*\}\s*\))`)
	manageTasks = []string{"db:drop", "db:reset", "db:wipe", "migrate:fresh", "migrate:reset", "db:schema:load",
		"ecto.drop", "ecto.reset", "db:drop:all", "schema:drop", "db:purge", "db:migrate:reset", "db:truncate_all"}
)

// isProduction reports whether something says that this is not a development
// database: the environment, an option, or that it happens on another machine.
func (x *scope) isProduction(r *shell.Run) bool {
	if r.Remote {
		return true
	}
	names := func(s string) bool {
		l := strings.ToLower(s)
		return strings.Contains(l, "prod") && !strings.Contains(l, "product") || strings.Contains(l, "production") ||
			l == "live"
	}
	for _, a := range r.Args() {
		if names(a.Text) || strings.HasPrefix(a.Text, "DISABLE_DATABASE_ENVIRONMENT_CHECK=") {
			return true
		}
	}
	for i := range x.Script.Runs {
		// Assignments on lines of their own, and exports, last.
		other := &x.Script.Runs[i]
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

func databaseRule(x *scope, r *shell.Run) {
	args := r.Args()
	say := func(what string) { x.Report.Add("database", r.String(), fmt.Sprintf("%s %s", r.Name(), what)) }
	name := r.Name()
	switch name {
	case "dropdb", "dropuser":
		if !inspect.HasWord(args, "--help", "-h", "--version") ||
			len(args) > 1 && name == "dropdb" && inspect.HasWord(args,
				"-h") {
			say("deletes a database or user")
		}
		return
	case "mysqladmin":
		if inspect.HasWord(args, "drop") {
			say("drop deletes a database")
		}
		return
	case "redis-cli", "valkey-cli":
		text := strings.ToLower(x.StatementText(r))
		if strings.Contains(text, "flushall") || strings.Contains(text, "flushdb") {
			say("empties the database")
		}
		return
	case "mongo", "mongosh":
		if mongoDrop.MatchString(x.StatementText(r)) {
			say("drops a database or collection")
		}
		return
	case "rails", "rake", "artisan", "php", "mix", "sequelize", "knex", "typeorm", "python", "python3":
		for _, a := range args {
			for _, t := range manageTasks {
				if a.Text == t && x.isProduction(r) {
					say(t + " empties a production database")
					return
				}
			}
		}
		if strings.HasPrefix(name, "python") && len(args) > 1 && strings.HasSuffix(args[0].Text, "manage.py") &&
			inspect.HasWord(args[1:2], "flush", "reset_db") && x.isProduction(r) {
			say(args[1].Text + " empties a production database")
		}
		if name == "knex" && inspect.HasWord(args, "migrate:rollback") && inspect.HasWord(args, "--all") {
			say("rolls every migration back")
		}
		return
	case "alembic":
		if inspect.HasWord(args, "downgrade") && inspect.HasWord(args, "base") {
			say("downgrade base rolls every migration back")
		}
		return
	case "flyway", "liquibase":
		if inspect.HasWord(args, "clean", "drop-all", "dropAll") {
			say("drops every object of the schema")
		}
		return
	case "drizzle-kit":
		if inspect.HasWord(args, "drop") {
			say("drops migrations")
		}
		return
	case "influx":
		if inspect.HasWord(args, "delete") {
			say("delete removes data")
		}
		return
	case "curl":
		line := inspect.JoinArgs(args)
		if strings.Contains(line, "DELETE") && (strings.Contains(line, ":9200/_all") ||
			strings.Contains(line, ":9200/*")) {
			say("deletes every search index")
		}
		return
	}
	text := x.StatementText(r)
	if lower := strings.ToLower(text); !strings.Contains(lower, "exec") && !strings.Contains(lower, "prepare") &&
		!strings.Contains(lower, "program") {
		text = sqlString.ReplaceAllString(text, "''")
	}
	switch {
	case sqlDrop.MatchString(text):
		say("drops or empties database objects")
	case sqlDelete.MatchString(text):
		say("deletes every row of a table")
	case sqlUpdate.MatchString(text):
		say("drops a column")
	}
}

func remoteRule(x *scope, r *shell.Run) {
	args := r.Args()
	if isDryRun(args) {
		return
	}
	_, rest := inspect.SplitFlags(args)
	if len(rest) == 0 {
		return
	}
	line := inspect.JoinArgs(rest)
	say := func(what string) {
		x.Report.Add("remote", r.String(), fmt.Sprintf("%s %s", r.Name(), what))
	}
	switch r.Name() {
	case "gh", "glab", "hub":
		if len(rest) > 1 && (rest[1].Text == "delete" || rest[1].Text == "archive" && rest[0].Text == "repo" ||
			r.Name() == "hub" && rest[0].Text == "delete") {
			say(rest[0].Text + " " + rest[1].Text + " removes it for everyone")
		}
		if rest[0].Text == "api" && (inspect.HasWord(args, "DELETE") || strings.Contains(inspect.JoinArgs(args),
			"-XDELETE") || strings.Contains(inspect.JoinArgs(args), "--method=DELETE")) {
			say("api DELETE removes it for everyone")
		}
	case "npm", "pnpm", "yarn", "lerna":
		if inspect.HasWord(rest[:min(len(rest), 2)], "unpublish") || strings.HasPrefix(line, "owner rm") ||
			strings.HasPrefix(line, "access revoke") {
			say("unpublish takes a package away from everyone")
		}
	case "gem", "cargo":
		if rest[0].Text == "yank" || strings.HasPrefix(line, "owner --remove") {
			say("yank takes a published version away")
		}
	case "nuget", "dotnet", "vsce":
		if rest[0].Text == "unpublish" || strings.HasPrefix(line, "nuget delete") || r.Name() == "nuget" &&
			rest[0].Text == "delete" {
			say("takes a published package away")
		}
	}
}
