package openapi

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
)

// Options configure [Load]. The zero value reads a document that refers to nothing outside.
type Options struct {
	// Location is where the document was found, a URL or a file name. Relative references and servers count from there.
	Location string
	// Open reads a file in the folder of the document. It is never asked for a name that leads out of that folder.
	Open func(name string) ([]byte, error)
	// Fetch reads a document of another address. It decides which addresses are allowed.
	Fetch func(url string) ([]byte, error)
}

// Document is an OpenAPI document. It does not change after [Load], and is safe for concurrent use.
type Document struct {
	Version    string // "3.1.0", "2.0"
	Title      string
	Servers    []string     // addresses, which may be relative; variables have their defaults
	Operations []*Operation // in the order of the document
	Schemes    []Scheme
	// Partial says why the document could be read in part only; "" if it was read to its end.
	Partial string
	// Problems are what was left out or ignored, in the order of the document.
	Problems []Problem

	options  Options
	byKey    map[string]*Operation
	main     *file
	files    map[string]*file // by location
	security *node
	old      bool     // before 3.1: schemas are not those of JSON Schema 2020-12
	bytes    int      // of all documents that this one refers to
	schemas  sync.Map // of *Schema, by the *node that it was read from
}

// Problem is something that was left out or ignored.
type Problem struct {
	Operation string // "GET /baskets"; "" for a part of the document that belongs to no operation
	File      string // "" for the document itself
	Line, Col int
	Text      string
	LeftOut   bool // the operation is not in [Document.Operations]
}

func (p Problem) String() string {
	var b strings.Builder
	if p.File != "" {
		b.WriteString(p.File + ", ")
	}
	if p.Line > 0 {
		fmt.Fprintf(&b, "line %d: ", p.Line)
	}
	if p.Operation != "" {
		b.WriteString(p.Operation + ": ")
	}
	return b.String() + p.Text
}

// maxProblems bounds the list of problems.
const maxProblems = 1000

