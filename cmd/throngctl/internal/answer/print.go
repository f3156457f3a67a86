package answer

import (
	"encoding/json"
	"io"
)

// Print prints a value as indented JSON.
func Print(w io.Writer, value any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(value)
}

// PrintLine prints a value as a line of JSON.
func PrintLine(w io.Writer, value any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(value)
}
