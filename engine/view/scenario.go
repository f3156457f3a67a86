package view

import (
	"cmp"
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine/internal/doc"
)

// ParameterSpec describes a parameter of a scenario.
type ParameterSpec struct {
	Name, Title, About string
	Choices            []string // of texts; empty allows any text
}

// Problem is an error in one of a scenario's files, or a warning. Line and Col count from 1, columns in characters.
type Problem struct {
	File       string
	Line, Col  int
	Text, Hint string // Hint may be empty
	Meant      string // the name that was probably meant, which the hint asks for; "" if unknown
	Warning    bool
}

// Problems returns the problems and warnings of a report by file and position.
func Problems(r *doc.Report) (all []Problem) {
	for _, p := range r.Problems() {
		all = append(all, Problem{File: p.File, Line: p.Line, Col: p.Col, Text: p.Problem, Hint: p.Hint, Meant: p.Meant})
	}
	for _, p := range r.Warnings() {
		all = append(all, Problem{File: p.File, Line: p.Line, Col: p.Col, Text: p.Problem, Hint: p.Hint, Meant: p.Meant, Warning: true})
	}
	slices.SortStableFunc(all, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
	})
	return all
}

// String returns the text and the hint.
func (p Problem) String() string {
	if p.Hint == "" {
		return p.Text
	}
	return p.Text + ": " + p.Hint
}

// Brief returns the text, with the hint's suggestion if there is a short one.
func (p Problem) Brief() string {
	if meant, _, ok := strings.Cut(p.Hint, "?"); ok && len(meant) < 60 {
		return p.Text + ": " + meant + "?"
	}
	return p.Text
}
