package draft

import (
	"fmt"
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine/internal/doc"
)

// value is a value of the file at a path of one or two keys.
type value struct {
	path []string
	text string // YAML on one line
}

// values returns what the file has of a draft, in the order of the file.
func (d *Draft) values() (all []value) {
	add := func(text string, path ...string) { all = append(all, value{path, text}) }
	given := func(text string, path ...string) {
		if text != "" {
			add(token(text), path...)
		}
	}
	given(d.Title, "title")
	given(d.Scenario, "scenario")
	for _, f := range d.Factors {
		if f.Varied {
			add(levels(f.Levels), "vary", f.Name)
		}
	}
	if d.Design.Kind != "" {
		add(d.Design.yaml(), "design")
	}
	if d.Seeds != "" {
		add(d.seeds(), "replicates", "seeds")
	}
	if d.Until.HalfWidth != "" || d.Until.AtMost != "" {
		add(d.Until.yaml(), "replicates", "until")
	}
	for _, f := range d.Factors {
		if f.Varied && f.Baseline != "" {
			if parts := split(f.Baseline); len(parts) == 1 {
				add(parts[0].token(), "baseline", f.Name)
			} else {
				add(quote(f.Baseline), "baseline", f.Name)
			}
		}
	}
	if d.Measures != nil {
		names := make([]string, len(d.Measures))
		for i, name := range d.Measures {
			names[i] = doc.Format(name)
		}
		add("["+strings.Join(names, ", ")+"]", "measures")
	}
	for _, s := range d.Settings {
		given(s.Value, "settings", s.Name)
	}
	given(d.Budget.USD, "budget", "usd")
	given(d.Budget.Time, "budget", "time")
	given(d.Parallel, "parallel")
	return all
}

func (d *Design) yaml() string {
	switch {
	case d.N == "" || !slices.Contains(Counted(), d.Kind):
		return token(d.Kind)
	case d.Levels != "" && d.Kind == "morris":
		return fmt.Sprintf("{%s: %s, levels: %s}", d.Kind, token(d.N), token(d.Levels))
	default:
		return fmt.Sprintf("{%s: %s}", d.Kind, token(d.N))
	}
}

func (d *Draft) seeds() string {
	if inner, ok := strings.CutPrefix(d.Seeds, "["); ok {
		return listed(strings.TrimSuffix(inner, "]"))
	}
	if strings.Contains(d.Seeds, ",") {
		return listed(d.Seeds)
	}
	return token(d.Seeds)
}

func (u *Until) yaml() string {
	var fields []string
	for _, f := range []Setting{{"half_width", u.HalfWidth}, {"of", u.Of}, {"at_most", u.AtMost}} {
		if f.Value != "" {
			fields = append(fields, f.Name+": "+token(f.Value))
		}
	}
	return "{" + strings.Join(fields, ", ") + "}"
}

// YAML returns a new file with the draft.
func (d *Draft) YAML() []byte {
	var b strings.Builder
	all := d.values()
	for i := 0; i < len(all); {
		v := all[i]
		n := 1
		for i+n < len(all) && len(v.path) > 1 && all[i+n].path[0] == v.path[0] {
			n++
		}
		b.WriteString(v.path[0] + ":")
		switch {
		case len(v.path) == 1:
			b.WriteString(" " + v.text)
		case v.path[0] == "vary":
			for _, f := range all[i : i+n] {
				b.WriteString("\n  " + doc.Format(f.path[1]) + ": " + f.text)
			}
		default:
			for k, f := range all[i : i+n] {
				b.WriteString([]string{", ", " {"}[max(1-k, 0)] + doc.Format(f.path[1]) + ": " + f.text)
			}
			b.WriteString("}")
		}
		b.WriteString("\n")
		i += n
	}
	return []byte(b.String())
}

// Edit returns the text of a file with the draft in it. Values that are the same stay as they are written, as does everything that a
// draft does not hold, comments included. An error names the part that must be changed by hand. file is its name in messages.
func (d *Draft) Edit(file string, text []byte) ([]byte, error) {
	was, err := Read(file, text)
	if err != nil {
		return nil, err
	}
	before, after := was.values(), d.values()
	replicates := changedBelow("replicates", before, after) && doc.At(doc.Parse(file, text, &doc.Report{}), "replicates").Kind() != doc.Map
	if replicates {
		before, after = merged("replicates", before), merged("replicates", after)
	}
	find := func(in []value, path []string) int {
		return slices.IndexFunc(in, func(v value) bool { return slices.Equal(v.path, path) })
	}
	for _, v := range after {
		if i := find(before, v.path); i < 0 || before[i].text != v.text {
			if text, err = doc.Put(file, text, v.path, v.text); err != nil {
				return nil, fmt.Errorf("%s: %w", strings.Join(v.path, " "), err)
			}
		}
	}
	for _, v := range before {
		if find(after, v.path) < 0 {
			if text, err = doc.Remove(file, text, v.path); err != nil {
				return nil, fmt.Errorf("%s: %w", strings.Join(v.path, " "), err)
			}
		}
	}
	return text, nil
}

// under returns the values below a key of the file.
func under(key string, all []value) (found []value) {
	for _, v := range all {
		if v.path[0] == key {
			found = append(found, v)
		}
	}
	return found
}

func changedBelow(key string, before, after []value) bool {
	return !slices.EqualFunc(under(key, before), under(key, after), func(a, b value) bool { return a.text == b.text && slices.Equal(a.path, b.path) })
}

// merged makes one value of those below a key. A file may have a single one of them in place of the map.
func merged(key string, all []value) []value {
	below := under(key, all)
	all = slices.DeleteFunc(all, func(v value) bool { return v.path[0] == key })
	var fields []string
	for _, v := range below {
		fields = append(fields, v.path[1]+": "+v.text)
	}
	switch {
	case len(below) == 0:
		return all
	case len(below) == 1 && below[0].path[1] == "seeds":
		return append(all, value{[]string{key}, below[0].text})
	default:
		return append(all, value{[]string{key}, "{" + strings.Join(fields, ", ") + "}"})
	}
}
