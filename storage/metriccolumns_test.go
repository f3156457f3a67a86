package storage

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
)

func TestMetricColumns(t *testing.T) {
	const first = "timestamp,cycle,agents_processed,agents_shopped,avg_latency_ms,writes_per_sec,cpu_percent,memory_mb,"
	var out bytes.Buffer
	w, err := newMetricsWriter(CSV, &out, &names)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.t.flush(); err != nil || !strings.HasPrefix(out.String(), first) {
		t.Errorf("got %s, %v; want %s first", out.String(), err, first)
	}
	seen := map[string]bool{}
	for _, c := range MetricColumns() {
		if seen[c.Name] {
			t.Errorf("two columns are named %s", c.Name)
		}
		seen[c.Name] = true
		if !strings.HasSuffix(c.Help, ".") || strings.HasSuffix(c.Help, ": .") {
			t.Errorf("%s has the help %q", c.Name, c.Help)
		}
		if (c.Raw == nil) != (c.Unit == Text) || (c.Text != nil) != (c.Unit == Text) {
			t.Errorf("%s: the getter does not fit the unit", c.Name)
		}
	}
}

// withoutColumn are the fields of engine.MetricsRow, or the parts of its fields, that have no column.
var withoutColumn = map[string]string{
	"At":               "the time of the row has a name in each store",
	"Total.Count":      "0 makes the quantiles unknown",
	"Service.Count":    "0 makes the quantiles unknown",
	"Throttled.Count":  "0 makes the quantiles unknown",
	"Queue.Count":      "0 makes the quantiles unknown",
	"Request.Count":    "0 makes the quantiles unknown",
	"Service.Mean":     "four quantiles describe a distribution",
	"Throttled.Mean":   "four quantiles describe a distribution",
	"Queue.Mean":       "four quantiles describe a distribution",
	"Request.Mean":     "four quantiles describe a distribution",
	"Active":           "a part of Total, for the charts of the window",
	"Errors[0]":        "no error",
	"Workers":          "a list; the history of the window shows it",
	"Host.MemoryTotal": "does not change during a run",
	"Host.Cores":       "does not change during a run",
	"Host.CoreWait":    "Late.Core, which has a column, has the same value",
	"Usage.Written":    "in run.json",
	"Usage.Cacheable":  "in run.json",
	"Usage.Doubtful":   "in run.json",
	"Usage.Batched":    "in run.json",
	"Usage.Estimated":  "in run.json",
	"Usage.Hits":       "in run.json",
	"Flow.Throttled":   "in run.json",
	"Fine":             "the times of the rows show it",
	"Overhead":         "in run.json, except for the parts that have a column",
}

// TestEveryFieldHasAColumn changes each field of a row and checks that a column shows it.
func TestEveryFieldHasAColumn(t *testing.T) {
	row := engine.MetricsRow{
		At:          epoch,
		SecondTimes: engine.SecondTimes{Total: engine.Quantiles{Count: 1}, Service: engine.Quantiles{Count: 1}, Throttled: engine.Quantiles{Count: 1}, Queue: engine.Quantiles{Count: 1}, Request: engine.Quantiles{Count: 1}},
		Ended:       4,
		DatabaseUse: engine.DatabaseUse{Pool: engine.Pool{Size: 1}},
		Counters:    engine.Counters{Overhead: engine.Overhead{Span: time.Second}, Flow: engine.Flow{Chains: 1, Busy: time.Hour, Wall: time.Minute}},
	}
	before := rowCells(&row)
	unused := maps.Clone(withoutColumn)
	eachLeaf(reflect.ValueOf(&row).Elem(), "", func(path string, v reflect.Value) {
		was := reflect.New(v.Type()).Elem()
		was.Set(v)
		switch {
		case v.CanInt():
			v.SetInt(v.Int() + int64(10*time.Second))
			if v.Kind() == reflect.Uint8 || v.Type() == reflect.TypeFor[engine.Phase]() {
				v.SetInt(1)
			}
		case v.CanUint():
			v.SetUint(v.Uint() + 1)
			if v.Kind() == reflect.Uint64 {
				v.SetUint(1e9)
			}
		case v.CanFloat():
			v.SetFloat(v.Float() + 10)
		case v.Kind() == reflect.Bool:
			v.SetBool(true)
		case v.Type() == reflect.TypeFor[time.Time]():
		case v.Kind() == reflect.Slice:
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		default:
			t.Fatalf("%s is a %s", path, v.Type())
		}
		shown := !slices.Equal(before, rowCells(&row))
		v.Set(was)
		excepted := false
		for name := range withoutColumn {
			if path == name || strings.HasPrefix(path, name+".") {
				excepted = true
				if !shown {
					delete(unused, name)
				}
			}
		}
		if !shown && !excepted {
			t.Errorf("no column shows %s: add one to metricColumns, or say in withoutColumn why it needs none", path)
		}
	})
	for name := range unused {
		t.Errorf("%s has a column: remove it from withoutColumn", name)
	}
}

