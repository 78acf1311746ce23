// Package shells tests hookmux in common shells: with ordinary start files, as login shells and
// not, at a terminal. `make verify` installs those that are missing where it can, and names those
// that were left out.
package shells
