package visible

import (
	"io"
	"sync"
	"unicode/utf8"
)

// Writer passes on its input as [Text]. It is safe for concurrent use. A character may be split between two writes; [Writer.Flush] writes
// an incomplete one at the end.
type Writer struct {
	to io.Writer

	mu   sync.Mutex
	left []byte // the start of a split character
	out  []byte
}

// NewWriter returns a writer that writes to another.
func NewWriter(to io.Writer) *Writer { return &Writer{to: to} }

// Unwrap returns the underlying writer, which writes without escaping.
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

// Flush writes an incomplete character.
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

// cut returns the number of bytes of an incomplete character at the end of a text.
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
