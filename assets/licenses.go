package assets

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
)

//go:generate go run github.com/throng-sim/throng/cmd/internal/licenses

//go:embed licenses.json.gz
var licenses []byte

// License is under what terms something is used that is linked into the programs.
type License struct {
	Module  string `json:"module"`
	Version string `json:"version"`
	Kind    string `json:"kind"` // such as MIT
	Text    string `json:"text"` // all of it, notices too
}

// String is the license as it is printed.
func (l License) String() string {
	return strings.TrimSpace(l.Module+" "+l.Version) + " (" + l.Kind + ")\n\n" + l.Text + "\n"
}

// Licenses are those of everything that is linked, by name; Go's own library and what comes inside modules too. They
// are made by cmd/internal/licenses.
func Licenses() ([]License, error) {
	r, err := gzip.NewReader(bytes.NewReader(licenses))
	if err != nil {
		return nil, fmt.Errorf("read the licenses: %w", err)
	}
	var all []License
	if err := json.NewDecoder(r).Decode(&all); err != nil {
		return nil, fmt.Errorf("read the licenses: %w", err)
	}
	return all, nil
}
