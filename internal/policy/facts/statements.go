package facts

import (
	"strings"

	"github.com/hookmux/hookmux/internal/guard/inspect"
	"github.com/hookmux/hookmux/internal/platform/lazyregexp"
	"github.com/hookmux/hookmux/internal/shell"
	"github.com/hookmux/hookmux/internal/shell/foreign"
)

// databaseClients are programs that are given statements, by their language.
var databaseClients = map[string]string{
	"psql": "sql", "mysql": "sql", "mariadb": "sql", "sqlite3": "sql", "duckdb": "sql", "sqlcmd": "sql",
	"usql":  "sql",
	"pgcli": "sql", "mycli": "sql", "litecli": "sql", "clickhouse-client": "sql", "clickhouse": "sql",
	"cockroach": "sql",
	"cqlsh":     "sql", "trino": "sql", "presto": "sql", "snowsql": "sql", "bq": "sql", "sqlplus": "sql",
	"mssql-cli": "sql",
	"wrangler":  "sql", "turso": "sql", "supabase": "sql", "pscale": "sql", "beeline": "sql", "athena": "sql",
	"osqlcmd": "sql",
	"isql":    "sql", "tsql": "sql", "prisma": "sql", "heroku": "sql", "snow": "sql", "vsql": "sql", "hive": "sql",
	"influx": "sql", "ysqlsh": "sql", "db2": "sql", "ksql": "sql", "mongosh": "mongo", "mongo": "mongo",
	"redis-cli": "redis", "valkey-cli": "redis", "keydb-cli": "redis",
}

var (
	sqlComment = lazyregexp.New(`(?s)/\*.*?\*/|--[^\n]*`)
	// /*!50000 drop */ is run by MySQL; 'dr'||'op' is one text.
	sqlRunComment = lazyregexp.New(`(?s)/\*!\d*(.*?)\*/`)
	sqlJoin       = lazyregexp.New(`'\s*\|\|\s*'`)
	mongoNamed    = lazyregexp.New(`\[\s*["'](\w+)["']\s*\]\s*\(`)
	sqlText       = lazyregexp.New(`'(?:[^']|'')*'`)
	sqlCondition  = lazyregexp.New(`\bwhere\b`)
	sqlAlwaysTrue = lazyregexp.New(
		`\bwhere\s+(?:\(?\s*)?(?:true|1|''\s*=\s*''|1\s*=\s*1|0\s*=\s*0|not\s+false|1\s*<>\s*0|id\s+is\s+not\s+null|1\s*!=\s*0)\s*\)?\s*$`)
	sqlNested    = lazyregexp.New(`\b(?:drop|truncate)\s+(?:table|database|schema|view|index|column|role|user|owned)\b`)
	mongoDrops   = lazyregexp.New(`(?i)\.(?:drop|dropdatabase|dropindexes|dropindex|dropuser|dropallusers\w*)\s*\(`)
	mongoEmpties = lazyregexp.New(`(?i)\.(?:deletemany|remove|deleteone|bulkwrite)\s*\(\s*(?:\{\s*\})?\s*[,)]`)
	mongoWrites  = lazyregexp.New(`(?i)\.(?:insert\w*|update\w*|replace\w*|delete\w*|remove|create\w*|rename\w*|save)\s*\(`)
)

