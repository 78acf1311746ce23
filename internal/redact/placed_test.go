package redact

import (
	_ "embed"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
)

//go:embed testdata/places.txt
var placesText string

// Every way in testdata/places.txt is known, whatever the secret is.
func TestSecretsByTheirPlace(t *testing.T) {
	lines := readShapes(t, placesText)
	if len(lines) < 100 {
		t.Errorf("%d ways are listed, at least 100 are wanted", len(lines))
	}
	for seed := range uint64(5) {
		r := rand.New(rand.NewPCG(seed, 3))
		for _, line := range lines {
			text, secrets := fillShape(r, line)
			if why := findLeftover(text, secrets); why != "" {
				t.Errorf("left over: %s\n  %s", line, why)
			}
			if once := Text(text); Text(once) != once {
				t.Errorf("not stable: %s\n  %q\n  %q", line, once, Text(once))
			}
		}
	}
}

// Prompts, results and MCP inputs, as agents send them.
func TestSecretsInPayloads(t *testing.T) {
	const v, w = "hunt" + "er2horse", "kalbo" + "rigum"
	for _, in := range []string{
		`{"tool_name":"Read","tool_input":{"file_path":"/p/.env"},"tool_response":{"content":"PORT=3000\nSTRIPE=` + v + `\n"}}`,
		`{"tool_name":"Read","tool_input":{"file_path":"/p/.env.production"},"tool_response":{"file":{"content":"     1→STRIPE=` + v + `\n     2→B=1"}}}`,
		`{"tool_name":"Read","tool_input":{"file_path":"/p/prod.env"},"tool_response":"1\tSTRIPE=` + v + `"}`,
		`{"tool_name":"Bash","tool_input":{"command":"cat .env"},"tool_response":{"stdout":"export STRIPE='` + v + `'\nDB_PW=` + w + `"}}`,
		`{"tool_response":{"stdout":"SENTRY=` + v + `"},"tool_input":{"command":"cat ./.env"}}`,
		`{"tool_name":"mcp__db__run","tool_input":{"args":["--password","` + w + `"]}}`,
		`{"tool_name":"mcp__db__run","tool_input":{"args":["-password","` + w + `"]}}`,
		`{"tool_name":"mcp__sh__exec","tool_input":{"argv":["mysql","--password","` + w + `"]}}`,
		`{"tool_name":"mcp__fs__write","tool_input":{"content":"db:\n  password:\n    ` + w + `\n"}}`,
		`{"prompt":"log in with [\"--password\",\"` + w + `\"] please"}`,
		`{"prompt":"use this config:\npassword:\n  ` + w + `"}`,
		`{"tool_input":{"content":"#!/usr/bin/expect\nexpect \"assword:\"\nsend \"` + w + `\\r\"\n"}}`,
		`{"tool_input":{"command":"cryptsetup open /dev/sda1 x <<< ` + w + `"}}`,
		`{"tool_input":{"command":"echo -n ` + w + ` | cryptsetup open /dev/sda1 x"}}`,
		`{"tool_input":{"command":"sqlplus me/` + w + `@db"}}`,
		`{"tool_input":{"command":"vault kv put secret/x pw=` + w + `"}}`,
	} {
		if !json.Valid([]byte(in)) {
			t.Errorf("no JSON: %s", in)
		}
		redactor := New()
		for range 2 {
			got, _ := redactor.AppendJSON(nil, []byte(in), Limits{})
			if strings.Contains(string(got), v) || strings.Contains(string(got), w) || !json.Valid(got) {
				t.Errorf("%s\n got %s", in, got)
			}
		}
	}
}

// What looks like those ways and holds no secret stays.
func TestOrdinaryPlacesStay(t *testing.T) {
	for _, s := range []string{
		"echo hello | cat", "echo done | tee su.log", "echo y | apt install sudo", "cat <<< hello", "grep x <<< \"$line\"",
		"cat <<EOF\nhello1234\nEOF", "std::cout << value1 << std::endl;", "x := 1 << 20",
		"vault kv get secret/db", "vault status", "the vault put on a=b", "vault write auth/x ttl=3600 max_ttl=24h",
		"vault kv put secret/x pw=@file.txt", "vault kv put secret/x pw=$PW",
		"sqlplus /nolog", "sqlplus / as sysdba", "sqlplus @script.sql", "connect to host/path now", "connect docs/readme",
		"send \"yes\\r\"", "expect \"continue?\"\nsend \"yes\\r\"", "res.send(\"hello\")", "send \"ls -la\\r\"",
		"expect \"password:\"\nsend \"$pw\\r\"", "oathtool --version", "oathtool --totp -b $SECRET",
		"password:\n  min_length: 8", "password:\n  type: string\n  format: x", "password:\nuser: x", "token:\n  - a\n  - b",
		"password:\n  ${PASSWORD}", "PORT=3000\nNODE_ENV=production\n# .env\nAPP_NAME=shop", "process.env.PORT=abc12345",
		"see .env for\nDATABASE_HOST=db.example.local\nAPP_URL=http://localhost:3000\nDATA_DIR=/srv/data1/x",
		"[\"--password\", \"--verbose\"]", "[\"--password-file\", \"x\"]", "the robot123:thing", "bot12:ok",
		"KubernetesControllerManagerConfigurationOptionsList1", "fly secrets set --help", "heroku config:set --help",
		"| name | password |\n| --- | --- |",
	} {
		if got := Text(s); got != s {
			t.Errorf("%q\n got %q", s, got)
		}
	}
	in := `{"cwd":"/p","tool_input":{"file_path":".env"},"tool_response":"PORT=3000\nNODE_ENV=production\nLOG=debug"}`
	if got, _ := New().AppendJSON(nil, []byte(in), Limits{}); string(got) != in {
		t.Errorf("%s\n got %s", in, got)
	}
}
