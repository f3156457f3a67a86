package validation

import (
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine/suggest"
)

// Unit is what has a figure.
type Unit string

// The units. Sessions of one agent are not independent of each other, so that their p-values are too small.
const (
	PerAgent   Unit = "agent"
	PerSession Unit = "session"
)

// Kind is how values are compared.
type Kind string

// The kinds of measures. Auto takes Number if every value of the column is a number, else Category.
const (
	Auto     Kind = ""
	Number   Kind = "number"
	Category Kind = "category"
)

// Measure pairs a column of the real data with a figure of a run.
type Measure struct {
	Column string
	Figure string // as in the file, such as events.purchase.total.mean
	Kind   Kind   // Number or Category once the file is read
	Per    Unit

	figure figure
}

// source is where a figure comes from.
type source uint8

const (
	fromActed source = iota
	fromOutcome
	fromCount  // of events
	fromField  // of events
	fromMemory // at the end
	fromAgent  // an attribute
)

// figure is a parsed name of a figure.
type figure struct {
	source    source
	name      string   // of the event, the field of the memory or the attribute
	field     []string // below it
	statistic string   // of several values
}

// The statistics of several values of a unit. Texts have a first and a last one only.
var statistics = []string{"last", "first", "mean", "sum", "min", "max", "median"}

// Known is what the scenario has that figures may name.
type Known struct {
	Events     []string
	AllEvents  bool // there are no others
	Memory     []string
	Attributes []string
	Acted      string // the event that counts as acted; "" if there is none
}

// names lists the figures, roughly, for hints.
func (k *Known) names() []string {
	all := []string{"acted", "outcome"}
	for prefix, names := range map[string][]string{"agent.": k.Attributes, "events.": k.Events, "memory.": k.Memory} {
		for _, n := range names {
			all = append(all, prefix+n)
		}
	}
	slices.Sort(all)
	return all
}

// mistake is why a figure is refused.
type mistake struct {
	problem string
	guess   suggest.Guess
}

// readFigure parses the name of a figure.
func (k *Known) readFigure(text string) (f figure, _ *mistake) {
	word, rest, _ := strings.Cut(text, ".")
	path := strings.Split(rest, ".")
	f.name, f.field, f.statistic = path[0], path[1:], "last"
	switch {
	case text == "acted":
		f.source = fromActed
		if k.Acted == "" {
			return f, &mistake{"the scenario does not say which event counts as having acted", suggest.Guess{Hint: "add `acted: EVENT` to the scenario"}}
		}
		return f, nil
	case text == "outcome":
		f.source = fromOutcome
		return f, nil
	case slices.Contains(path, "") || !slices.Contains([]string{"events", "memory", "agent"}, word):
		names := k.names()
		return f, &mistake{"there is no figure " + text, suggest.NewGuess(text, names, "figures: "+listed(names))}
	case word == "events":
		f.source = fromCount
		if n := len(f.field); n > 0 {
			f.source = fromField
			if n > 1 && slices.Contains(statistics, f.field[n-1]) {
				f.field, f.statistic = f.field[:n-1], f.field[n-1]
			}
		}
		if k.AllEvents {
			return f, unknown("the scenario never emits the event ", f.name, "events: ", k.Events)
		}
		return f, nil
	case word == "memory":
		f.source = fromMemory
		return f, unknown("no step remembers ", f.name, "memory: ", k.Memory)
	default:
		f.source = fromAgent
		return f, unknown("agents have no attribute ", f.name, "attributes: ", k.Attributes)
	}
}

// unknown returns a mistake unless a name is among others.
func unknown(problem, name, list string, names []string) *mistake {
	if slices.Contains(names, name) {
		return nil
	}
	return &mistake{problem + name, suggest.NewGuess(name, names, list+listed(names))}
}

// listed lists names, at most 40.
func listed(names []string) string {
	if len(names) == 0 {
		return "there are none"
	}
	return strings.Join(names[:min(len(names), 40)], ", ")
}

// perSession reports whether a session has the figure, too.
func (f *figure) perSession() bool { return f.source != fromMemory && f.source != fromAgent }