// statementsOf says what a database client is told to do, each kind once.
func statementsOf(c *Command, r *shell.Run, scope *inspect.Scope) []string {
	language, ok := databaseClients[c.Program]
	if !ok {
		for _, o := range c.operands {
			ok = ok || o.Text == "dbshell" || o.Text == "dbconsole" || o.Text == "db:console"
		}
		language = "sql"
	}
	if !ok {
		return nil
	}
	var out []string
	add := func(kind string) {
		for _, k := range out {
			if k == kind {
				return
			}
		}
		out = append(out, kind)
	}
	text := scope.StatementText(r)
	switch language {
	case "sql":
		for _, part := range strings.Split(text, "\n") {
			if file, ok := cutOption(part, "-f", "--file", "-i"); ok && file == "" {
				add("file")
			}
		}
		for _, statement := range splitStatements(text) {
			if kind := kindOfSQL(statement); kind != "" {
				add(kind)
			}
		}
	case "mongo":
		text = mongoNamed.ReplaceAllString(foreign.JoinLiterals(text), ".$1(")
		switch {
		case mongoDrops.MatchString(text):
			add("drop")
		case mongoEmpties.MatchString(text):
			add("delete-all")
		case mongoWrites.MatchString(text):
			add("write")
		}
	case "redis":
		lower := strings.ToLower(strings.ReplaceAll(text, "\n", " "))
		for _, word := range strings.Fields(lower) {
			switch word {
			case "flushall", "flushdb":
				add("drop")
			case "del", "unlink", "set", "hset", "hdel", "config", "script", "debug", "shutdown", "replicaof",
				"slaveof", "mset", "expire", "rename", "lpush", "rpush", "sadd", "zadd", "incr", "restore", "migrate":
				add("write")
			}
		}
		if strings.Contains(lower, "flushall") || strings.Contains(lower, "flushdb") {
			add("drop")
		}
	}
	for _, rd := range r.Redirects {
		if rd.Reads() && !strings.HasPrefix(rd.Op, "<<") {
			add("file")
		}
	}
	return out
}

// splitStatements are the statements in what a client is given, in small letters,
// without comments and without what stands in quotes.
func splitStatements(text string) []string {
	text = sqlJoin.ReplaceAllString(strings.ToLower(text), "")
	text = sqlRunComment.ReplaceAllString(text, " $1 ")
	if !strings.Contains(text, "exec") && !strings.Contains(text, "prepare") {
		text = sqlText.ReplaceAllString(text, "''")
	}
	text = sqlComment.Compiled().ReplaceAllStringFunc(text, func(comment string) string {
		if strings.HasPrefix(comment, "--") && len(comment) > 2 && comment[2] != ' ' {
			return comment // an option
		}
		return " "
	})
	return strings.Split(text, ";")
}

// sqlVerbs are the first words of statements.
var sqlVerbs = lazyregexp.New(`(?:^|[\s"'(=]|\bbegin\s|-[ceq])(drop|truncate|delete|update|insert|replace|merge|copy|load|alter|create|` +
	`permission|revoke|vacuum|reindex|select|with|show|describe|explain|exec|execute|restore|call|import)\b`)

// kindOfSQL is what one statement does, "" for anything else.
func kindOfSQL(s string) string {
	m := sqlVerbs.Compiled().FindStringSubmatchIndex(s)
	if m == nil {
		return ""
	}
	verb, rest := s[m[2]:m[3]], strings.TrimSpace(s[m[3]:])
	if (verb == "exec" || verb == "execute" || verb == "with" || verb == "create" || verb == "explain") &&
		sqlNested.MatchString(rest) {
		return "drop"
	}
	switch verb {
	case "drop":
		return "drop"
	case "truncate":
		return "truncate"
	case "delete", "update":
		if verb == "delete" && !strings.HasPrefix(rest, "from") && !strings.HasPrefix(rest, "top") {
			return ""
		}
		if verb == "update" && !strings.Contains(rest, "set") {
			return ""
		}
		if !sqlCondition.MatchString(rest) || sqlAlwaysTrue.MatchString(strings.TrimRight(rest, " \n\t\"')")) {
			return verb + "-all"
		}
		return "write"
	case "insert", "replace", "merge", "copy", "load", "import", "call", "exec", "execute", "create":
		return "write"
	case "alter":
		if sqlNested.MatchString(rest) || strings.Contains(rest, "drop ") {
			return "drop"
		}
		return "alter"
	case "grant", "revoke":
		return "grant"
	case "restore":
		return "restore"
	}
	return "read"
}

// cutOption takes the value off an option that is glued to it.
func cutOption(word string, options ...string) (value string, ok bool) {
	for _, o := range options {
		if word == o {
			return "", true
		}
		if v, found := strings.CutPrefix(word, o+"="); found {
			return v, true
		}
	}
	return "", false
}
