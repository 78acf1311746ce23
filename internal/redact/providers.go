package redact

import (
	"strings"
	"sync"
)

// The tokens of providers, by how they begin. A row is searched for as it is: adding a provider
// means adding a row, and a sample to the tests.

// dashShapes end in a dash, which is their anchor.
var dashShapes = sync.OnceValue(func() *shapeTable {
	return byLastByte(append([]shape{
		{prefix: "sk-", kind: "sk-key", set: URL, min: 16, strict: true}, // see matchSK
		{prefix: "pk-lf-", kind: "langfuse-key", set: URL, min: 20, mix: true},
		{prefix: "csk-", kind: "cerebras-key", set: Alnum, min: 32, strict: true, mix: true},
		{prefix: "glpat-", kind: "gitlab-token", set: URL, min: 16},
		{prefix: "glptt-", kind: "gitlab-token", set: URL, min: 16},
		{prefix: "gldt-", kind: "gitlab-token", set: URL, min: 16},
		{prefix: "glrt-", kind: "gitlab-token", set: URL, min: 16},
		{prefix: "glcbt-", kind: "gitlab-token", set: URL, min: 16},
		{prefix: "glft-", kind: "gitlab-token", set: URL, min: 16},
		{prefix: "glimt-", kind: "gitlab-token", set: URL, min: 16},
		{prefix: "glsoat-", kind: "gitlab-token", set: URL, min: 16},
		{prefix: "glagent-", kind: "gitlab-token", set: URL, min: 30},
		{prefix: "gloas-", kind: "gitlab-token", set: URL, min: 30},
		{prefix: "glffct-", kind: "gitlab-token", set: URL, min: 16},
		{prefix: "xapp-", kind: "slack-token", set: URL, min: 16, strict: true, mix: true},
		{prefix: "xai-", kind: "xai-key", set: URL, min: 20, strict: true, mix: true},
		{prefix: "pypi-", kind: "pypi-token", set: URL, min: 32, strict: true, mix: true},
		{prefix: "pplx-", kind: "perplexity-key", set: Alnum, min: 24, strict: true},
		{prefix: "nvapi-", kind: "nvidia-key", set: URL, min: 32, strict: true, mix: true},
		{prefix: "tvly-", kind: "tavily-key", set: URL, min: 20, strict: true, mix: true},
		{prefix: "key-", kind: "mailgun-key", set: Hex, min: 32, strict: true, exact: true},
		{prefix: "pubkey-", kind: "mailgun-key", set: Hex, min: 32, strict: true, exact: true},
		{prefix: "sq0atp-", kind: "square-token", set: URL, min: 20},
		{prefix: "sq0csp-", kind: "square-token", set: URL, min: 20},
		{prefix: "sq0idp-", kind: "square-token", set: URL, min: 20},
		{prefix: "AGE-SECRET-KEY-", kind: "age-key", set: Upper, min: 20},
		{prefix: "AGE-PLUGIN-YUBIKEY-", kind: "age-key", set: Upper, min: 20},
		{prefix: "GOCSPX-", kind: "google-secret", set: URL, min: 20},
		{prefix: "PMAK-", kind: "postman-key", set: URL, min: 32, mix: true},
		{prefix: "NRAK-", kind: "newrelic-key", set: Upper, min: 20},
		{prefix: "NRJS-", kind: "newrelic-key", set: Hex, min: 16},
		{prefix: "NRII-", kind: "newrelic-key", set: URL, min: 24},
		{prefix: "NRSP-", kind: "newrelic-key", set: URL, min: 24},
		{prefix: "NRIQ-", kind: "newrelic-key", set: URL, min: 24},
		{prefix: "FLWSECK-", kind: "flutterwave-key", set: URL, min: 20},
		{prefix: "FLWSECK_TEST-", kind: "flutterwave-key", set: URL, min: 12},
		{prefix: "CFPAT-", kind: "contentful-token", set: URL, min: 30},
		{prefix: "BBDC-", kind: "bitbucket-token", set: Base64, min: 30},
		{prefix: "HRKU-", kind: "heroku-key", set: URL, min: 30},
		{prefix: "xkeysib-", kind: "brevo-key", set: URL, min: 40},
		{prefix: "xsmtpsib-", kind: "brevo-key", set: URL, min: 40},
		{prefix: "pul-", kind: "pulumi-token", set: Hex, min: 40, strict: true, exact: true},
		{prefix: "tskey-", kind: "tailscale-key", set: URL, min: 20},
		{prefix: "pat-na1-", kind: "hubspot-token", set: URL, min: 30},
		{prefix: "pat-na2-", kind: "hubspot-token", set: URL, min: 30},
		{prefix: "pat-eu1-", kind: "hubspot-token", set: URL, min: 30},
		{prefix: "fio-u-", kind: "frameio-token", set: URL, min: 40},
		{prefix: "ico-", kind: "infracost-key", set: Alnum, min: 32, strict: true, exact: true},
		{prefix: "s-s4t2ud-", kind: "intra-secret", set: Hex, min: 60},
		{prefix: "s-s4t2af-", kind: "intra-secret", set: Hex, min: 60},
		{prefix: "sdk-", kind: "launchdarkly-key", set: Hex, min: 8, strict: true, uuid: true},
		{prefix: "api-", kind: "launchdarkly-key", set: Hex, min: 8, strict: true, uuid: true},
		{prefix: "API-", kind: "octopus-key", set: Upper, min: 25, strict: true, mix: true},
		{prefix: "tk-us-", kind: "scalingo-token", set: URL, min: 40},
		{prefix: "dnkey-", kind: "defined-key", set: URL, min: 40},
		{prefix: "v1.0-", kind: "cloudflare-key", set: URL, min: 140},
		{prefix: "sub-c-", kind: "pubnub-key", set: Hex, min: 8, uuid: true},
		{prefix: "pub-c-", kind: "pubnub-key", set: Hex, min: 8, uuid: true},
		{prefix: "sec-c-", kind: "pubnub-key", set: Alnum, min: 30},
		{prefix: "access-sandbox-", kind: "plaid-token", set: Hex, min: 8, uuid: true},
		{prefix: "access-development-", kind: "plaid-token", set: Hex, min: 8, uuid: true},
		{prefix: "access-production-", kind: "plaid-token", set: Hex, min: 8, uuid: true},
		{prefix: "fc-", kind: "firecrawl-key", set: Hex, min: 32, strict: true, exact: true},
		{prefix: "ctx7sk-", kind: "context7-key", set: URL, min: 20, strict: true},
		{prefix: "pa-", kind: "voyage-key", set: URL, min: 40, strict: true, dense: true},
		{prefix: "A3-", kind: "onepassword-key", set: URL, min: 30, strict: true, mix: true},
		{prefix: "wk-", kind: "modal-key", set: Alnum, min: 20, strict: true, dense: true},
		{prefix: "ws-", kind: "modal-key", set: Alnum, min: 20, strict: true, dense: true},
		{prefix: "ak-", kind: "modal-key", set: Alnum, min: 20, strict: true, dense: true},
		{prefix: "as-", kind: "modal-key", set: Alnum, min: 20, strict: true, dense: true},
		{prefix: "SWMTKN-1-", kind: "swarm-token", set: URL, min: 40},
	}, slackShapes()...))
})

