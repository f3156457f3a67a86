package scenario

import (
	"path"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"github.com/throng-sim/throng/engine/chain/expr"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/people"
	"github.com/throng-sim/throng/engine/script/value"
	"github.com/throng-sim/throng/engine/suggest"
)

// table reads the rows of a population, from a file or from the scenario itself; nil if it has none. The known
// attributes of agents include the columns. If a file is too damaged to read its columns, the attributes are unknown.
func (r populationReader) table(n *doc.Node) *table {
	var t *table
	source := n.Only("rows", "from", "write")
	if source.Key == nil || source.Key.Text() != "from" {
		for _, key := range append([]string{"types"}, drawingKeys...) {
			n.Get(key).Errorf("remove it", "%s needs a file: `from`", key)
		}
	}
	switch {
	case source.Key == nil:
		return nil
	case source.Key.Text() == "rows":
		t = r.rows(source.Value)
	case source.Key.Text() == "write":
		t = toBeWritten(source.Value)
	case isDrawn(n):
		count := -1
		if n.Get("count") != nil {
			count = r.s.Agents
		}
		t = r.drawn(n, count)
	default:
		t = r.from(source.Value, n.Get("types"))
	}
	if t == nil {
		delete(r.chains.Fields, "agent")
		return nil
	}
	for _, name := range t.names {
		if expr.IsName(name) {
			r.knowField(name)
		}
	}
	return t
}

// from reads a population file.
func (r populationReader) from(n, types *doc.Node) *table {
	name := n.Text()
	if name == "" {
		return nil
	}
	if !isSheet(name) {
		n.Errorf("a .csv file with a header, a .jsonl file with an object a line, or a .parquet file", "a population cannot be read from %s", name)
		return nil
	}
	text, err := r.open(name)
	if err != nil {
		unread(n, "the file must be in the scenario's folder", "the population cannot be read: ", name, err)
		return nil
	}
	if path.Ext(name) != ".csv" {
		types.Errorf("remove it, or choose `columns`: JSON has types of its own", "types are for .csv files")
	}
	kinds := readTypes(types)
	t := newSheet(name, text, r.report).read(kinds)
	if t != nil && path.Ext(name) == ".csv" {
		for _, e := range types.Entries() {
			checkColumn(e.Key, t)
		}
	}
	return t
}

// readTypes reads the kinds of columns.
func readTypes(n *doc.Node) map[string]people.Kind {
	kinds := map[string]people.Kind{}
	for _, e := range n.Entries() {
		name := e.Key.Text()
		if name == "id" {
			e.Key.Errorf("remove it", "an id is a string, always")
			continue
		}
		if i := slices.Index(people.KindNames, e.Value.OneOf(people.KindNames...)); i >= 0 {
			kinds[name] = people.Kind(i)
		}
	}
	return kinds
}

// checkColumn reports a name that is not a column.
func checkColumn(n *doc.Node, t *table) {
	name := n.Text()
	if name == "id" || t.has(name) {
		return
	}
	n.Guess(suggest.NewGuess(name, t.names, "there are "+strings.Join(t.names, ", "))).Errorf("there is no column %s", name)
}

// rowList are rows that stand in the scenario itself.
type rowList []*value.Record

func (l rowList) record(row int) (*value.Record, error) { return l[row], nil }

// rows reads rows that stand in the scenario itself.
func (r populationReader) rows(n *doc.Node) *table {
	items := n.List()
	if len(items) == 0 && (n.Kind() == doc.List || n.Kind() == doc.Null) {
		n.Errorf("`- {id: ann, age: 30}`", "there are no rows")
	}
	var names []string
	var list rowList
	known, ids := map[string]bool{}, newIDList()
	for _, item := range items {
		var fields []value.Field
		for _, e := range item.Entries() {
			name := e.Key.Text()
			if name == "id" {
				continue
			}
			if !known[name] {
				known[name] = true
				names = append(names, name)
				checkAttribute(e.Key, name, len(names))
			}
			fields = append(fields, value.Field{Name: name, Value: plain(e.Value)})
		}
		r.rowID(item, items[0].Get("id") != nil, ids)
		list = append(list, asData(item, fields))
	}
	t := newTable(names[:min(len(names), maxNames)])
	t.rows, t.records, t.ids = len(list), list, ids.column()
	return t
}

// checkAttribute reports what the attribute of a row cannot be called.
func checkAttribute(n *doc.Node, name string, count int) {
	if slices.Contains(ownNames, name) {
		n.Errorf("choose another name", "%s is what every agent has already", name)
	}
	expr.CheckName(n, name, "an attribute")
	if count == maxNames+1 {
		n.Errorf("rows have the same names, mostly", "more than %d attributes", maxNames)
	}
}

// rowID reads what the agent of a row is called. Either all rows say it, as the first does, or none.
func (r populationReader) rowID(item *doc.Node, wanted bool, ids *idList) {
	n := item.Get("id")
	switch {
	case item.Kind() != doc.Map: // reported
		return
	case n == nil && wanted:
		item.Errorf("every row has one, or none has", "the row has no id")
		return
	case n == nil:
		return
	case !wanted:
		n.Errorf("every row has one, or none has", "the first row has no id")
		return
	}
	id := n.Text()
	if id == "" {
		if n.Kind() == doc.Scalar {
			n.Errorf("a name", "the id is empty")
		}
		return
	}
	line, _ := n.Position()
	if first := ids.add(id, line); first > 0 {
		n.Errorf("ids are unique", "%s is called so on line %d already", quoted(id), first)
	}
}

// plain is a value of the file as it stands there: rows are data.
func plain(n *doc.Node) value.Value {
	switch n.Kind() {
	case doc.List:
		var items []value.Value
		for _, item := range n.List() {
			items = append(items, plain(item))
		}
		return value.NewList(items)
	case doc.Map:
		var fields []value.Field
		for _, e := range n.Entries() {
			fields = append(fields, value.Field{Name: e.Key.Text(), Value: plain(e.Value)})
		}
		return value.NewRecord(fields...)
	case doc.Absent, doc.Null, doc.Scalar:
	}
	v := scalar(n)
	if text, ok := v.(starlark.String); ok && strings.Contains(string(text), "${") {
		n.Errorf("put it under `attributes`, which see the rows", "rows are data and hold no expressions")
	}
	return v
}

// asData makes a record as attributes are that were computed.
func asData(n *doc.Node, fields []value.Field) *value.Record {
	record := value.NewRecord(fields...)
	v, err := value.Data(record)
	if err != nil {
		n.Errorf("", "%v", err)
		return record
	}
	return v.(*value.Record)
}
