package hookcmd

import (
	"strings"

	"github.com/spf13/pflag"

	"github.com/hookmux/hookmux/internal/cli/cmdutil"
)

// ahpFlags are the flags of a hook that is a backend of the Agent Hooks Protocol.
type ahpFlags struct {
	version, lifecycle, tokenEnv string
	headersEnv, env              []string
	native                       bool
}

func (f *ahpFlags) addTo(fl *pflag.FlagSet) {
	fl.StringVar(&f.version, "ahp-version", "", "ahp: draft or 0.1 (default: found out)")
	fl.StringVar(&f.lifecycle, "ahp-lifecycle", "", "ahp: persistent (default) or per_event, for a program")
	fl.StringVar(&f.tokenEnv, "token-env", "", "ahp: variable that holds the token for an address")
	fl.StringArrayVar(&f.headersEnv, "header-env", nil, "ahp: HEADER=VARIABLE that holds its value; repeatable")
	fl.StringArrayVar(&f.env, "env", nil, "ahp: variable that a program gets; repeatable")
	fl.BoolVar(&f.native, "ahp-native", false, "ahp: send the agent's own payload, too")
}

// values are the flags that were given, as the registration's own keys.
func (f *ahpFlags) values(given func(flag string) bool) (map[string]any, error) {
	out := map[string]any{}
	for flag, one := range map[string]struct {
		key   string
		value any
	}{"ahp-version": {"version", f.version}, "ahp-lifecycle": {"lifecycle", f.lifecycle},
		"token-env": {"tokenEnv", f.tokenEnv}, "env": {"env", f.env}, "ahp-native": {"includeNative", f.native}} {
		if given(flag) {
			out[one.key] = one.value
		}
	}
	if !given("header-env") {
		return out, nil
	}
	headers := map[string]string{}
	for _, text := range f.headersEnv {
		name, variable, ok := strings.Cut(text, "=")
		if !ok || name == "" || variable == "" {
			return nil, cmdutil.UsageError("--header-env wants HEADER=VARIABLE, such as X-Api-Key=POLICY_KEY; " +
				"the variable's name, never its value")
		}
		headers[name] = variable
	}
	out["headersEnv"] = headers
	return out, nil
}
