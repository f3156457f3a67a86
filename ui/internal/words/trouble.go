package words

import (
	"context"
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/throng-sim/throng/engine"
)

// Trouble says of an error what it means for what was kept, and what a person can do; then what the program says of it.
func Trouble(err error) string {
	said := Sentence(err.Error())
	var mistake *engine.FieldError
	switch {
	case errors.As(err, &mistake): // it says what to do
		return said
	case errors.Is(err, engine.ErrInUse):
		return "The run is in progress, so nothing was changed. Stop it where it runs, or wait for its end. " + said
	case errors.Is(err, engine.ErrNotFound):
		return "It is not there any more: it was deleted, perhaps in another window. " + said
	case errors.Is(err, engine.ErrNoRoom):
		return "There is no room on the disk, or it cannot be written; nothing that was kept is lost. Make room, such as with Clean up and Trash in Runs, and try again. " + said
	case errors.Is(err, engine.ErrNewer):
		return "A newer Throng wrote it, and it is left as it is. Update this one. " + said
	case errors.Is(err, context.DeadlineExceeded):
		return "No answer came in time; nothing was changed. Try again. " + said
	default:
		return said
	}
}

// Sentence begins with a capital letter, unless it begins with a name such as that of a host or a setting, and ends. An empty text stays empty.
func Sentence(text string) string {
	if text = strings.TrimSuffix(text, "."); text == "" {
		return ""
	}
	text += "."
	first, _, _ := strings.Cut(text, " ")
	first = strings.TrimRight(first, ",;.")
	for i, r := range first {
		switch {
		case unicode.IsLower(r), i == 0 && unicode.IsUpper(r):
		default:
			return text
		}
	}
	r, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(r)) + text[size:]
}
