package cookies

import (
	"net/http"
	"slices"
	"strings"
)

// Log holds the cookies that the answers of a session have set, by service and in the order of the steps. The zero value is empty.
// It is used by one goroutine.
type Log struct {
	all []entry
	own int // entries from here on were added after Fork
}

// entry is a normalized cookie of a service.
type entry struct{ service, set, identity string }

// Fork returns a copy for a step that runs in parallel with others.
func (l *Log) Fork() Log {
	return Log{all: slices.Clone(l.all), own: len(l.all)}
}

// Join adds what other, a log that was forked, has added since.
func (l *Log) Join(other *Log) {
	for _, e := range other.all[other.own:] {
		l.add(e)
	}
}

// Inherit adds what other has added since its fork, as if it had been there at the fork of l.
func (l *Log) Inherit(other *Log) {
	l.Join(other)
	l.own = len(l.all)
}

// Add adds the normalized cookies of an answer.
func (l *Log) Add(service string, set []string) {
	for _, line := range set {
		l.add(entry{service, line, identity(line)})
	}
}

// add adds a cookie. An earlier one with the same name, domain and path has no effect anymore.
func (l *Log) add(e entry) {
	count, first := 0, -1
	for i := range l.all {
		if l.all[i].service != e.service {
			continue
		}
		if l.all[i].identity == e.identity {
			l.remove(i)
			count = 0
			break
		}
		if first < 0 {
			first = i
		}
		count++
	}
	if count >= maxKept {
		l.remove(first)
	}
	l.all = append(l.all, e)
}

func (l *Log) remove(i int) {
	l.all = slices.Delete(l.all, i, i+1)
	if i < l.own {
		l.own--
	}
}

// Of returns the cookies of a service, in order.
func (l *Log) Of(service string) (set []string) {
	for i := range l.all {
		if l.all[i].service == service {
			set = append(set, l.all[i].set)
		}
	}
	return set
}

// Values returns the values of all cookies.
func (l *Log) Values() []string {
	var set []string
	for i := range l.all {
		set = append(set, l.all[i].set)
	}
	return Values(set)
}

// Empty reports whether the log has no cookies.
func (l *Log) Empty() bool { return len(l.all) == 0 }

// identity returns what a cookie replaces: name, domain and path.
func identity(line string) string {
	c, err := http.ParseSetCookie(line)
	if err != nil {
		return line
	}
	return c.Name + "\x00" + strings.ToLower(c.Domain) + "\x00" + c.Path
}