func slackShapes() (list []shape) {
	for _, c := range "abcdeoprs" {
		list = append(list, shape{prefix: "xox" + string(c) + "-", kind: "slack-token", set: URL, min: 10})
	}
	return list
}

// underShapes end in an underscore, which is their anchor.
var underShapes = sync.OnceValue(func() *shapeTable {
	return byLastByte([]shape{
		{prefix: "ghp_", kind: "github-token", set: Alnum, min: 20},
		{prefix: "gho_", kind: "github-token", set: Alnum, min: 20},
		{prefix: "ghu_", kind: "github-token", set: Alnum, min: 20},
		{prefix: "ghs_", kind: "github-token", set: Alnum, min: 20},
		{prefix: "ghr_", kind: "github-token", set: Alnum, min: 20},
		{prefix: "github_pat_", kind: "github-token", set: URL, min: 20},
		{prefix: "gsk_", kind: "groq-key", set: Alnum, min: 20, strict: true},
		{prefix: "hf_", kind: "huggingface-token", set: Alnum, min: 24, strict: true},
		{prefix: "api_org_", kind: "huggingface-token", set: Alnum, min: 30},
		{prefix: "npm_", kind: "npm-token", set: Alnum, min: 30, strict: true},
		{prefix: "r8_", kind: "replicate-token", set: Alnum, min: 30, strict: true},
		{prefix: "sk_live_", kind: "stripe-key", set: Alnum, min: 10},
		{prefix: "rk_live_", kind: "stripe-key", set: Alnum, min: 10},
		{prefix: "pk_live_", kind: "stripe-key", set: Alnum, min: 10},
		{prefix: "sk_test_", kind: "stripe-key", set: Alnum, min: 16, mix: true},
		{prefix: "rk_test_", kind: "stripe-key", set: Alnum, min: 16, mix: true},
		{prefix: "sk_", kind: "elevenlabs-key", set: Hex, min: 48, strict: true},
		{prefix: "whsec_", kind: "stripe-secret", set: Base64, min: 20, strict: true},
		{prefix: "dop_v1_", kind: "digitalocean-token", set: Hex, min: 32},
		{prefix: "doo_v1_", kind: "digitalocean-token", set: Hex, min: 32},
		{prefix: "dor_v1_", kind: "digitalocean-token", set: Hex, min: 32},
		{prefix: "shpat_", kind: "shopify-token", set: Alnum, min: 24},
		{prefix: "shpca_", kind: "shopify-token", set: Alnum, min: 24},
		{prefix: "shppa_", kind: "shopify-token", set: Alnum, min: 24},
		{prefix: "shpss_", kind: "shopify-token", set: Alnum, min: 24},
		{prefix: "shpua_", kind: "shopify-token", set: Alnum, min: 24},
		{prefix: "dckr_pat_", kind: "docker-token", set: URL, min: 20},
		{prefix: "dckr_oat_", kind: "docker-token", set: URL, min: 20},
		{prefix: "lin_api_", kind: "linear-key", set: Alnum, min: 24},
		{prefix: "lin_oauth_", kind: "linear-key", set: Alnum, min: 24},
		{prefix: "sbp_", kind: "supabase-token", set: Hex, min: 32, strict: true},
		{prefix: "sb_secret_", kind: "supabase-token", set: URL, min: 20},
		{prefix: "lsv2_pt_", kind: "langsmith-key", set: URL, min: 24},
		{prefix: "lsv2_sk_", kind: "langsmith-key", set: URL, min: 24},
		{prefix: "ls__", kind: "langsmith-key", set: Hex, min: 32, strict: true},
		{prefix: "pcsk_", kind: "pinecone-key", set: URL, min: 40},
		{prefix: "ntn_", kind: "notion-token", set: Alnum, min: 40, strict: true},
		{prefix: "secret_", kind: "notion-token", set: Alnum, min: 40, strict: true, mix: true},
		{prefix: "figd_", kind: "figma-token", set: URL, min: 30},
		{prefix: "phc_", kind: "posthog-key", set: Alnum, min: 36, strict: true},
		{prefix: "phx_", kind: "posthog-key", set: Alnum, min: 36, strict: true},
		{prefix: "glsa_", kind: "grafana-token", set: URL, min: 30},
		{prefix: "glc_", kind: "grafana-token", set: Base64, min: 32, strict: true},
		{prefix: "sntrys_", kind: "sentry-token", set: Base64, min: 30},
		{prefix: "sntryu_", kind: "sentry-token", set: Hex, min: 40},
		{prefix: "rubygems_", kind: "rubygems-key", set: Hex, min: 40},
		{prefix: "pscale_tkn_", kind: "planetscale-token", set: URL, min: 30},
		{prefix: "pscale_pw_", kind: "planetscale-token", set: URL, min: 30},
		{prefix: "pscale_oauth_", kind: "planetscale-token", set: URL, min: 30},
		{prefix: "rzp_live_", kind: "razorpay-key", set: Alnum, min: 12},
		{prefix: "rzp_test_", kind: "razorpay-key", set: Alnum, min: 12, mix: true},
		{prefix: "ops_", kind: "onepassword-token", set: URL, min: 100, strict: true},
		{prefix: "sgp_", kind: "sourcegraph-token", set: URL, min: 40, strict: true},
		{prefix: "slk_", kind: "sourcegraph-token", set: Hex, min: 40, strict: true},
		{prefix: "squ_", kind: "sonar-token", set: Hex, min: 40, strict: true},
		{prefix: "sqp_", kind: "sonar-token", set: Hex, min: 40, strict: true},
		{prefix: "sqa_", kind: "sonar-token", set: Hex, min: 40, strict: true},
		{prefix: "rdme_", kind: "readme-key", set: Alnum, min: 60},
		{prefix: "duffel_live_", kind: "duffel-token", set: URL, min: 30},
		{prefix: "duffel_test_", kind: "duffel-token", set: URL, min: 30},
		{prefix: "shippo_live_", kind: "shippo-token", set: Hex, min: 32},
		{prefix: "shippo_test_", kind: "shippo-token", set: Hex, min: 32},
		{prefix: "aio_", kind: "adafruit-key", set: Alnum, min: 24, strict: true, dense: true},
		{prefix: "bkua_", kind: "buildkite-token", set: Hex, min: 40},
		{prefix: "CCIPAT_", kind: "circleci-token", set: URL, min: 40},
		{prefix: "nfp_", kind: "netlify-token", set: Alnum, min: 32, strict: true},
		{prefix: "pnu_", kind: "prefect-key", set: Alnum, min: 32, strict: true},
		{prefix: "pnb_", kind: "prefect-key", set: Alnum, min: 32, strict: true},
		{prefix: "sm_pat_", kind: "settlemint-token", set: Alnum, min: 16},
		{prefix: "sm_aat_", kind: "settlemint-token", set: Alnum, min: 16},
		{prefix: "tfp_", kind: "typeform-token", set: URL, min: 40, strict: true},
		{prefix: "ddp_", kind: "deno-token", set: Alnum, min: 30, strict: true},
		{prefix: "ddw_", kind: "deno-token", set: Alnum, min: 30, strict: true},
		{prefix: "fo1_", kind: "fly-token", set: URL, min: 30, strict: true},
		{prefix: "fm1_", kind: "fly-token", set: Base64, min: 30, strict: true},
		{prefix: "fm2_", kind: "fly-token", set: Base64, min: 30, strict: true},
		{prefix: "napi_", kind: "neon-key", set: Alnum, min: 40, strict: true},
		{prefix: "rnd_", kind: "render-key", set: Alnum, min: 28, strict: true, dense: true},
		{prefix: "re_", kind: "resend-key", set: URL, min: 28, strict: true, dense: true},
		{prefix: "fw_", kind: "fireworks-key", set: Alnum, min: 20, strict: true, dense: true},
		{prefix: "jina_", kind: "jina-key", set: Alnum, min: 40, strict: true},
		{prefix: "e2b_", kind: "e2b-key", set: Hex, min: 40, strict: true},
		{prefix: "rpa_", kind: "runpod-key", set: Alnum, min: 36, strict: true},
		{prefix: "xau_", kind: "xata-key", set: Alnum, min: 36, strict: true},
		{prefix: "tr_dev_", kind: "trigger-key", set: Alnum, min: 18},
		{prefix: "tr_prod_", kind: "trigger-key", set: Alnum, min: 18},
		{prefix: "cfut_", kind: "cloudflare-token", set: Alnum, min: 32, strict: true},
		{prefix: "cfat_", kind: "cloudflare-token", set: Alnum, min: 32, strict: true},
		{prefix: "cfk_", kind: "cloudflare-token", set: Alnum, min: 32, strict: true},
		{prefix: "mlsn_", kind: "mailersend-token", set: Hex, min: 60},
		{prefix: "vercel_blob_rw_", kind: "vercel-token", set: URL, min: 20},
		{prefix: "vcp_", kind: "vercel-token", set: Alnum, min: 40, strict: true},
		{prefix: "gitpod_pat_", kind: "gitpod-token", set: URL, min: 30},
		{prefix: "CLOJARS_", kind: "clojars-token", set: Hex, min: 50},
	})
})

