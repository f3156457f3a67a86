package draft

import (
	"strings"

	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/view"
)

// Mistake is a mistake with the field of the form that it is about.
type Mistake struct {
	Field string // the keys of the value in the file, such as vary.params.eagerness or replicates.until; "" if it has no field
	view.Problem
}

// Locate finds the fields of mistakes in the file that a draft has become. name is the file's name in the mistakes.
func Locate(name string, text []byte, problems []view.Problem) []Mistake {
	root := doc.Parse(name, text, &doc.Report{})
	all := make([]Mistake, 0, len(problems))
	for _, p := range problems {
		m := Mistake{Problem: p}
		if p.File == name {
			m.Field = strings.Join(path(root, p.Line, p.Col), ".")
		}
		all = append(all, m)
	}
	return all
}

// parted are the keys of the file whose values have fields of their own.
var parted = map[string]bool{"vary": true, "replicates": true, "baseline": true, "settings": true, "budget": true}

// path returns the keys of the value at a position.
func path(root *doc.Node, line, col int) []string {
	top := last(root, line, col)
	if top.Key == nil {
		return nil
	}
	name := top.Key.Text()
	if below := last(top.Value, line, col); parted[name] && below.Key != nil {
		return []string{name, below.Key.Text()}
	}
	return []string{name}
}

// last returns the last entry of a map that begins at or before a position.
func last(n *doc.Node, line, col int) (found doc.Entry) {
	for _, e := range entries(n) {
		if l, c := e.Key.Position(); l < line || l == line && c <= col {
			found = e
		}
	}
	return found
}
