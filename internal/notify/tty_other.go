//go:build !unix

package notify

// writeTerminal fails: terminals of other systems cannot be written to from elsewhere.
func writeTerminal(string, string) error {
	return absent("terminals cannot be written to on this system")
}
