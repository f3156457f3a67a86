package importing

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/importer"
	"github.com/throng-sim/throng/engine/importer/exchange"
	"github.com/throng-sim/throng/engine/importer/journey"
)

// mostRead limits a source, in bytes. A recording may be large.
const mostRead = 1 << 30

// Options say what to import.
type Options struct {
	// Source is a file, or an address that begins with http:// or https://. Text is its content if that is known; then Source is
	// only a name, which may be "".
	Source string
	Text   []byte
	// Second is a second recording of the same visit; "" for none.
	Second string
	// Journey describes the steps in words, in their order; "" takes the proposed ones.
	Journey string
	// Users is a CSV or JSONL file of the agents; "" for none.
	Users string
	Title string
	URL   string   // address of the backend, instead of the one that the source names; "" for that
	Hosts []string // hosts of the backend in a recording; nil chooses them
	Allow []string // other hosts that a document may refer to
	CA    []byte   // PEM certificates for addresses; nil for the system's
}

// IsAddress reports whether a source is an address and not a file.
func IsAddress(source string) bool {
	return strings.HasPrefix(source, "http://") || strings.HasPrefix(source, "https://")
}

// source is what was read, and where.
type source struct {
	name string // the file, or the address where the document was found
	text []byte
}

// Read reads a source as a draft. A part of it that cannot be used does not fail the import: the draft says so.
func Read(ctx context.Context, o Options) (*importer.Draft, error) {
	s, err := o.source(ctx)
	if err != nil {
		return nil, err
	}
	d, err := o.draft(ctx, s)
	if err != nil {
		return nil, err
	}
	if o.Title != "" {
		d.Title = o.Title
	}
	if err := o.move(d); err != nil {
		return nil, err
	}
	if o.Journey != "" {
		if err := d.Follow(o.Journey); err != nil {
			return nil, &engine.FieldError{Field: "--journey", Problem: err.Error(), Hint: "name steps by their words, separated by commas"}
		}
	}
	if len(d.Steps) == 0 {
		return nil, &engine.FieldError{Field: "import", Problem: cannotUse(s.name, "it has no request that a scenario could send"), Hint: dropped(d)}
	}
	return d, nil
}

// dropped says what was left out of a draft.
func dropped(d *importer.Draft) string {
	var parts []string
	for _, x := range d.Dropped {
		parts = append(parts, fmt.Sprintf("%s (%s)", x.What, x.Reason))
	}
	if len(parts) == 0 {
		return ""
	}
	const most = 5
	return "left out: " + strings.Join(parts[:min(len(parts), most)], ", ")
}

func cannotUse(name, why string) string {
	if name == "" {
		return why
	}
	return filepath.Base(name) + ": " + why
}

// source reads what the options name.
func (o Options) source(ctx context.Context) (s source, err error) {
	switch {
	case o.Text != nil:
		return source{o.Source, o.Text}, nil
	case IsAddress(o.Source):
		text, at, err := o.fetcher().Find(ctx, o.Source)
		return source{at, text}, err
	}
	text, err := readFile(o.Source)
	return source{o.Source, text}, err
}

func (o Options) fetcher() Fetcher {
	return Fetcher{CA: o.CA, Is: func(text []byte) bool { return importer.Detect("", text) == importer.OpenAPI }}
}

func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	var text bytes.Buffer
	if info, err := f.Stat(); err == nil && info.Size() <= mostRead { // 0 for a pipe
		text.Grow(int(info.Size()) + bytes.MinRead)
	}
	_, err = text.ReadFrom(io.LimitReader(f, mostRead+1))
	if err == nil && text.Len() > mostRead {
		err = fmt.Errorf("%s has more than %d MB", path, mostRead>>20)
	}
	return text.Bytes(), err
}