// wordShapeList has the tokens without an anchor in them.
func wordShapeList() []wordShape {
	return append([]wordShape{
		{prefix: "AIza", kind: "google-key", set: URL, min: 30},
		{prefix: "ya29.", kind: "google-token", set: URL, min: 20},
		{prefix: "1//0", kind: "google-token", set: URL, min: 40, dense: true},
		{prefix: "AKIA", kind: "aws-key-id", set: Upper, min: 16, exact: true, loose: true},
		{prefix: "ASIA", kind: "aws-key-id", set: Upper, min: 16, exact: true, loose: true},
		{prefix: "ABIA", kind: "aws-key-id", set: Upper, min: 16, exact: true, loose: true},
		{prefix: "ACCA", kind: "aws-key-id", set: Upper, min: 16, exact: true, loose: true},
		{prefix: "ABSK", kind: "aws-key", set: Base64, min: 100, dense: true},
		{prefix: "SK", kind: "twilio-key", set: Hex, min: 32, exact: true},
		{prefix: "AC", kind: "twilio-key", set: Hex, min: 32, exact: true},
		{prefix: "SG.", kind: "sendgrid-key", check: checkSendgrid},
		{prefix: "ey", kind: "jwt", check: checkJWT},
		{prefix: "hvs.", kind: "vault-token", set: URL, min: 20},
		{prefix: "hvb.", kind: "vault-token", set: URL, min: 20},
		{prefix: "hvr.", kind: "vault-token", set: URL, min: 20},
		{prefix: "s.", kind: "vault-token", set: Alnum, min: 24, exact: true, dense: true},
		{prefix: "dp.pt.", kind: "doppler-token", set: Alnum, min: 32},
		{prefix: "dp.st.", kind: "doppler-token", check: checkDoppler},
		{prefix: "dp.ct.", kind: "doppler-token", set: Alnum, min: 32},
		{prefix: "dp.sa.", kind: "doppler-token", set: Alnum, min: 32},
		{prefix: "dp.scim.", kind: "doppler-token", set: Alnum, min: 32},
		{prefix: "dt0c01.", kind: "dynatrace-token", check: checkDynatrace},
		{prefix: "dt0s01.", kind: "dynatrace-token", check: checkDynatrace},
		{prefix: "sl.", kind: "dropbox-token", set: URL, min: 100},
		{prefix: "pat.", kind: "harness-token", check: checkHarness},
		{prefix: "sat.", kind: "harness-token", check: checkHarness},
		{prefix: "pat", kind: "airtable-token", check: checkAirtable},
		{prefix: "EAA", kind: "facebook-token", check: checkFacebook},
		{prefix: "ATATT3", kind: "atlassian-token", set: URL, min: 60},
		{prefix: "ATCTT3", kind: "atlassian-token", set: URL, min: 60},
		{prefix: "ATSTT3", kind: "atlassian-token", set: URL, min: 60},
		{prefix: "ATBB", kind: "bitbucket-token", set: Alnum, min: 24, dense: true},
		{prefix: "ATTA", kind: "trello-token", set: Hex, min: 60},
		{prefix: "LTAI", kind: "alibaba-key", set: Alnum, min: 16, dense: true},
		{prefix: "AKID", kind: "tencent-key", set: Alnum, min: 32, dense: true},
		{prefix: "AQVN", kind: "yandex-key", set: URL, min: 35, dense: true},
		{prefix: "t1.", kind: "yandex-token", check: checkYandex},
		{prefix: "EZAK", kind: "easypost-key", set: Alnum, min: 54, dense: true},
		{prefix: "EZTK", kind: "easypost-key", set: Alnum, min: 54, dense: true},
		{prefix: "GR1348941", kind: "gitlab-token", set: URL, min: 20},
		{prefix: "xprv", kind: "wallet-key", set: Alnum, min: 100},
		{prefix: "yprv", kind: "wallet-key", set: Alnum, min: 100},
		{prefix: "zprv", kind: "wallet-key", set: Alnum, min: 100},
		{prefix: "tprv", kind: "wallet-key", set: Alnum, min: 100},
		{prefix: "5H", kind: "wallet-key", check: checkWIF(51)},
		{prefix: "5J", kind: "wallet-key", check: checkWIF(51)},
		{prefix: "5K", kind: "wallet-key", check: checkWIF(51)},
		{prefix: "9", kind: "wallet-key", check: checkWIF(51)},
		{prefix: "K", kind: "wallet-key", check: checkWIF(52)},
		{prefix: "L", kind: "wallet-key", check: checkWIF(52)},
		{prefix: "c", kind: "wallet-key", check: checkWIF(52)},
		{prefix: "dapi", kind: "databricks-token", set: Hex, min: 32, exact: true},
		{prefix: "oy2", kind: "nuget-key", check: checkNuget},
		{prefix: "cio", kind: "cargo-token", set: Alnum, min: 32, exact: true, dense: true},
		{prefix: "BSA", kind: "brave-key", set: URL, min: 27, dense: true},
		{prefix: "SCW", kind: "scaleway-key", check: checkScaleway},
		{prefix: "IGQV", kind: "instagram-token", set: URL, min: 60, dense: true},
		{prefix: "00", kind: "okta-token", check: checkOkta},
		{prefix: "atlasv1", kind: "terraform-token", check: checkTerraform},
		{prefix: "mmk", kind: "maxmind-key", loose: true, check: checkMaxmind},
		{prefix: "FwoGZXIvYXdz", kind: "aws-session", set: Base64, min: 60},
		{prefix: "IQoJb3JpZ2lu", kind: "aws-session", set: Base64, min: 60},
		{prefix: "amzn.mws.", kind: "amazon-token", set: URL, min: 32},
		{prefix: "Atza|", kind: "amazon-token", set: URL, min: 40},
		{prefix: "v2.local.", kind: "paseto", set: URL, min: 40},
		{prefix: "v4.local.", kind: "paseto", set: URL, min: 40},
		{prefix: "v2.public.", kind: "paseto", set: URL, min: 40},
		{prefix: "v4.public.", kind: "paseto", set: URL, min: 40},
		{prefix: "xoxe.xox", kind: "slack-token", set: URL, min: 20},
	}, discordShapes()...)
}

