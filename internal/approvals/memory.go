// Remembers, while the daemon runs, what was asked about a call and
// what a person said: so that one call is asked about once, and words beside a
// yes reach the agent with the result of the call.

package approvals
