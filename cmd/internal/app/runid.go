package app

import (
	"math/rand/v2"
	"time"

	"github.com/throng-sim/throng/engine"
)

// newRunID returns a run ID that sorts by time.
func newRunID(now time.Time) engine.RunID {
	return engine.RunID(now.UTC().Format("20060102-150405-") + randomLetters(4))
}

func randomLetters(n int) string {
	const letters = "abcdefghjkmnpqrstuvwxyz23456789"
	text := make([]byte, n)
	for i := range text {
		text[i] = letters[rand.IntN(len(letters))]
	}
	return string(text)
}
