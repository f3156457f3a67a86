package content

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"mime"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"path"
	"strings"

	"go.starlark.net/starlark"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain/expr"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/script/value"
	"github.com/throng-sim/throng/engine/service/redact"
)

const (
	maxParts = 1000     // of a body
	maxBody  = 64 << 20 // bytes of a body; limits of services are below
)

// part is a field of a multipart body, or a file.
type part struct {
	name, field string
	value       expr.Value // of a field; a list repeats it
	file        *file      // nil for a field
}

// file is an uploaded file.
type file struct {
	text []byte
	name expr.Value
	kind expr.Value
}

// readParts reads a multipart body: names with values, or with files of the scenario's folder.
func (b *Body) readParts(in *expr.Compiler, n *doc.Node, open func(string) ([]byte, error)) {
	entries := n.Entries()
	if n.Kind() == doc.Map && len(entries) == 0 {
		n.Errorf("`multipart: {title: Report, photo: {file: photo.png}}`", "a body without fields")
	}
	if len(entries) > maxParts {
		n.Errorf("", "%d fields, more than %d", len(entries), maxParts)
		return
	}
	always := true
	for _, e := range entries {
		p := part{name: e.Key.Text(), field: "multipart." + e.Key.Text()}
		switch {
		case p.name == "":
			e.Key.Errorf("such as photo", "a field without a name")
		case e.Value.Kind() == doc.Map:
			p.file = readFile(in, e.Value, p.field, open)
		default:
			p.value = in.Data(e.Value, p.field)
		}
		always = always && p.isConst()
		b.parts = append(b.parts, p)
	}
	if !always {
		return
	}
	var err error
	if b.fixed, b.sends, err = b.evalParts(nil); err != nil {
		n.Errorf("", "%v", err)
	}
}

func (p *part) isConst() bool {
	for _, v := range p.values() {
		if c, ok := v.(expr.Const); !ok || c.V == nil {
			return false
		}
	}
	return true
}

func (p *part) values() []expr.Value {
	if p.file == nil {
		return []expr.Value{p.value}
	}
	return []expr.Value{p.file.name, p.file.kind}
}

func readFile(in *expr.Compiler, n *doc.Node, field string, open func(string) ([]byte, error)) *file {
	n.Fields("file", "name", "type")
	n.Require("file")
	name := n.Get("file").Text()
	f := &file{name: expr.Const{V: starlark.String(path.Base(name))}}
	if name != "" {
		var err error
		if f.text, err = open(name); err != nil {
			n.Get("file").Errorf("a file in the scenario's folder", "%v", err)
		}
	}
	f.kind = expr.Const{V: starlark.String(kindOf(name, f.text))}
	if as := n.Get("name"); as != nil {
		f.name = in.Data(as, field+".name")
	}
	if kind := n.Get("type"); kind != nil {
		f.kind = in.Data(kind, field+".type")
		if _, _, err := mime.ParseMediaType(kind.Text()); (err != nil || !strings.Contains(kind.Text(), "/")) && !strings.Contains(kind.Text(), "${") && kind.Text() != "" {
			kind.Errorf("such as image/png", "%q is not a content type", kind.Text())
		}
	}
	return f
}

// kinds are content types by the endings of names. They do not depend on the machine.
var kinds = map[string]string{
	".csv": "text/csv", ".gif": "image/gif", ".htm": "text/html", ".html": "text/html", ".jpeg": "image/jpeg", ".jpg": "image/jpeg",
	".json": "application/json", ".pdf": "application/pdf", ".png": "image/png", ".svg": "image/svg+xml", ".txt": "text/plain",
	".webp": "image/webp", ".xml": "application/xml", ".yaml": "application/yaml", ".yml": "application/yaml", ".zip": "application/zip",
}

func kindOf(name string, text []byte) string {
	if kind, ok := kinds[strings.ToLower(path.Ext(name))]; ok {
		return kind
	}
	return http.DetectContentType(text)
}

// sentPart is a part with its values.
type sentPart struct {
	header textproto.MIMEHeader
	text   []byte
}

// evalParts returns the body and its content type. The boundary is a hash of the parts, so that the same request has the same
// bytes; secrets count by name.
func (b *Body) evalParts(t expr.Contexts) (body []byte, kind []string, err error) {
	var all []sentPart
	for i := range b.parts {
		if all, err = b.parts[i].eval(t, all); err != nil {
			return nil, nil, err
		}
	}
	sum, size := sha256.New(), 0
	for _, p := range all {
		fmt.Fprintf(sum, "%v %d\n", redact.Unmarked(fmt.Sprint(p.header)), len(p.text))
		text := p.text
		if redact.MarkedBytes(text) {
			text = []byte(redact.Unmarked(string(text)))
		}
		sum.Write(text)
		if size += len(p.text); size > maxBody {
			return nil, nil, engine.Fail(engine.Script, "more than %d MB of fields and files", maxBody>>20)
		}
	}
	var out bytes.Buffer
	w := multipart.NewWriter(&out)
	if err = w.SetBoundary("throng-" + hex.EncodeToString(sum.Sum(nil)[:16])); err != nil {
		return nil, nil, err
	}
	for _, p := range all {
		to, err := w.CreatePart(p.header)
		if err == nil {
			_, err = to.Write(p.text)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	err = w.Close()
	return out.Bytes(), []string{w.FormDataContentType()}, err
}

// eval adds the part with its values. None and missing values are omitted, as in a form.
func (p *part) eval(t expr.Contexts, all []sentPart) ([]sentPart, error) {
	if p.file != nil {
		name, err := text(t, p.file.name)
		if err != nil {
			return nil, err
		}
		kind, err := text(t, p.file.kind)
		if err != nil {
			return nil, err
		}
		if strings.ContainsAny(kind, "\r\n") {
			return nil, engine.Fail(engine.Script, "the type of %s has a line break in it", p.field)
		}
		header := textproto.MIMEHeader{
			"Content-Disposition": {`form-data; name="` + quoted.Replace(p.name) + `"; filename="` + quoted.Replace(name) + `"`},
			"Content-Type":        {kind},
		}
		return append(all, sentPart{header, p.file.text}), nil
	}
	v, err := p.value.Eval(t)
	if err != nil {
		return nil, err
	}
	values := []value.Value{v}
	if list, ok := v.(*starlark.List); ok {
		values = values[:0]
		for item := range list.Elements() {
			values = append(values, item)
		}
	}
	for _, v := range values {
		if v == starlark.None || v == value.Missing {
			continue
		}
		text, err := value.AppendText(nil, v)
		if err != nil {
			return nil, err
		}
		header := textproto.MIMEHeader{"Content-Disposition": {`form-data; name="` + quoted.Replace(p.name) + `"`}}
		all = append(all, sentPart{header, text})
	}
	return all, nil
}

// quoted escapes a name as browsers do (HTML standard, multipart/form-data encoding algorithm).
var quoted = strings.NewReplacer("\r", "%0D", "\n", "%0A", `"`, "%22")

func text(t expr.Contexts, v expr.Value) (string, error) {
	of, err := v.Eval(t)
	if err != nil {
		return "", err
	}
	return value.Text(of)
}
