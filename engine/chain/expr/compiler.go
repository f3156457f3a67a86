// Package expr compiles the expressions, values, paths and secrets of a scenario file.
package expr

import (
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/script"
	"github.com/throng-sim/throng/engine/script/known"
	"github.com/throng-sim/throng/engine/suggest"
)

// maxGuesses is the number of errors with a suggestion, so that every file is read quickly.
const maxGuesses = 100

// File is what the expressions of one file have in common.
type File struct {
	Env *script.Env
	// Fields are the fields of names with known fields, such as agent. Using another field is an error.
	Fields map[string][]string

	guesses int                // suggestions made so far
	Sent    map[*doc.Node]bool // values that send secrets without storing them
	later   []func()
}

// Later calls f once the whole file is read.
func (f *File) Later(check func()) { f.later = append(f.later, check) }

// Settle makes the checks that wait for the whole file. Call it once.
func (f *File) Settle() {
	for _, check := range f.later {
		check()
	}
	f.later = nil
}

// Guessing reports whether errors still get suggestions.
func (f *File) Guessing() bool { return f.guesses < maxGuesses }

// Compiler compiles expressions. Errors go to the report of the nodes.
type Compiler struct {
	File    *File
	Names   []string // that expressions may use
	Steps   Steps    // that expressions may use
	Secrets Holder   // whose secrets values may use; nil for none
	Cookies bool     // values may use the cookies of that service
	Changes bool     // it reads a changing request
	Stable  string   // the value being read, if it must not differ between runs; "" if it may
}

// Steps are the steps around an expression.
type Steps interface {
	Has(step string) bool
	Kind(step string) string
	Use(step string)
	Unseen(step string) (problem string, g suggest.Guess)
	known.Names
}

// Holder has secrets.
type Holder interface{ Needs(secret string) }

// Near returns the guess for an unknown name: a similar name, or else.
func (f *File) Near(name string, names []string, otherwise string) suggest.Guess {
	if f.guesses++; f.guesses > maxGuesses {
		return suggest.Guess{Hint: otherwise}
	}
	slices.Sort(names)
	if otherwise == "" && len(names) > 0 && len(names) <= 30 {
		otherwise = "there are " + strings.Join(names, ", ")
	}
	return suggest.NewGuess(name, names, otherwise)
}
