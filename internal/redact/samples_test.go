package redact

import "strings"

// The samples are put together from pieces, so that scanners which look for
// secrets in repositories find none here.

const (
	alnum36 = "a1B2c3D4e5F6" + "g7H8i9J0k1L2" + "m3N4o5P6q7R8"
	hex32   = "0123456789abcdef" + "fedcba9876543210"
	upper16 = "IOSFODNN" + "7EXAMPLE"
)

func join(parts ...string) string { return strings.Join(parts, "") }

// secret is one sample: text holds it, gone must not be left over, and kind is
// what the reader is told.
type secret struct{ text, gone, kind string }

func shapeSamples() []secret {
	var list []secret
	whole := func(kind string, parts ...string) {
		s := join(parts...)
		list = append(list, secret{s, parts[len(parts)-1], kind})
	}
	whole("anthropic-key", "sk-", "ant-", "api03-", alnum36+"-"+alnum36)
	whole("openai-key", "sk-", "proj-", alnum36+"_"+alnum36)
	whole("sk-key", "sk-", alnum36)
	whole("openrouter-key", "sk-", "or-v1-", hex32+hex32)
	whole("google-key", "AI", "za", "Sy"+alnum36[:33])
	for _, c := range "pousr" {
		whole("github-token", "gh"+string(c), "_", alnum36)
	}
	whole("github-token", "github", "_pat_", alnum36[:22]+"_"+alnum36+alnum36)
	whole("gitlab-token", "gl", "pat-", alnum36[:20])
	for _, c := range "abprs" {
		whole("slack-token", "xox"+string(c), "-", "123456789012-"+alnum36)
	}
	whole("xai-key", "xai", "-", alnum36+alnum36)
	whole("groq-key", "gsk", "_", alnum36+"WGdyb3FY")
	whole("huggingface-token", "hf", "_", alnum36[:34])
	whole("npm-token", "npm", "_", alnum36)
	whole("pypi-token", "pypi", "-", "AgEIcHlwaS5vcmc"+alnum36)
	whole("aws-key-id", "AK", "IA", upper16)
	whole("aws-key-id", "AS", "IA", upper16)
	whole("google-token", "ya", "29.", "a0Af"+alnum36)
	whole("sendgrid-key", "S", "G.", alnum36[:22]+"."+alnum36)
	whole("stripe-key", "sk", "_live_", alnum36[:24])
	whole("stripe-key", "rk", "_live_", alnum36[:24])
	whole("stripe-key", "pk", "_live_", alnum36[:24])
	whole("digitalocean-token", "dop", "_v1_", hex32+hex32)
	whole("shopify-token", "shp", "at_", hex32)
	whole("square-token", "sq0", "atp-", alnum36[:22])
	whole("mailgun-key", "ke", "y-", hex32)
	whole("twilio-key", "S", "K", hex32)
	whole("twilio-key", "A", "C", hex32)
	whole("telegram-token", "123456789", ":", "AA"+alnum36[:33])
	whole("jwt", "ey", "J", "hbGciOiJIUzI1NiJ9.ey", "J", "zdWIiOiIxMjM0NTY3ODkwIn0."+alnum36)
	whole("private-key", pemText("\n"))
	return list
}

const pemLine = "MIIEvQIBADANBgkqhkiG9w0B" + "AQEFAASCBKcwggSjAgEAAoIB"

func pemText(nl string) string {
	return join("-----BEGIN ", "RSA PRIVATE", " KEY-----", nl, pemLine, nl, pemLine, "==", nl, "-----END ",
		"RSA PRIVATE", " KEY-----")
}

