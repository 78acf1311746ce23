// Package files reads, replaces, locks and sweeps the files that hookmux keeps for
// itself.
package files