func discordShapes() (list []wordShape) {
	for _, c := range "MNO" {
		list = append(list, wordShape{prefix: string(c), kind: "discord-token", check: checkDiscord})
	}
	return list
}

// The parts of a token that are joined by dots.
func dottedParts(s string, at int, lengths ...int) (end int, ok bool) {
	for i, n := range lengths {
		end = RunEnd(s, at, URL)
		if end-at < n || i < len(lengths)-1 && (end >= len(s) || s[end] != '.') {
			return 0, false
		}
		at = end + 1
	}
	return end, true
}

func checkSendgrid(s string, at int) (span, bool) {
	end, ok := dottedParts(s, at+3, 16, 16)
	return span{at, end, ""}, ok
}

// checkJWT requires two parts that begin like base64 of `{"`; the signature may be
// missing (cut off, or "none").
func checkJWT(s string, at int) (span, bool) {
	head := RunEnd(s, at, URL)
	if head-at < 10 || !strings.HasPrefix(s[head:], ".ey") && !strings.HasPrefix(s[head:], "..") {
		return span{}, false
	}
	if s[at+2] != 'J' && (s[at+2] != 'A' || head-at < 30) {
		return span{}, false
	}
	if s[head+1] == '.' { // an encrypted one without a wrapped key
		end, ok := dottedParts(s, head+2, 8, 8, 8)
		return span{at, end, ""}, ok
	}
	end := RunEnd(s, head+1, URL)
	if end-head < 8 {
		return span{}, false
	}
	for end < len(s) && s[end] == '.' {
		part := RunEnd(s, end+1, URL)
		if part-end-1 < 8 {
			break
		}
		end = part
	}
	return span{at, end, ""}, true
}

