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

// Escape sequences that switch to the alternate screen, without a cursor and line wrapping, and back.
const (
	enter = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J"
	leave = "\x1b[?7h\x1b[?25h\x1b[?1049l"
)

// Usable reports whether a terminal can show the dashboard: both files are terminals that support cursor movement.
func Usable(in, out *os.File, env func(string) string) bool {
	if kind := env("TERM"); kind == "dumb" || kind == "" && runtime.GOOS != "windows" {
		return false
	}
	return term.IsTerminal(int(in.Fd())) && term.IsTerminal(int(out.Fd()))
}

// LookOf returns the capabilities of a terminal, from environment variables.
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

// screen is a terminal while the dashboard uses it. One goroutine draws; close may be called from any goroutine.
type screen struct {
	in, out *os.File
	look    Look

	mu     sync.Mutex
	was    *term.State // original state; nil while the dashboard is not shown
	shown  []string    // lines on the screen
	width  int
	closed bool
}

// open takes over the terminal, unless the program is in the background.
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

// release restores the original state of the terminal.
func (s *screen) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.was == nil {
		return
	}
	_, _ = io.WriteString(s.out, leave) // the terminal may be gone
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

// show draws a picture. It writes only changed lines.
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
	_, err = io.WriteString(s.out, "\x1b[?2026h"+b.String()+"\x1b[?2026l") // synchronized output, if supported
	return err
}

// invalidate makes the next show draw every line.
func (s *screen) invalidate() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shown = nil
}
