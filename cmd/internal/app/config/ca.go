package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/throng-sim/throng/storage/postgres"
)

// CAKey is what the imported certificates of a server's CA are called in the saved settings.
const CAKey = "database-ca"

// caName is their file in the data folder: what was imported stays when the file that it came from goes.
const caName = "database-ca.pem"

// ImportCA copies a PEM file of certificates into the data folder; from then on a server of the saved address must be
// signed by one of them. A file that cannot vouch for a server changes nothing, and its error is a *engine.FieldError.
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
	saved[CAKey] = caName
	return first, store(data, saved)
}

// RemoveCA forgets the imported certificates, if there are any.
func RemoveCA(data string) error {
	saved, err := LoadSaved(data)
	if err != nil || saved[CAKey] == "" {
		return err
	}
	delete(saved, CAKey)
	if err := store(data, saved); err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(data, caName)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// CAFile is where the imported certificates are; "" without any.
func CAFile(data string) string {
	saved, err := LoadSaved(data)
	if err != nil || saved[CAKey] == "" {
		return ""
	}
	return filepath.Join(data, saved[CAKey])
}

// SavedCA is the one of the imported certificates that ends first; nil without any. Its error says what is wrong with
// them, such as that they have expired since.
func SavedCA(data string) (*postgres.Certificate, error) {
	saved, err := LoadSaved(data)
	if err != nil || saved[CAKey] == "" {
		return nil, err
	}
	first, _, err := postgres.ReadCertificates(filepath.Join(data, saved[CAKey]), time.Now())
	return &first, err
}
