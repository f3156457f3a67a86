package view

import "strings"

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
