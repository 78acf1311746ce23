package facts

import (
	"slices"
	"strings"

	"github.com/hookmux/hookmux/internal/platform/lazyregexp"
	"github.com/hookmux/hookmux/internal/policy/shell"
	"github.com/hookmux/hookmux/internal/policy/shell/foreign"
)

var (
	sqlComment = lazyregexp.New(`(?s)/\*.*?\*/|--[^\n]*`)
	// /*!50000 drop */ is run by MySQL; 'dr'||'op' is one text.
	sqlRunComment = lazyregexp.New(`(?s)/\*!\d*(.*?)\*/`)
	sqlJoin       = lazyregexp.New(`'\s*\|\|\s*'`)
	mongoNamed    = lazyregexp.New(`\[\s*["'](\w+)["']\s*\]\s*\(`)
	sqlText       = lazyregexp.New(`'(?:[^']|'')*'`)
	sqlCondition  = lazyregexp.New(`\bwhere\b`)
	sqlAlwaysTrue = lazyregexp.New(
		`\bwhere\s+(?:\(?\s*)?(?:true|1|''\s*=\s*''|1\s*=\s*1|0\s*=\s*0|not\s+false|1\s*<>\s*0|id\s+is\s+not\s+null|id\s*>=?\s*0|1\s*!=\s*0)\s*\)?(?:\s+[a-z_][\w.-]*)?\s*$`)
	sqlNested = lazyregexp.New(`\b(?:drop|truncate)\s+(?:table|database|schema|view|index|column|role|user|owned)\b`)
	// with x as (delete from users returning *): no condition
	sqlNestedDelete = lazyregexp.New(`\(\s*delete\s+from\s+[\w."]+\s*(?:returning\b|\))`)
	mongoDrops      = lazyregexp.New(`(?i)\.(?:drop|dropdatabase|dropindexes|dropindex|dropuser|dropallusers\w*)\s*\(`)
	mongoEmpties    = lazyregexp.New(`(?i)\.(?:deletemany|remove|deleteone|bulkwrite)\s*\(\s*(?:\{\s*\})?\s*[,)]`)
	mongoWrites     = lazyregexp.New(`(?i)\.(?:insert\w*|update\w*|replace\w*|delete\w*|remove|create\w*|rename\w*|save)\s*\(`)
)

// statementsOf returns the kinds of statements a database client is given, each kind once.
func statementsOf(c *Command, r *shell.Run, scope *Scope) []string {
	language := scope.Script.Programs.Of(c.Program).Language
	ok := language != ""
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
		case called.MatchString(text) && !callsUnknown(text, mongoReads):
			add("read")
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
		if len(out) == 0 && !r.HasInput && r.From.Empty() && slices.Contains(redisReads, strings.ToLower(c.Subcommand)) {
			add("read")
		}
	}
	for _, rd := range r.Redirects {
		if rd.Reads() && !strings.HasPrefix(rd.Op, "<<") {
			add("file")
		}
	}
	return out
}

// splitStatements returns the statements in what a client is given, in lower case, without
// comments and quoted text.
func splitStatements(text string) []string {
	text = sqlJoin.ReplaceAllString(strings.ToLower(text), "")
	text = sqlRunComment.ReplaceAllString(text, " $1 ")
	if !strings.Contains(text, "exec") && !strings.Contains(text, "prepare") && !strings.Contains(text, "do '") {
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
	`grant|revoke|vacuum|reindex|select|with|show|describe|explain|exec|execute|restore|call|import)\b`)

// kindOfSQL returns what one statement does, "" for anything else.
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
	switch {
	case sqlNestedDelete.MatchString(s):
		return "delete-all"
	case verb == "show" || verb == "describe":
		return "read"
	case sqlChanges.MatchString(s):
		return "write" // with x as (delete …), explain analyze delete, select … into
	case strings.Contains(s, `\`) || callsUnknown(s, sqlFunctions):
		return "call" // psql's \!, or a function that may do anything
	}
	return "read"
}

var (
	sqlChanges = lazyregexp.New(`\b(delete|update|insert|merge|drop|truncate|alter|create|grant|revoke|into|call|copy|` +
		`lock|execute|exec|program|vacuum|reindex|restore|import|load)\b`)
	called = lazyregexp.New(`(\w+)\s*\(`)
	// sqlFunctions are words before a bracket that change nothing.
	sqlFunctions = strings.Fields(`count sum avg min max coalesce now date_trunc lower upper length round cast extract
		distinct in exists and or not values filter over as from where any all on using by select interval to_char date
		trim left right json_agg array_agg string_agg group_concat row_number rank nullif substring substr concat abs
		version when then else current_database pg_size_pretty pg_database_size pg_total_relation_size
		pg_relation_size unnest generate_series analyze explain between like union limit year month day datediff
		date_sub ifnull floor ceil json_extract age`)
	mongoReads = strings.Fields(`find findone countdocuments estimateddocumentcount count distinct limit sort skip
		explain stats getindexes getcollection getsiblingdb toarray pretty isodate objectid getcollectionnames
		printjson print`)
	// redisReads change nothing and are answered at once.
	redisReads = strings.Fields(`info get mget hget hgetall hmget ttl pttl type exists dbsize ping llen lrange smembers
		scard sismember zrange zcard zscore strlen lastsave time xlen getrange`)
)

// callsUnknown reports whether a text calls a function that isn't in a list.
func callsUnknown(text string, known []string) bool {
	for _, m := range called.Compiled().FindAllStringSubmatch(text, -1) {
		if !slices.Contains(known, strings.ToLower(m[1])) {
			return true
		}
	}
	return false
}

// cutOption cuts the value off an option that it is joined to.
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