// Load reads a document. Its error says why nothing of it can be used.
func Load(text []byte, o Options) (*Document, error) {
	d := &Document{options: o, files: map[string]*file{}, byKey: map[string]*Operation{}}
	d.main = &file{location: o.Location}
	if u, err := url.Parse(o.Location); err != nil || !isHTTP(u) {
		d.main.location = path.Base(strings.ReplaceAll(o.Location, `\`, "/"))
	}
	d.files[d.main.location] = d.main
	root, err := parse(text, d.main, func(line, col int32, text string) {
		d.note(Problem{Line: int(line), Col: int(col), Text: text})
	})
	if err != nil && !root.has("paths") {
		return nil, err
	}
	if err != nil {
		d.Partial = err.Error()
	}
	d.main.root = root
	if err := d.identify(root); err != nil {
		return nil, err
	}
	d.Title = root.get("info").get("title").word()
	d.servers(d.main.root.get("servers"))
	d.schemes()
	d.security = d.main.root.get("security")
	d.operations()
	if len(d.Operations) == 0 {
		return nil, d.nothing()
	}
	return d, nil
}

// identify finds out the version and translates Swagger 2.
func (d *Document) identify(root *node) error {
	switch {
	case !root.is(object):
		return fmt.Errorf("it is %s, not an OpenAPI document", root.what())
	case strings.HasPrefix(root.get("openapi").word(), "3."):
		d.Version = root.get("openapi").word()
		d.old = strings.HasPrefix(d.Version, "3.0")
	case strings.HasPrefix(root.get("swagger").word(), "2"):
		d.Version, d.old = "2.0", true
		d.translate(root)
	case root.has("openapi") || root.has("swagger"):
		found := cmp.Or(root.get("openapi"), root.get("swagger"))
		return &SyntaxError{int(found.line), int(found.col), fmt.Sprintf("unknown version %q of OpenAPI. Throng reads 3.0, 3.1, 3.2 and Swagger 2.0", short(found.word()))}
	case root.is(object) && root.get("paths").is(object):
		d.Version, d.old = "3.0", true
		d.note(Problem{Line: int(root.line), Col: int(root.col), Text: "the document does not say its version of OpenAPI; it is read as 3.0"})
	default:
		return errors.New("it is not an OpenAPI document: it has neither `openapi` nor `swagger`")
	}
	return nil
}

// nothing is the error for a document without operations.
func (d *Document) nothing() error {
	text := "it has no operations"
	if paths := d.main.root.get("paths"); paths != nil && !paths.is(object) {
		text = fmt.Sprintf("line %d: `paths` is %s, not an object", paths.line, paths.what())
	}
	if i := slices.IndexFunc(d.Problems, func(p Problem) bool { return p.LeftOut }); i >= 0 {
		text += " that can be read. " + d.Problems[i].String()
	}
	if d.Partial != "" {
		text += "; " + d.Partial
	}
	return errors.New(text)
}

func (d *Document) note(p Problem) {
	if len(d.Problems) < maxProblems && !slices.Contains(d.Problems, p) {
		d.Problems = append(d.Problems, p)
	}
}

// problem notes a problem at a node.
func (d *Document) problem(op *Operation, n *node, format string, args ...any) {
	p := Problem{Text: fmt.Sprintf(format, args...)}
	if op != nil {
		p.Operation = op.Key()
	}
	if n != nil {
		p.Line, p.Col = int(n.line), int(n.col)
		if n.file != nil && n.file != d.main {
			p.File = n.file.location
		}
	}
	d.note(p)
}

// servers reads addresses. Variables take their defaults.
func (d *Document) servers(list *node) {
	for _, s := range list.list() {
		address := s.get("url").text()
		for name, v := range s.get("variables").all() {
			address = strings.ReplaceAll(address, "{"+name+"}", v.get("default").word())
		}
		if address == "" || strings.Contains(address, "{") {
			d.problem(nil, s, "a server without an address")
			continue
		}
		if _, err := url.Parse(address); err != nil {
			d.problem(nil, s, "a server whose address cannot be read")
			continue
		}
		d.Servers = append(d.Servers, strings.TrimSuffix(address, "/"))
	}
}

// maxChain is how many references may follow one another.
const maxChain = 50

// deref follows references to where they lead.
func (d *Document) deref(n *node) (*node, error) {
	for range maxChain {
		ref := n.get("$ref").text()
		if ref == "" {
			return n, nil
		}
		to, err := d.follow(ref, n.file)
		if err != nil {
			return nil, err
		}
		n = to
	}
	return nil, fmt.Errorf("%q refers to itself", short(n.get("$ref").text()))
}

// follow returns what a reference leads to, from a file.
func (d *Document) follow(ref string, from *file) (*node, error) {
	where, pointer, _ := strings.Cut(ref, "#")
	f := from
	if where != "" {
		var err error
		if f, err = d.open(where, from); err != nil {
			return nil, err
		}
	}
	if p, err := url.PathUnescape(pointer); err == nil {
		pointer = p
	}
	if pointer != "" && pointer[0] != '/' {
		return nil, fmt.Errorf("%q is a reference by an anchor, which is not supported", short(ref))
	}
	n := f.root.at(pointer)
	if n == nil {
		return nil, fmt.Errorf("there is no %q", short(ref))
	}
	return n, nil
}

// Limits of what a document may refer to.
const (
	maxFiles      = 200
	maxOtherBytes = 64 << 20
)

// open reads a file or address that a document refers to. A failure is remembered as a file without content.
func (d *Document) open(where string, from *file) (*file, error) {
	location, remote, err := locate(where, from.location)
	if err != nil {
		return nil, err
	}
	if f := d.files[location]; f != nil {
		if f.root == nil {
			return nil, fmt.Errorf("%q could not be read", short(location))
		}
		return f, nil
	}
	read := d.options.Open
	if remote {
		read = d.options.Fetch
	}
	switch {
	case read == nil && remote:
		return nil, fmt.Errorf("%q is a reference to another address, which is not allowed", short(location))
	case read == nil:
		return nil, fmt.Errorf("%q is a reference to another file, which cannot be read from here", short(location))
	case len(d.files) > maxFiles:
		return nil, fmt.Errorf("the document refers to more than %d files", maxFiles)
	}
	f := &file{location: location}
	d.files[location] = f
	text, err := read(location)
	if err != nil {
		return nil, fmt.Errorf("read %q: %w", short(location), err)
	}
	if d.bytes += len(text); d.bytes > maxOtherBytes {
		return nil, fmt.Errorf("the document refers to files of more than %d MB", maxOtherBytes>>20)
	}
	root, err := parse(text, f, func(line, col int32, text string) {
		d.note(Problem{File: location, Line: int(line), Col: int(col), Text: text})
	})
	if err != nil {
		return nil, fmt.Errorf("%q: %w", short(location), err)
	}
	f.root = root
	return f, nil
}

// locate returns the location of a reference, and whether it is an address.
func locate(where, from string) (location string, remote bool, err error) {
	to, err := url.Parse(where)
	if err != nil {
		return "", false, fmt.Errorf("%q is not a reference", short(where))
	}
	base, err := url.Parse(from)
	if err == nil && isHTTP(base) {
		to = base.ResolveReference(to)
	}
	if isHTTP(to) {
		return to.String(), true, nil
	}
	if to.Scheme != "" || to.Host != "" || path.IsAbs(to.Path) || strings.Contains(to.Path, `\`) {
		return "", false, fmt.Errorf("%q is a reference out of the folder of the document, which is not allowed", short(where))
	}
	name := path.Join(path.Dir(from), to.Path)
	if name == ".." || strings.HasPrefix(name, "../") {
		return "", false, fmt.Errorf("%q is a reference out of the folder of the document, which is not allowed", short(where))
	}
	return name, false, nil
}

func isHTTP(u *url.URL) bool { return u.Scheme == "http" || u.Scheme == "https" }
