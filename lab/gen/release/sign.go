package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"aead.dev/minisign"
)

// The key is the text of a file that `minisign -G` made. It comes from the
// environment alone.
const (
	keyVariable      = "HOOKMUX_MINISIGN_KEY"
	passwordVariable = "HOOKMUX_MINISIGN_PASSWORD"
)

// unsignedFile is the file that marks a release as unsigned.
const unsignedFile = "UNSIGNED"

// signer signs the sums; nil does not.
type signer struct{ key minisign.PrivateKey }

func signerFrom(getenv func(string) string) (*signer, error) {
	text := []byte(strings.TrimSpace(getenv(keyVariable)))
	if len(text) == 0 {
		return nil, nil
	}
	var s signer
	var err error
	if minisign.IsEncrypted(text) {
		s.key, err = minisign.DecryptKey(getenv(passwordVariable), text)
	} else {
		err = s.key.UnmarshalText(text)
	}
	if err != nil {
		return nil, fmt.Errorf("%s is no key that can be used with %s: %w", keyVariable, passwordVariable, err)
	}
	return &s, nil
}

// publicKey returns the last line of a minisign.pub; empty if nothing is signed.
func (s *signer) publicKey() (string, error) {
	if s == nil {
		return "", nil
	}
	public, ok := s.key.Public().(minisign.PublicKey)
	if !ok {
		return "", errors.New("the key has no public part")
	}
	text, err := public.MarshalText()
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return lines[len(lines)-1], err
}

// signSums signs the sums of all files, or marks the release as unsigned.
func (s *signer) signSums(r *release) error {
	sums := filepath.Join(r.out, sumsFile)
	mark, signature := filepath.Join(r.out, unsignedFile), sums+".minisig"
	for _, old := range []string{mark, signature} {
		if err := os.Remove(old); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	if s == nil {
		fmt.Printf("not signed: %s is not set\n", keyVariable)
		return os.WriteFile(mark,
			[]byte("This release is not signed. SHA256SUMS tells only whether a download is whole.\n"), 0o644)
	}
	data, err := os.ReadFile(sums)
	if err != nil {
		return err
	}
	text := minisign.SignWithComments(s.key, data, fmt.Sprintf("hookmux %s, sums of all files", r.Version),
		"signature of SHA256SUMS; minisign -Vm SHA256SUMS -P "+r.PublicKey)
	fmt.Println("signed with the key", r.PublicKey)
	return os.WriteFile(signature, text, 0o644)
}
