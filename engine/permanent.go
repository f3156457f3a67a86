package engine

import (
	"errors"
	"net/http"
	"strconv"
)

// PermanentError is a failure that persists until a person changes the scenario, a setting or the service. Retries
// fail the same way. Fix says what to change.
type PermanentError struct {
	Err error
	Fix string
}

func (e *PermanentError) Error() string { return e.Err.Error() }
func (e *PermanentError) Unwrap() error { return e.Err }

// StatusError is an answer with an error status. Text follows the status in messages.
type StatusError struct {
	Status int
	Text   string
}

func (e *StatusError) Error() string { return "status " + strconv.Itoa(e.Status) + e.Text }

// Permanence is how certain it is that a failure repeats. The zero value means that waiting may help.
type Permanence uint8

const (
	// Heals is for an outage, a timeout or an overloaded server.
	Heals Permanence = iota
	// UntilChanged means that the service refuses or cannot be found. It is permanent only if the service never accepted a
	// request, because keys are renewed and hosts come back.
	UntilChanged
	// UntilCorrected means that the scenario is wrong.
	UntilCorrected
)

// permanentStatuses maps statuses that waiting does not change to advice on what to change.
var permanentStatuses = map[int]string{
	http.StatusBadRequest:            "the service cannot read the request: compare query and body of the step with the service's documentation",
	http.StatusUnauthorized:          "the service does not accept the credentials: check `auth` of the service and its secret",
	http.StatusForbidden:             "the service accepts the credentials, but does not allow this request: give them the right, or use others",
	http.StatusNotFound:              "the service has nothing at this address: check the path of the step and the `url` of the service",
	http.StatusMethodNotAllowed:      "the service does not take this method here: check get, post, put, patch or delete of the step",
	http.StatusNotAcceptable:         "the service does not answer in the format of the header Accept: change it",
	http.StatusGone:                  "the service no longer has anything at this address: check the path of the step and the `url` of the service",
	http.StatusLengthRequired:        "the service wants a body: add json, form or body to the step",
	http.StatusRequestEntityTooLarge: "the service does not take a body this large: send less",
	http.StatusRequestURITooLong:     "the service does not take an address this long: send less in the query",
	http.StatusUnsupportedMediaType:  "the service does not take this kind of body: check json, form or body, and the header Content-Type",
	http.StatusUnprocessableEntity:   "the service refuses the values in the request: compare query and body of the step with its documentation",
	http.StatusMovedPermanently:      movedFix,
	http.StatusFound:                 movedFix,
	http.StatusSeeOther:              movedFix,
	http.StatusTemporaryRedirect:     movedFix,
	http.StatusPermanentRedirect:     movedFix,
}

const (
	movedFix  = "the service sends elsewhere, and redirects are not followed: use the address that it names, or `redirects: follow`"
	scriptFix = "correct the expression or the function there, and try it with throngctl try"
	configFix = "correct it"
)

// Lasting reports whether waiting can resolve the failure of a session. The zero value means that it can.
type Lasting struct {
	Permanence Permanence
	Status     int    // of the answer; 0 without one
	Fix        string // what to change
}

// lastsOf classifies the error of a session with known class and path.
func lastsOf(err error, r *SessionRow) Lasting {
	status := statusOf(err, r)
	permanent, is := errors.AsType[*PermanentError](err)
	switch fix, refused := permanentStatuses[status]; {
	case is && (r.Class == Script || r.Class == ConfigError):
		return Lasting{UntilCorrected, status, permanent.Fix}
	case is:
		return Lasting{UntilChanged, status, permanent.Fix}
	case r.Class == Script:
		return Lasting{UntilCorrected, status, scriptFix}
	case r.Class == ConfigError:
		return Lasting{UntilCorrected, status, configFix}
	case r.Class == ClientError && refused:
		return Lasting{UntilChanged, status, fix}
	}
	return Lasting{}
}

// statusOf returns the status of the answer that an error is about. If the error comes from the journal, that is the
// last status in the step's record. It returns 0 if there was no answer.
func statusOf(err error, r *SessionRow) int {
	if s, ok := errors.AsType[*StatusError](err); ok {
		return s.Status
	}
	for i := range r.Steps {
		if s := &r.Steps[i]; s.Path == r.Path && len(s.Statuses) > 0 {
			return s.Statuses[len(s.Statuses)-1]
		}
	}
	return 0
}
