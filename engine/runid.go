package engine

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// RunID identifies a run in a store and is part of file names. Call [RunID.Check] on every ID from a command line, a
// file, a socket or a database.
type RunID string

// runID matches valid IDs: short, and valid as a file name on every system.
var runID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]*$`)

// devices matches the reserved device names of Windows, which cannot be file names with any extension.
var devices = regexp.MustCompile(`(?i)^(con|prn|aux|nul|com[0-9]|lpt[0-9])$`)

// Check returns a *FieldError if the ID is not valid or is not a valid beginning of an ID.
func (id RunID) Check() error {
	if len(id) <= 64 && runID.MatchString(string(id)) && !devices.MatchString(string(id)) {
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

// CheckIDs calls [RunID.Check] for the run and, if it is a fork, for its parent.
func (r *RunRecord) CheckIDs() error {
	if r.Parent == "" {
		return r.ID.Check()
	}
	return errors.Join(r.ID.Check(), r.Parent.Check())
}
