package server

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"time"

	"github.com/hookmux/hookmux/internal/platform/files"
)

const (
	certFile   = "tls.crt"
	tlsKeyFile = "tls.key"
)

// loadCertificate reads the server's certificate, and makes one the first time. Members
// know its key by the join code, so it needs no authority and isn't renewed.
func loadCertificate(dir string, now time.Time) (tls.Certificate, error) {
	cert, err := tls.LoadX509KeyPair(filepath.Join(dir, certFile), filepath.Join(dir, tlsKeyFile))
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return cert, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return cert, err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(now.UnixNano()), Subject: pkix.Name{CommonName: "hookmux fleet"},
		NotBefore: now.Add(-24 * time.Hour), NotAfter: now.AddDate(100, 0, 0), DNSNames: []string{"hookmux-fleet"},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return cert, err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return cert, err
	}
	if err := files.WriteSynced(filepath.Join(dir, tlsKeyFile), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY",
		Bytes: private})); err != nil {
		return cert, err
	}
	if err := files.WriteSynced(filepath.Join(dir, certFile), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE",
		Bytes: der})); err != nil {
		return cert, err
	}
	return tls.LoadX509KeyPair(filepath.Join(dir, certFile), filepath.Join(dir, tlsKeyFile))
}

// pinOf returns the pin by which members know a certificate.
func pinOf(cert tls.Certificate) ([]byte, error) {
	leaf, err := x509.ParseCertificate(cert.Certificate[0])
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(leaf.RawSubjectPublicKeyInfo)
	return sum[:], nil
}

// readSeed reads a key's seed, and saves a new one the first time.
func readSeed(path string, fresh func() ([]byte, error)) ([]byte, error) {
	seed, err := os.ReadFile(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return seed, err
	}
	if seed, err = fresh(); err != nil {
		return nil, err
	}
	return seed, files.WriteSynced(path, seed)
}