func checkDoppler(s string, at int) (span, bool) {
	at0 := at
	at += len("dp.st.")
	end := RunEnd(s, at, URL)
	if end < len(s) && s[end] == '.' { // the name of the configuration
		at, end = end+1, RunEnd(s, end+1, URL)
	}
	return span{at0, end, ""}, end-at >= 32
}

func checkDynatrace(s string, at int) (span, bool) {
	end, ok := dottedParts(s, at+len("dt0c01."), 24, 60)
	return span{at, end, ""}, ok
}

func checkHarness(s string, at int) (span, bool) {
	end, ok := dottedParts(s, at+4, 20, 20, 16)
	return span{at, end, ""}, ok
}

func checkAirtable(s string, at int) (span, bool) {
	dot := RunEnd(s, at+3, Alnum)
	if dot-at-3 != 14 || dot >= len(s) || s[dot] != '.' {
		return span{}, false
	}
	end := RunEnd(s, dot+1, Hex)
	return span{at, end, ""}, end-dot-1 >= 60
}

// checkFacebook accepts a long token that is not a line of a file in base64 with its
// many zeros.
func checkFacebook(s string, at int) (span, bool) {
	end := RunEnd(s, at, Alnum)
	return span{at, end, ""}, end-at >= 63 && IsDense(s[at:end]) && !strings.Contains(s[at:end], "AAAA") &&
		(end >= len(s) || Sets[s[end]]&Base64 == 0)
}

