package storage

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/outcomes"
)

const (
	// mostFields is the maximum number of columns for fields; further fields are in the column more.
	mostFields = 200
	// mostEventFiles is the maximum number of files with the events of one name.
	mostEventFiles = 20
)

// fieldColumns are the columns for the fields of events, or for the attributes of agents. Several fields never share a column.
type fieldColumns struct {
	fieldWords
	fields []fieldColumn
	at     map[string]int  // index by key
	names  map[string]bool // of the columns so far, in lower case: some databases ignore the case
	more   bool            // there are fields without a column
}

// fieldWords say what fields are.
type fieldWords struct {
	prefix string // of a name that another column has
	help   string // with %s for the name of the field
	most   int    // columns; further fields are in the column more
}

var eventWords = fieldWords{"data_", "Field %s of the event's data.", mostFields}

type fieldColumn struct {
	key  string
	name string // of the column
	kind kind
	seen bool // a value other than null exists, which determines the kind
}

// newFieldColumns returns no columns, which will follow others.
func newFieldColumns[R any](others []cell[R], words fieldWords) *fieldColumns {
	f := &fieldColumns{fieldWords: words, at: map[string]int{}, names: map[string]bool{"more": true}}
	for i := range others {
		f.names[others[i].name] = true
	}
	return f
}

func newEventFields() *fieldColumns { return newFieldColumns(eventCells, eventWords) }

// see adds a field, or extends the type of its column.
func (f *fieldColumns) see(key, value []byte) {
	i, ok := f.at[string(key)]
	if !ok {
		if len(f.fields) == f.most {
			f.more = true
			return
		}
		i = len(f.fields)
		f.at[string(key)] = i
		f.fields = append(f.fields, fieldColumn{key: string(key), name: f.unused(columnName(string(key))), kind: textCells})
	}
	k, known := kindOf(value)
	field := &f.fields[i]
	switch {
	case !known || field.seen && field.kind == k:
	case !field.seen:
		field.kind, field.seen = k, true
	case k == intCells && field.kind == floatCells:
	case k == floatCells && field.kind == intCells:
		field.kind = floatCells
	default:
		field.kind = jsonCells
	}
}

// columnName returns the name of a column for a field: letters, digits and underscores.
func columnName(key string) string {
	name := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return '_'
	}, key)
	if name == "" || unicode.IsDigit([]rune(name)[0]) {
		return "_" + name
	}
	return name
}

// unused returns a name that no column has: with the prefix, such as data_NAME, then with a number, if there is such a column.
func (f *fieldColumns) unused(name string) string {
	free := name
	for i := 1; f.names[strings.ToLower(free)]; i++ {
		free = f.prefix + name
		if i > 1 {
			free += "_" + strconv.Itoa(i)
		}
	}
	f.names[strings.ToLower(free)] = true
	return free
}

// columns returns the columns of the fields.
func (f *fieldColumns) columns() (all []column) {
	for _, field := range f.fields {
		all = append(all, column{field.name, field.kind, "", fmt.Sprintf(f.help, strconv.Quote(field.key))})
	}
	if f.more {
		all = append(all, column{"more", jsonCells, "", "Fields without a column."})
	}
	return all
}

// add adds the cells of an event's fields.
func (f *fieldColumns) add(t *table, e *flatEvent) {
	start := len(t.row)
	for range f.fields {
		t.plain("")
	}
	var more []byte
	for i := range e.Keys {
		at, ok := f.at[string(e.Keys[i])]
		if ok && f.fields[at].fits(e.Values[i]) {
			row := t.row
			t.row = t.row[:start+at]
			t.value(f.fields[at].kind, e.Values[i])
			t.row = row
			continue
		}
		before := byte(',')
		if more == nil {
			before = '{'
		}
		key, _ := json.Marshal(string(e.Keys[i])) // a text
		more = append(append(append(append(more, before), key...), ':'), e.Values[i]...)
	}
	if !f.more {
		return
	}
	if more != nil {
		more = append(more, '}')
	}
	t.json(more)
}

