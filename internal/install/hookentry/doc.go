// Package hookentry reads and writes hookmux's entries in the text of an agent's config: the
// command line of a hook, the places and shapes of hooks, and the trust some agents keep for
// each of them.
//
// It works on text alone and touches no file. What an entry looks like comes from the
// catalogue ([agent.InstallSpec]). An entry is ours by its command alone; everything else in
// the text stays as it is.
package hookentry