// checkYandex accepts t1. and a long body, a dot and a signature.
func checkYandex(s string, at int) (span, bool) {
	end, ok := dottedParts(s, at+3, 40, 60)
	return span{at, end, ""}, ok
}

func checkNuget(s string, at int) (span, bool) {
	end := RunEnd(s, at, Alnum)
	return span{at, end, ""}, end-at == 46 && IsMixed(s[at+3:end]) && strings.ToLower(s[at:end]) == s[at:end]
}

func checkScaleway(s string, at int) (span, bool) {
	end := RunEnd(s, at, Upper)
	return span{at, end, ""}, end-at == 20 && EndsWord(s, end) && IsMixed(s[at+3:end])
}

func checkOkta(s string, at int) (span, bool) {
	end := RunEnd(s, at, URL)
	return span{at, end, ""}, end-at == 42 && IsDense(s[at:end]) && !OnlyHex(s[at:end])
}

// checkTerraform accepts a token whose name is in the middle, after 14 letters and digits.
func checkTerraform(s string, at int) (span, bool) {
	body := at + len("atlasv1")
	if at < 15 || s[at-1] != '.' || body >= len(s) || s[body] != '.' {
		return span{}, false
	}
	start := at - 1
	for start > 0 && IsAlnum(s[start-1]) && at-start < 20 {
		start--
	}
	end := RunEnd(s, body+1, URL)
	return span{start, end, ""}, at-1-start == 14 && end-body-1 >= 60
}

