package dash

import (
	"os"
	"time"
)

// Keys without a character.
const (
	ctrlC   = 0x03
	ctrlL   = 0x0c
	ctrlZ   = 0x1a
	tab     = '\t'
	backTab = 0x100 // Shift+Tab
)

// typed returns the keys in terminal input. Unknown escape sequences are skipped.
func typed(text []byte) (keys []int) {
	for len(text) > 0 {
		if text[0] != 0x1b || len(text) == 1 {
			keys, text = append(keys, int(text[0])), text[1:]
			continue
		}
		end := 2
		if text[1] == '[' || text[1] == 'O' {
			for end < len(text) && (text[end] < 0x40 || text[end] > 0x7e) {
				end++
			}
			end = min(end+1, len(text))
		}
		switch string(text[:end]) {
		case "\x1b[A", "\x1bOA":
			keys = append(keys, '+')
		case "\x1b[B", "\x1bOB":
			keys = append(keys, '-')
		case "\x1b[Z":
			keys = append(keys, backTab)
		}
		text = text[end:]
	}
	return keys
}

// listen sends typed keys to a channel for the lifetime of the program: no other code reads the terminal after a dashboard.
func listen(in *os.File, keys chan<- int) {
	text := make([]byte, 64)
	for failed := 0; failed < 3; {
		n, err := in.Read(text)
		if err != nil || n == 0 {
			if !background(err) {
				failed++
			}
			time.Sleep(200 * time.Millisecond) // while in the background
			continue
		}
		failed = 0
		for _, k := range typed(text[:n]) {
			select {
			case keys <- k:
			default: // the dashboard is closed
			}
		}
	}
}
