package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/throng-sim/throng/storage/postgres"
)

// caKey is the name of the setting with the certificates of a server's CA.
const caKey = "database-ca"

// caName is the file of the imported certificates in the data folder. They remain if the original file is deleted.
const caName = "database-ca.pem"

// ImportCA copies a PEM file of certificates to the data folder. From then on, one of them must have signed the certificate
// of the saved server. If the file has no usable CA certificate, nothing changes and the error is a *engine.FieldError.
func ImportCA(data, path string) (postgres.Certificate, error) {
	first, text, err := postgres.ReadCertificates(path, time.Now())
	if err != nil {
		return first, err
	}
	saved, err := LoadSaved(data)
	if err != nil {
		return first, err
	}
	if err := os.MkdirAll(data, 0o700); err != nil {
		return first, err
	}
	file := filepath.Join(data, caName)
	if err := os.WriteFile(file+".new", text, 0o600); err != nil {
		return first, err
	}
	if err := os.Rename(file+".new", file); err != nil {
		return first, err
	}
	saved[caKey] = caName
	return first, store(data, saved)
}

// RemoveCA deletes the imported certificates, if there are any.
func RemoveCA(data string) error {
	saved, err := LoadSaved(data)
	if err != nil || saved[caKey] == "" {
		return err
	}
	delete(saved, caKey)
	if err := store(data, saved); err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(data, caName)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// CAFile returns the path of the imported certificates; "" if there are none.
func CAFile(data string) string {
	saved, err := LoadSaved(data)
	if err != nil || saved[caKey] == "" {
		return ""
	}
	return filepath.Join(data, saved[caKey])
}

// SavedCA returns the imported certificate that expires first; nil if there are none. The error says why they are unusable,
// for example expired.
func SavedCA(data string) (*postgres.Certificate, error) {
	saved, err := LoadSaved(data)
	if err != nil || saved[caKey] == "" {
		return nil, err
	}
	first, _, err := postgres.ReadCertificates(filepath.Join(data, saved[caKey]), time.Now())
	return &first, err
}
