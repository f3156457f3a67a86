package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// CopyChoices copies what the user chose for all runs to another data folder: saved settings, prices, connectors, and
// written populations. Missing files are skipped. An empty src copies nothing.
func CopyChoices(dst, src string) error {
	if src == "" {
		return nil
	}
	for _, name := range []string{savedName, PricesName, ConnectorsName, PopulationsName} {
		from := filepath.Join(src, name)
		info, err := os.Stat(from)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return err
		case info.IsDir():
			err = os.CopyFS(filepath.Join(dst, name), os.DirFS(from))
		default:
			var text []byte
			if text, err = os.ReadFile(from); err == nil {
				err = os.WriteFile(filepath.Join(dst, name), text, 0o600)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}
