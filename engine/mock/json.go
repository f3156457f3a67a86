package mock

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"

	"github.com/google/uuid"
)

// appendText writes a JSON string. Almost every text here is plain ASCII and is copied unchanged.
func appendText(b []byte, text string) []byte {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			quoted, err := json.Marshal(text)
			if err != nil {
				panic(err) // every string has a JSON form
			}
			return append(b, quoted...)
		}
	}
	return append(append(append(b, '"'), text...), '"')
}

// appendID writes a UUID as a JSON string.
func appendID(b []byte, id uuid.UUID) []byte {
	b = append(b, '"')
	b = append(hex.AppendEncode(b, id[:4]), '-')
	b = append(hex.AppendEncode(b, id[4:6]), '-')
	b = append(hex.AppendEncode(b, id[6:8]), '-')
	b = append(hex.AppendEncode(b, id[8:10]), '-')
	return append(hex.AppendEncode(b, id[10:]), '"')
}

// comma separates the i-th element from the one before it.
func comma(b []byte, i int) []byte {
	if i > 0 {
		return append(b, ',')
	}
	return b
}

// decode reads a body into a struct. It ignores unknown fields.
func decode(body []byte, into any) *refusal {
	var wrong *json.UnmarshalTypeError
	switch err := json.Unmarshal(body, into); {
	case err == nil:
		return nil
	case !errors.As(err, &wrong):
		return &refusal{http.StatusBadRequest, "The body is not valid JSON"}
	case wrong.Field == "":
		return &refusal{http.StatusBadRequest, "The body must be a JSON object"}
	case wrong.Type.Kind() == reflect.String:
		return &refusal{http.StatusBadRequest, wrong.Field + " must be a string"}
	default:
		return &refusal{http.StatusBadRequest, wrong.Field + " must be a whole number"}
	}
}
