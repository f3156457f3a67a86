package scenario

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/people"
	"github.com/throng-sim/throng/engine/script/value"
)

// maxKept is the size up to which a file of people is stored with a run. Of a larger one, a run stores the digest and the
// agents that were drawn.
const maxKept = 8 << 20

// pointerPrefix begins the text that stands for a file that is not stored with a run. Its SHA-256 follows.
const pointerPrefix = "throng: this file is not stored with the run; its sha256 is "

// Drawn describes how the agents were drawn from a file; nil if they were not.
func (s *Scenario) Drawn() *people.Report { return s.population.drawn }

// isDrawn reports whether a population is taken from a file in pieces: from Parquet always, from other files if the
// population says how.
func isDrawn(n *doc.Node) bool {
	return n.Get("from") != nil && (path.Ext(n.Get("from").Text()) == ".parquet" ||
		slices.ContainsFunc(drawingKeys, func(key string) bool { return n.Get(key) != nil }))
}

// drawingKeys say how agents are drawn from a file.
var drawingKeys = []string{"columns", "values", "where", "sample"}

// drawing takes the agents of a population from a file.
type drawing struct {
	populationReader
	n    *doc.Node // the population
	name string    // of the file
	plan people.Plan
	ask  *asked // the condition; nil takes every row
	sha  string // digest of the file
	size int64
}

// keptDraw are the agents that were drawn from a file, as a run stores them.
type keptDraw struct {
	Key    string                 `json:"key"`
	Types  map[string]people.Kind `json:"types"`
	Report people.Report          `json:"report"`

	rows   []byte
	folder string // of the scenario's file; "" if unknown
}

// drawn takes the agents from the file of a population; nil after reporting mistakes. count is how many are wanted,
// negative for all.
func (r populationReader) drawn(n *doc.Node, count int) *table {
	d := &drawing{populationReader: r, n: n, name: n.Get("from").Text()}
	if !slices.Contains(people.Endings, path.Ext(d.name)) {
		n.Get("from").Errorf("a .csv, .jsonl or .parquet file", "a population cannot be read from %s", d.name)
		return nil
	}
	if d.plan.Count = count; count < 0 && n.Get("sample") != nil { // reported
		return nil
	}
	before := len(r.report.Problems())
	d.read()
	if len(r.report.Problems()) > before {
		return nil
	}
	result, err := d.take()
	if err != nil {
		d.mistakes(err)
		return nil
	}
	r.s.population.drawn = &result.Report
	d.warnAll(&result.Report)
	return newSheet(engine.DrawnRows, result.Rows, r.report).read(result.Types)
}

// warnAll reports a draw with weights that takes every row, so that they change nothing.
func (d *drawing) warnAll(r *people.Report) {
	at := d.n.Get("sample")
	n := at.Get("weight")
	if n == nil {
		n = at.Get("targets")
	}
	if n == nil || int64(r.Taken) < r.Eligible {
		return
	}
	n.Warnf("a smaller `count`, at best below a tenth of the rows, or a larger file; or leave out the weights",
		"the draw takes all %s of %s that can be drawn, so weights and targets have no effect", counted(r.Taken, "row"), d.name)
}

// mistakes reports the mistakes of an error.
func (d *drawing) mistakes(err error) {
	if errors.Is(err, errReported) {
		return
	}
	for _, m := range people.Mistakes(err) {
		d.mistake(m)
	}
}

// mistake reports a mistake at the key of the population that it is about.
func (d *drawing) mistake(m *people.Mistake) {
	at := d.n
	for _, key := range m.Key {
		next := at.Get(key)
		if at.Kind() != doc.Map || next == nil {
			break
		}
		at = next
	}
	problem := m.Problem
	if len(m.Key) == 0 || at == d.n {
		at = d.n.Get("from")
		problem = d.name + ": " + problem
	}
	at.Guess(m.Guess).Errorf("%s", problem)
}

// take opens the file and takes the rows, or returns those that were stored with a run.
func (d *drawing) take() (*people.Drawn, error) {
	data, err := d.open()
	if err != nil {
		unread(d.n.Get("from"), "the file must be in the scenario's folder", "the population cannot be read: ", d.name, err)
		return nil, errReported
	}
	if data == nil {
		k := d.extras.drawn
		return &people.Drawn{Rows: k.rows, Types: k.Types, Report: k.Report}, nil
	}
	defer func() { _ = data.Close() }() // it was only read
	return d.draw(data)
}

