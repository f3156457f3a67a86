package engine

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// RunID names one run in a store, and is part of the names of files. Wherever one comes in, from a command line, a file,
// a socket or a database, [RunID.Check] is asked first.
type RunID string

// runID is what an id may be: short, and a name of a file in one folder on every system.
var runID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)

// devices are names that Windows does not take for files, with any ending.
var devices = regexp.MustCompile(`(?i)^(con|prn|aux|nul|com[0-9]|lpt[0-9])$`)

// Check returns a *FieldError if the id cannot be one, nor the beginning of one.
func (id RunID) Check() error {
	if runID.MatchString(string(id)) && !devices.MatchString(string(id)) {
		return nil
	}
	const most = 80
	text := []rune(strings.ToValidUTF8(string(id), "\uFFFD"))
	if len(text) > most {
		text = append(text[:most], '…')
	}
	return &FieldError{
		Field: "run", Problem: fmt.Sprintf("%q cannot be the ID of a run", string(text)),
		Hint: "IDs have up to 64 letters, digits, dashes and underscores, such as 20260301-120000-abcd",
	}
}

// CheckIDs is [RunID.Check] for the run and, if it is a fork, its parent.
func (r *RunRecord) CheckIDs() error {
	if r.Parent == "" {
		return r.ID.Check()
	}
	return errors.Join(r.ID.Check(), r.Parent.Check())
}
