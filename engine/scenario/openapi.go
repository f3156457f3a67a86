package scenario

import (
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine/chain"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/openapi"
)

// isDocument reports whether the name of a mock is a file: mock:openapi.yaml.
func isDocument(name string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".json"}, strings.ToLower(path.Ext(name)))
}

// document reads the OpenAPI document of a service: of `openapi`, or of its mock.
func (r serviceReader) document(s *chain.Service, n *doc.Node) {
	named := n.Get("openapi")
	mocked, isMock := strings.CutPrefix(s.URL, Mock)
	isMock = isMock && isDocument(mocked)
	switch name := named.Text(); {
	case isMock && name != "" && name != mocked:
		named.Errorf("remove it, or name the same file", "the mock answers as %s says", mocked)
	case isMock:
		s.API = r.api(n.Get("url"), mocked)
	case name != "":
		s.API = r.api(named, name)
	}
}

// api reads an OpenAPI document, a file in the scenario's folder. It may refer to files of that folder.
func (r serviceReader) api(n *doc.Node, name string) *openapi.Document {
	text, err := r.open(name)
	if err != nil {
		unread(n, "an OpenAPI document in the scenario's folder", "", name, err)
		return nil
	}
	d, err := openapi.Load(text, openapi.Options{Location: name, Open: func(file string) ([]byte, error) { return r.open(path.Join(path.Dir(name), file)) }})
	if err != nil {
		hint := "an OpenAPI document: JSON or YAML that begins with `openapi: 3.1.0`"
		if _, is := errors.AsType[*openapi.SyntaxError](err); is {
			hint = ""
		}
		n.Errorf(hint, "%s: %v", name, err)
		return nil
	}
	if d.Partial != "" {
		n.Warnf("", "%s could be read in part only: %s", name, d.Partial)
	}
	return d
}