// open opens the file and finds its digest. It returns nil if the agents stored with a run are to be used.
func (d *drawing) open() (Data, error) {
	data, err := d.openData()
	if err != nil {
		return nil, err
	}
	text := d.s.Source.Files[d.name]
	if wanted, ok := strings.CutPrefix(string(text), pointerPrefix); ok {
		return d.openAgain(strings.TrimSpace(wanted))
	}
	d.size = data.Size()
	if d.size <= maxKept && text == nil {
		text = make([]byte, d.size)
		if _, err := io.ReadFull(io.NewSectionReader(data, 0, d.size), text); err != nil {
			return nil, errors.Join(err, data.Close())
		}
	}
	if d.size <= maxKept {
		d.sha = digest(text)
		d.s.Source.Files[d.name] = text
		return NewData(text), data.Close()
	}
	if d.sha, err = digestOf(data); err != nil {
		return nil, errors.Join(err, data.Close())
	}
	d.s.Source.Files[d.name] = []byte(pointerPrefix + d.sha + "\n")
	return data, nil
}

// openData opens the file in pieces, or among the files of the scenario.
func (d *drawing) openData() (Data, error) {
	if d.extras.Data != nil {
		return d.extras.Data(d.name)
	}
	text, err := d.reader.open(d.name)
	return NewData(text), err
}

// openAgain opens a file that is not stored with a run for another draw. It returns nil if the draw is the same.
func (d *drawing) openAgain(sha string) (Data, error) {
	d.sha = sha
	k := d.extras.drawn
	switch {
	case k == nil:
		return nil, errors.New("the agents that were drawn from it are not stored with the run")
	case d.kept || k.Key == d.identify():
		d.keepDraw(k.rows, k)
		return nil, nil //nolint:nilnil // the stored agents are used
	case k.folder == "":
		return nil, errors.New("it is not stored with the run, and other agents are to be drawn: start from the scenario's file")
	}
	data, err := FolderData(k.folder)(d.name)
	if err != nil {
		return nil, errors.New("it is not stored with the run, and other agents are to be drawn: " + why(d.name, err).Error())
	}
	now, err := digestOf(data)
	if err == nil && now != sha {
		err = errors.New("it is not stored with the run, has changed since, and other agents are to be drawn: start from the scenario's file")
	}
	if err != nil {
		return nil, errors.Join(err, data.Close())
	}
	d.size = data.Size()
	return data, nil
}

// digestOf returns the SHA-256 of a file.
func digestOf(data Data) (string, error) {
	h := sha256.New()
	_, err := io.Copy(h, io.NewSectionReader(data, 0, data.Size()))
	return hex.EncodeToString(h.Sum(nil)), err
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// draw takes the rows from the file.
func (d *drawing) draw(data Data) (*people.Drawn, error) {
	ctx := context.Background() // reading a scenario is not canceled
	file, err := people.Open(ctx, d.name, data, data.Size())
	if err != nil {
		return nil, err
	}
	if !d.named(file) || !d.compile(file) {
		return nil, errReported
	}
	result, err := people.Take(ctx, file, &d.plan)
	if err != nil {
		return nil, err
	}
	result.Report.File, result.Report.SHA256, result.Report.SizeBytes = d.name, d.sha, d.size
	if d.size > maxKept {
		d.keepDraw(result.Rows, &keptDraw{Key: d.identify(), Types: result.Types, Report: result.Report})
	}
	return result, nil
}

// errReported ends a draw whose mistakes are in the report already.
var errReported = errors.New("there are mistakes")

// keepDraw puts the agents among the files that a run stores.
func (d *drawing) keepDraw(rows []byte, k *keptDraw) {
	text, err := json.Marshal(k)
	if err != nil { // cannot happen: it is plain data without NaN
		panic(err)
	}
	d.keep(engine.DrawnRows, rows)
	d.keep(engine.DrawnReport, text)
}

// keptDrawOf returns the agents that a run stores; nil if there are none.
func keptDrawOf(src *engine.Source) *keptDraw {
	k := &keptDraw{rows: src.Files[engine.DrawnRows]}
	if k.rows == nil || json.Unmarshal(src.Files[engine.DrawnReport], k) != nil {
		return nil
	}
	if filepath.IsAbs(src.Path) {
		k.folder = filepath.Dir(src.Path)
	}
	return k
}

// identify returns what the draw depends on: the file, the plan, and for a condition the functions and parameters.
func (d *drawing) identify() string {
	plan := d.plan
	plan.Where = nil
	all := []any{d.sha, plan}
	if d.ask != nil {
		all = append(all, d.ask.node.Text(), digest([]byte(d.definitions)))
		for _, p := range d.s.Parameters {
			text, err := value.Text(p.Value)
			all = append(all, p.Name, text, err)
		}
	}
	text, err := json.Marshal(all)
	if err != nil { // cannot happen: it is plain data without NaN
		panic(err)
	}
	return digest(text)
}
