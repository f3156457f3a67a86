package assets

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
)

//go:generate go run github.com/throng-sim/throng/cmd/internal/licences

//go:embed licences.json.gz
var licences []byte

// Licence is under what terms something is used that is linked into the programs.
type Licence struct {
	Module  string `json:"module"`
	Version string `json:"version"`
	Kind    string `json:"kind"` // such as MIT
	Text    string `json:"text"` // all of it, notices too
}

// String is the licence as it is printed.
func (l Licence) String() string {
	return strings.TrimSpace(l.Module+" "+l.Version) + " (" + l.Kind + ")\n\n" + l.Text + "\n"
}

// Licences are those of everything that is linked, by name; Go's own library and what comes inside modules too. They
// are made by cmd/internal/licences.
func Licences() ([]Licence, error) {
	r, err := gzip.NewReader(bytes.NewReader(licences))
	if err != nil {
		return nil, fmt.Errorf("read the licences: %w", err)
	}
	var all []Licence
	if err := json.NewDecoder(r).Decode(&all); err != nil {
		return nil, fmt.Errorf("read the licences: %w", err)
	}
	return all, nil
}