// draft makes a draft of a source of any kind.
func (o Options) draft(ctx context.Context, s source) (*importer.Draft, error) {
	kind := importer.Detect(s.name, s.text)
	if o.Second != "" && kind == importer.OpenAPI {
		return nil, &engine.FieldError{Field: "--second", Problem: "an OpenAPI document needs no second recording"}
	}
	switch kind {
	case importer.OpenAPI:
		return o.document(ctx, s)
	case importer.HAR, importer.CURL, importer.Postman:
		return o.recordings(kind, s)
	case importer.Scenario:
		return nil, &engine.FieldError{Field: "import", Problem: cannotUse(s.name, "it is a scenario already"), Hint: "run it: throngctl run " + s.name}
	case importer.Unknown:
	}
	return nil, &engine.FieldError{
		Field: "import", Problem: cannotUse(s.name, "its format cannot be imported"),
		Hint: "import an OpenAPI document, a HAR file, a Postman collection (v2.1) or cURL commands",
	}
}

// recordings makes a draft of one or two recordings.
func (o Options) recordings(kind importer.Kind, s source) (*importer.Draft, error) {
	first, err := record(kind, s)
	if err != nil {
		return nil, err
	}
	all := []*exchange.Recording{first}
	if o.Second != "" {
		text, err := readFile(o.Second)
		if err != nil {
			return nil, err
		}
		other := importer.Detect(o.Second, text)
		if other != kind {
			return nil, &engine.FieldError{Field: "--second", Problem: cannotUse(o.Second, "it is not the same kind of recording as the first")}
		}
		second, err := record(other, source{o.Second, text})
		if err != nil {
			return nil, err
		}
		all = append(all, second)
	}
	d, err := journey.Draft(all, journey.Options{Title: o.Title, Hosts: o.Hosts})
	if err != nil {
		return nil, &engine.FieldError{Field: "import", Problem: cannotUse(s.name, err.Error())}
	}
	if o.Users != "" {
		columns, err := o.people(d)
		if err != nil {
			return nil, err
		}
		d.Data = slices.DeleteFunc(d.Data, func(a importer.Data) bool { return a.Attribute && slices.Contains(columns, a.Name) })
	}
	return d, nil
}

func record(kind importer.Kind, s source) (r *exchange.Recording, err error) {
	switch kind {
	case importer.HAR:
		r, err = exchange.ReadHAR(bytes.NewReader(s.text))
	case importer.Postman:
		r, err = exchange.ReadPostman(s.text)
	default:
		r, err = exchange.ReadCURL(string(s.text))
	}
	if err != nil {
		return nil, &engine.FieldError{Field: "import", Problem: cannotUse(s.name, err.Error())}
	}
	return r, nil
}

// people adds the file of the agents to a draft, and returns its columns.
func (o Options) people(d *importer.Draft) (columns []string, err error) {
	text, err := readFile(o.Users)
	if err != nil {
		return nil, err
	}
	if columns, err = columnsOf(o.Users, text); err != nil {
		return nil, &engine.FieldError{Field: "--users", Problem: cannotUse(o.Users, err.Error())}
	}
	d.People = filepath.Base(o.Users)
	d.Files = append(d.Files, importer.File{Name: d.People, Text: text})
	return columns, nil
}

// columnsOf returns the columns of a CSV or JSONL file.
func columnsOf(name string, text []byte) (columns []string, err error) {
	if strings.EqualFold(filepath.Ext(name), ".jsonl") {
		var row map[string]any
		if err := json.NewDecoder(bytes.NewReader(text)).Decode(&row); err != nil {
			return nil, fmt.Errorf("its first line is not a JSON object: %w", err)
		}
		for column := range row {
			columns = append(columns, column)
		}
		return columns, nil
	}
	r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff"))))
	columns, err = r.Read()
	if errors.Is(err, io.EOF) {
		err = errors.New("it is empty; its first line names the columns")
	}
	return columns, err
}

// move sets the address of the backend.
func (o Options) move(d *importer.Draft) error {
	if o.URL == "" {
		return nil
	}
	u, err := parseAddress(o.URL)
	if err != nil {
		return err
	}
	if len(d.Services) > 0 {
		d.Services[0].URL = strings.TrimRight(u.String(), "/")
	}
	return nil
}
