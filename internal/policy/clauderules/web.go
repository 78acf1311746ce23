package clauderules

import (
	"net/url"
	"regexp"
	"strings"
)

var plainHost = regexp.MustCompile(`^(\*\.?)?[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$`)

// workingDomain is the host that a WebFetch rule means, "" if none can be told. It
// equals what stands behind "domain:" exactly if the rule works as it is.
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

// coversHost holds a rule's domain against a host. "*.x" covers what is below x;
// "*x" covers hosts without a further dot that end in x.
func coversHost(domain, host string) bool {
	domain, host = strings.ToLower(domain), strings.ToLower(host)
	switch {
	case domain == "*":
		return true
	case strings.HasPrefix(domain, "*."):
		return strings.HasSuffix(host, domain[1:]) && host != domain[1:]
	case strings.HasPrefix(domain, "*"):
		before, found := strings.CutSuffix(host, domain[1:])
		return found && !strings.Contains(before, ".")
	}
	return domain == host
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
