package claude

import (
	"net/url"
	"regexp"
	"strings"

	"github.com/hookmux/hookmux/internal/platform/lazyregexp"
)

var plainHost = lazyregexp.New(`^[A-Za-z0-9_*-]+(\.[A-Za-z0-9_*-]+)*$`)

// workingDomain returns the host that a WebFetch rule means, "" if that can't be determined.
// It equals what follows "domain:" exactly if the rule works as it is.
func workingDomain(content string) string {
	host := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(content), "domain:"))
	host = strings.TrimPrefix(host, "url:")
	if at := strings.Index(host, "://"); at >= 0 {
		host = host[at+3:]
	}
	if at := strings.IndexAny(host, "/:?#"); at >= 0 {
		host = host[:at]
	}
	host = strings.TrimPrefix(strings.TrimSpace(host), ".")
	if host == "*" || plainHost.MatchString(host) {
		return host
	}
	return ""
}

// coversHost compares a rule's domain with a host. A leading "*." covers all subdomains,
// however deep; every other star matches a part of a name without a dot.
func coversHost(domain, host string) bool {
	domain, host = strings.ToLower(domain), strings.ToLower(host)
	if domain == "*" || domain == host {
		return true
	}
	if !strings.Contains(domain, "*") {
		return false
	}
	below, deep := strings.CutPrefix(domain, "*.")
	pattern := strings.ReplaceAll(regexp.QuoteMeta(below), `\*`, `[^.]*`)
	if deep {
		pattern = `.+\.` + pattern
	}
	found, err := regexp.MatchString("^"+pattern+"$", host)
	return err == nil && found
}

func domainRule(rules []*Rule, host string) *Rule {
	for _, rule := range rules {
		if rule.Tool == "WebFetch" && rule.HasContent && coversHost(strings.TrimPrefix(rule.Content, "domain:"), host) {
			return rule
		}
	}
	return nil
}

func hostOf(address string) string {
	parsed, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return parsed.Hostname()
}
