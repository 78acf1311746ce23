package authority

// FromEnviron names the agent whose variables an environment carries, "" for
// none. Weaker than Caller: a nested agent inherits the outer one's variables.
func (j *Evaluator) FromEnviron(env []string) string {
	agent, _ := j.Agents.inEnviron(env)
	return agent
}
