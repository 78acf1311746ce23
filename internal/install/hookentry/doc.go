// Package hookentry reads and writes hookmux's entries in the text of an
// agent's config: the command line of a hook, the places and shapes in which
// hooks stand, and the trust some agents keep for each of them.
//
// It works on texts alone and touches no file. What an entry looks like comes
// from the catalogue ([agent.InstallSpec]). An entry is ours by its command
// alone; whatever else stands in the text stays as it is.
package hookentry
