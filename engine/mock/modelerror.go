package mock

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// apiError is an error answer in the OpenAI wire format.
type apiError struct {
	status  int
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    *string `json:"code"`
}

// The types of errors.
const (
	typeInvalid = "invalid_request_error"
	typeLimit   = "rate_limit_error"
	typeServer  = "server_error"
)

func newAPIError(status int, kind, code, message string) *apiError {
	e := &apiError{status: status, Type: kind, Message: message}
	if code != "" {
		e.Code = &code
	}
	return e
}

// invalid returns a 400 for an invalid request. param is the member that is wrong.
func invalid(param, code, format string, args ...any) *apiError {
	e := newAPIError(http.StatusBadRequest, typeInvalid, code, fmt.Sprintf(format, args...))
	if param != "" {
		e.Param = &param
	}
	return e
}

func (e *apiError) body() []byte {
	b, err := json.Marshal(map[string]*apiError{"error": e})
	if err != nil {
		panic(err) // strings have a JSON form
	}
	return b
}
