package dash

import (
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/term"
)

// What puts a terminal's other screen up, without a cursor and without breaking lines, and what takes it down.
const (
	enter = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J"
	leave = "\x1b[?7h\x1b[?25h\x1b[?1049l"
)

// Usable reports whether a terminal can show the dashboard: both ends are one, and it knows how to move a cursor.
func Usable(in, out *os.File, env func(string) string) bool {
	if kind := env("TERM"); kind == "dumb" || kind == "" && runtime.GOOS != "windows" {
		return false
	}
	return term.IsTerminal(int(in.Fd())) && term.IsTerminal(int(out.Fd()))
}

// LookOf is what a terminal can show, by the environment.
func LookOf(env func(string) string) Look {
	look := Look{Mono: env("NO_COLOR") != ""}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if locale := strings.ToLower(env(name)); locale != "" {
			look.ASCII = !strings.Contains(locale, "utf-8") && !strings.Contains(locale, "utf8")
			break
		}
	}
	return look
}

// screen is a terminal while the dashboard is on it. Who draws has it for itself; close may come from any goroutine.
type screen struct {
	in, out *os.File
	look    Look

	mu     sync.Mutex
	was    *term.State // nil while the terminal is as it was found
	shown  []string    // what stands on it, by line
	width  int
	closed bool
}

// open takes the terminal. One in whose background the program runs is left alone until it is brought to the front.
func (s *screen) open() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.was != nil || !inFront(s.out) {
		return nil
	}
	was, err := term.MakeRaw(int(s.in.Fd()))
	if err != nil {
		return err
	}
	s.was, s.shown = was, nil
	_, err = io.WriteString(s.out, enter)
	return err
}

// release gives the terminal back as it was found.
func (s *screen) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.was == nil {
		return
	}
	_, _ = io.WriteString(s.out, leave) // a terminal that has gone needs none of it
	_ = term.Restore(int(s.in.Fd()), s.was)
	s.was = nil
}

// close releases the terminal for good.
func (s *screen) close() {
	s.release()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
}

// show draws a picture; only lines that are others than before are written.
func (s *screen) show(p *picture) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.was == nil {
		return nil
	}
	width, height, err := term.GetSize(int(s.out.Fd()))
	if err != nil || width < 1 || height < 1 {
		width, height = 80, 24
	}
	var b strings.Builder
	if s.shown == nil || len(s.shown) != height || s.width != width {
		b.WriteString("\x1b[2J")
		s.shown, s.width = make([]string, height), width
	}
	for y, l := range p.draw(width, height) {
		text := l.encode(s.look)
		if y < height && text != s.shown[y] {
			b.WriteString("\x1b[" + strconv.Itoa(y+1) + ";1H" + text)
			s.shown[y] = text
		}
	}
	if b.Len() == 0 {
		return nil
	}
	_, err = io.WriteString(s.out, "\x1b[?2026h"+b.String()+"\x1b[?2026l") // at once, where the terminal knows how
	return err
}

// anew has the next picture drawn whole.
func (s *screen) anew() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shown = nil
}