// fits reports whether a value can be in the field's column.
func (f *fieldColumn) fits(value []byte) bool {
	k, known := kindOf(value)
	return !known || k == f.kind || f.kind == jsonCells || k == intCells && f.kind == floatCells
}

// value adds the cell of a JSON value.
func (t *table) value(k kind, value []byte) {
	switch {
	case k == jsonCells:
		t.json(value)
	case bytes.Equal(value, null):
		t.plain("")
	case k == textCells:
		var text string
		if json.Unmarshal(value, &text) != nil {
			text = string(value)
		}
		t.text(text)
	default:
		t.plain(string(value))
	}
}

var null = []byte("null")

// kindOf returns the kind of a JSON value; false for null.
func kindOf(value []byte) (k kind, known bool) {
	if len(value) == 0 {
		return 0, false
	}
	switch c := value[0]; {
	case c == '"':
		return textCells, true
	case c == 'n':
		return 0, false
	case c == 't', c == 'f':
		return boolCells, true
	case c == '-' || c >= '0' && c <= '9':
		if _, err := strconv.ParseInt(string(value), 10, 64); err == nil {
			return intCells, true
		}
		if x, err := strconv.ParseFloat(string(value), 64); err == nil && !math.IsInf(x, 0) {
			return floatCells, true
		}
	}
	return jsonCells, true
}

// flatEvent holds the fields of an event's data.
type flatEvent struct {
	outcomes.Fields
	cycle, agent int
	at           int // of the event in the session
	read         bool
}

// of returns the fields of the event of a record. It is read once for all files.
func (e *flatEvent) of(r *record) *flatEvent {
	if !e.read || e.cycle != r.Cycle || e.agent != r.Agent || e.at != r.at {
		e.cycle, e.agent, e.at, e.read = r.Cycle, r.Agent, r.at, true
		e.Split(r.Events[r.at].Data)
	}
	return e
}

// survey is what the files of a run contain: the fields of its events, and whether there are messages, and answers of models to compare.
type survey struct {
	all      *fieldColumns
	names    []string // of events, in the order in which they first occur
	byName   map[string]*fieldColumns
	messages bool

	decisions bool // of models and rules
}

// surveyed reads the sessions of a run to find out what columns their events need.
func surveyed(ctx context.Context, r Reader, run engine.RunID) (*survey, error) {
	s := &survey{all: newEventFields(), byName: map[string]*fieldColumns{}}
	record, err := r.Run(ctx, run)
	if err != nil {
		return nil, err
	}
	s.all.more = record.InProgress // rows may be added while the files are written
	var e outcomes.Fields
	for row, err := range r.Sessions(ctx, run, 0, 0) {
		if err != nil {
			return nil, err
		}
		s.messages = s.messages || len(row.Delta.Said) > 0
		s.decisions = s.decisions || slices.ContainsFunc(row.Steps, func(step engine.StepRecord) bool { return step.Decision != nil })
		for i := range row.Events {
			name := row.Events[i].Name
			own := s.byName[name]
			if own == nil && len(s.names) <= mostEventFiles {
				own = newEventFields()
				own.more = record.InProgress
				s.names, s.byName[name] = append(s.names, name), own
			}
			e.Split(row.Events[i].Data)
			for k := range e.Keys {
				s.all.see(e.Keys[k], e.Values[k])
				if own != nil {
					own.see(e.Keys[k], e.Values[k])
				}
			}
		}
	}
	return s, nil
}

// apart returns the names of events that have a file because their fields differ from those of others.
func (s *survey) apart() []string {
	if len(s.names) < 2 || len(s.names) > mostEventFiles {
		return nil
	}
	for _, name := range s.names {
		if len(s.byName[name].fields) != len(s.all.fields) {
			return s.names
		}
	}
	return nil
}

// fileNames returns names of files for the events, such as events_order.
func fileNames(names []string) []string {
	taken := map[string]bool{}
	all := make([]string, len(names))
	for i, name := range names {
		file := eventsTable + "_" + strings.ToLower(columnName(name))
		for n := 2; taken[file]; n++ {
			file = eventsTable + "_" + strings.ToLower(columnName(name)) + "_" + strconv.Itoa(n)
		}
		taken[file], all[i] = true, file
	}
	return all
}