// namedSamples are secrets only because of what stands before them.
func namedSamples() []secret {
	v := "hunt" + "er2horse"
	return []secret{
		{"Authorization: Bearer " + v, v, "bearer"},
		{"authorization: bearer " + v, v, "bearer"},
		{"curl -H 'Authorization: Basic " + "dXNlcjpwYXNz" + "' x", "dXNlcjpwYXNz", "basic"},
		{"Authorization: Digest username=\"a\", response=\"" + v + "\"", "username", "digest"},
		{`req.Header.Set("X", "Bearer ` + v + `")`, v, "bearer"},
		{"Cookie: session=" + v + "; b=" + v, v, "cookie"},
		{"x-api-key: " + v, v, "key"},
		{"https://user:" + v + "@example.com/path", v, "url-password"},
		{"postgres://app:" + v + "@db:5432/x?sslmode=off", v, "url-password"},
		{"postgres://app:a/" + v + "@db:5432/x", v, "url-password"},
		{`https:\/\/user:` + v + `@example.com`, v, "url-password"},
		{"git clone https://" + alnum36 + ":x-oauth-basic@example.com/a.git", alnum36, "url-user"},
		{"mysql --password " + v + " db", v, "password"},
		{"x --token=" + v, v, "token"},
		{"x --api-key '" + v + "'", v, "key"},
		{"x --client-secret \"" + v + "\" y", v, "secret"},
		{"export FOO_API_KEY=" + v, v, "key"},
		{"FOO_KEY=" + v + " make", v, "key"},
		{"A=1 GH_TOKEN='" + v + "' cmd", v, "token"},
		{"DB_PASSWORD=" + v + "\nX=1", v, "password"},
		{"DB_PASSWD=" + v, v, "password"},
		{"DB_PASS=" + v, v, "password"},
		{"APP_SECRET=" + v, v, "secret"},
		{"PASSWORD=" + "letters", "letters", "password"},
		{"aws_secret_access_key = " + alnum36 + "/+aa", alnum36, "key"},
		{"AWS_SECRET_ACCESS_KEY=/" + alnum36 + "+aa", alnum36, "key"},
		{`{"password": "` + v + `"}`, v, "password"},
		{`{\"apiKey\":\"` + v + `\"}`, v, "key"},
		{"apiKey: '" + v + "',", v, "key"},
		{"password: " + v, v, "password"},
		{"Server=db;Password=" + v + ";x", v, "password"},
		{"host=h password=" + "letters" + " user=x", "letters", "password"},
		{"https://a/b?access_token=" + v + "&x=1", v, "token"},
		{`token := "` + v + `"`, v, "token"},
		{"https://hooks.slack.com/services/" + "T0000/B0000/" + alnum36, alnum36, "slack-webhook"},
		{"https://discord.com/api/webhooks/" + "12345678/" + alnum36, alnum36, "discord-webhook"},
		{pemText(`\n`), pemLine, "private-key"},
		{join("x -----BEGIN ", "PRIVATE", " KEY-----\n", pemLine), pemLine, "private-key"},
		{join(pemLine, "\n", pemLine, "\n-----END ", "PRIVATE", " KEY-----"), pemLine, "private-key"},
		{join("-----BEGIN ", "OPENSSH PRIVATE", " KEY-----\n\"", pemLine, "\" +\n\"-----END ", "OPENSSH PRIVATE", " KEY-----"), pemLine, "private-key"},
		{`first\n` + join("gh", "p_", alnum36), alnum36, "github-token"},
		{"OPENAI_API_KEY=" + join("sk-", "proj-", alnum36), alnum36, "openai-key"},
	}
}

// cleanSamples must come back as they are.
func cleanSamples() []string {
	return []string{
		"",
		"plain words, nothing else",
		"commit 3f786850e387550fdab836ed7e6dc881de23001b",
		"id 123e4567-e89b-12d3-a456-426614174000",
		"/home/user/project/task-runner/desk-top/main_test.go:12:3",
		"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
		"max_tokens=4096 token_count: 12 tokens=5 tokenizer=gpt2abc123def",
		"nextPageToken=abc123def456ghi", "eos_token: abc123def456",
		"token: string; password: string", "func f(token string, password string)",
		"login(user, password=password, token=args.token)", "password = getpass()",
		"const token = getToken(req)", `if token == "abcdef123456" {`, "password: Enter the password",
		"API_KEY=", "API_KEY=$OTHER_KEY", "API_KEY=${OTHER}", "USE_TOKEN=true", "API_KEY=<your key>", "API_KEY=$(cat key)",
		"PWD=/home/user/x1 OLDPWD=/home/user/y2", "SSH_KEY=/home/user/.ssh/id_rsa", "PRIMARY_KEY=abc123def456",
		"use --token to pass the token; --password is for the old way", "--token $TOKEN", "--max-tokens 100", "--password --verbose",
		"https://example.com:8080/@scope/pkg", "http://[::1]:80/@x", "git@github.com:owner/repo.git", "https://example.com/a:b@c",
		"https://user@example.com", "https://user:$PASS@example.com", "https://user:${PASS}@example.com",
		"Authorization: Bearer $TOKEN", "Authorization: see the docs", "the Bearer authentication scheme", "Cookie: none",
		"sk-loading-indicator-wrapper", "task-ant-colony-optimisation", "risk-assessment-2024-final-report", "sk-cube-grid-2-delay",
		"-----BEGIN CERTIFICATE-----\n" + pemLine + "\n-----END CERTIFICATE-----",
		join(`strings.Contains(s, "-----BEGIN `, `PRIVATE`, ` KEY-----")`),
		"-------- | --------", "a -- b", "--", "-", "_", ":", "=", "AKIAshort", "eyJ", "SG.", "ya29.",
		"gh_pages ghp_short github_pat", "xoxo-hugs", "hf_model", "npm_config_registry", "key-value", "monkey=banana123456",
		"Ähnliche Wörter: 密码 = \u00e9t\u00e9", "\xff\xfe broken",
	}
}