func rowCells(m *engine.MetricsRow) (cells []string) {
	for i := range metricColumns {
		cells = append(cells, metricColumns[i].cell(m))
	}
	return cells
}

// eachLeaf calls f with each field that is not a struct or an array. It leaves out outlays, which are in run.json.
func eachLeaf(v reflect.Value, path string, f func(path string, v reflect.Value)) {
	switch {
	case v.Type() == reflect.TypeFor[engine.Outlay]():
	case v.Kind() == reflect.Struct && v.Type() != reflect.TypeFor[time.Time]():
		for i := range v.NumField() {
			part := path
			if field := v.Type().Field(i); !field.Anonymous {
				part = strings.TrimPrefix(path+"."+field.Name, ".")
			}
			eachLeaf(v.Field(i), part, f)
		}
	case v.Kind() == reflect.Array:
		for i := range v.Len() {
			eachLeaf(v.Index(i), fmt.Sprintf("%s[%d]", path, i), f)
		}
	default:
		f(path, v)
	}
}

var (
	createMetrics = regexp.MustCompile(`(?s)CREATE TABLE throng\.metrics \((.*?)\n\);`)
	metricType    = regexp.MustCompile(`(?m)^\t"?(\w+)"? +(text|bigint|double precision|numeric)\b`)
	metricComment = regexp.MustCompile(`COMMENT ON COLUMN throng\.metrics\."?(\w+)"? IS '(.*)';`)
)

// TestPostgresHasTheColumns checks that PostgreSQL's schema has the columns of the table, with their types and help.
func TestPostgresHasTheColumns(t *testing.T) {
	schema, err := os.ReadFile(filepath.Join("postgres", "migrations", "0001_schema.sql"))
	if err != nil {
		t.Fatal(err)
	}
	types, comments := map[string]string{}, map[string]string{}
	for _, m := range metricType.FindAllSubmatch(createMetrics.FindSubmatch(schema)[1], -1) {
		types[string(m[1])] = string(m[2])
	}
	for _, m := range metricComment.FindAllSubmatch(schema, -1) {
		comments[string(m[1])] = strings.ReplaceAll(string(m[2]), "''", "'")
	}
	want := map[string]string{"run": "text"}
	for _, c := range MetricColumns() {
		switch c.Unit {
		case Count:
			want[c.Name] = "bigint"
		case Text:
			want[c.Name] = "text"
		case USD:
			want[c.Name] = "numeric"
		default:
			want[c.Name] = "double precision"
		}
		if comments[c.Name] != c.Help {
			t.Errorf("the comment of %s is %q, want %q", c.Name, comments[c.Name], c.Help)
		}
	}
	if !maps.Equal(types, want) {
		t.Errorf("got %v\nwant %v", types, want)
	}
}
