package visible

import (
	"io"
	"sync"
	"unicode/utf8"
)

// Writer writes what [Text] makes of what it is given. It is safe for concurrent use. A character may be cut between two
// writes; [Writer.Flush] writes what is left of one at the end.
type Writer struct {
	to io.Writer

	mu   sync.Mutex
	left []byte // the beginning of a character
	out  []byte
}

// NewWriter returns a writer to another.
func NewWriter(to io.Writer) *Writer { return &Writer{to: to} }

// Unwrap returns the writer below, which gets what is written as it is.
func (w *Writer) Unwrap() io.Writer { return w.to }

// Write implements [io.Writer].
func (w *Writer) Write(text []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := len(text)
	if len(w.left) > 0 {
		text = append(w.left, text...)
	}
	whole := len(text) - cut(text)
	w.out = appendText(w.out[:0], text[:whole])
	w.left = append([]byte(nil), text[whole:]...)
	if _, err := w.to.Write(w.out); err != nil {
		return 0, err
	}
	return n, nil
}

// Flush writes what is left of a character that was cut.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.left) == 0 {
		return nil
	}
	w.out = appendText(w.out[:0], w.left)
	w.left = nil
	_, err := w.to.Write(w.out)
	return err
}

// cut is how many bytes at the end of a text begin a character that is not whole.
func cut(text []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if tail := text[len(text)-n:]; utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				return 0
			}
			return n
		}
	}
	return 0
}