// checkMaxmind accepts a token with six and 29 letters and digits before the name.
func checkMaxmind(s string, at int) (span, bool) {
	end := at + 3
	start := at - 37
	if start < 0 || s[at-1] != '_' || s[start+6] != '_' || !EndsWord(s, end) ||
		!StartsWord(s, start, true) {
		return span{}, false
	}
	return span{start, end, ""}, RunEnd(s, start, Alnum) == start+6 &&
		RunEnd(s, start+7, Alnum) == at-1
}

// checkDiscord accepts base64 of a numeric id, a time and a signature.
func checkDiscord(s string, at int) (span, bool) {
	dot := RunEnd(s, at, URL)
	if n := dot - at; n < 23 || n > 28 || dot+8 >= len(s) || s[dot] != '.' || s[dot+7] != '.' {
		return span{}, false
	}
	end, ok := dottedParts(s, dot+1, 6, 27)
	return span{at, end, ""}, ok && IsMixed(s[at:end])
}

// checkWIF matches a private key of Bitcoin as wallets export it: so many letters and
// digits, without those that look alike.
func checkWIF(length int) func(s string, at int) (span, bool) {
	return func(s string, at int) (span, bool) {
		end := at + length
		if end > len(s) || !EndsWord(s, end) {
			return span{}, false
		}
		for i := at; i < end; i++ {
			if c := s[i]; !IsAlnum(c) || c == '0' || c == 'O' || c == 'I' || c == 'l' {
				return span{}, false
			}
		}
		return span{start: at, end: end}, IsDense(s[at:end])
	}
}

// wordShapes are the shapes by their first byte.
var wordShapes = sync.OnceValue(func() *[256][]wordShape {
	t := &[256][]wordShape{}
	for _, sh := range wordShapeList() {
		t[sh.prefix[0]] = append(t[sh.prefix[0]], sh)
	}
	return t
})
