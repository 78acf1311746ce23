// Speaks to an agent's own server on its standard streams:
// which hooks the agent sees, and that it should trust ours.

package install
