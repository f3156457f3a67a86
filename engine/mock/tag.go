package mock

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
)

// tag is the content of X-Throng-Request: cycle/path/attempt simulated-time.
type tag struct {
	cycle, attempt int
	path           string
	at             time.Time
}

var errTag = errors.New("X-Throng-Request must be cycle/path/attempt and the simulated time, " +
	"as in 3/fill_cart[2].add_cart/1 2026-01-02T11:00:00Z")

// parseTag reads the header. The path must not contain a slash.
func parseTag(header string) (tag, error) {
	space := strings.LastIndexByte(header, ' ')
	if space < 0 {
		return tag{}, errTag
	}
	place, stamp := header[:space], header[space+1:]
	cycleText, rest, _ := strings.Cut(place, "/")
	path, attemptText, _ := strings.Cut(rest, "/")
	cycle, err := parseCount(cycleText)
	if err != nil || path == "" {
		return tag{}, errTag
	}
	attempt, err := parseCount(attemptText)
	if err != nil {
		return tag{}, errTag
	}
	at, err := time.Parse(time.RFC3339, stamp)
	if err != nil {
		return tag{}, errTag
	}
	return tag{cycle: cycle, path: path, attempt: attempt, at: at.UTC()}, nil
}

// parseCount reads a number of 0 to 2^31-1.
func parseCount(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err == nil && (n < 0 || n > math.MaxInt32) {
		err = strconv.ErrRange
	}
	return n, err
}
