package scenario

import (
	"errors"
	"path"

	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/openapi"
)

// api reads the OpenAPI document of a service, a file in the scenario's folder. It may refer to files of that folder.
func (r serviceReader) api(n *doc.Node) *openapi.Document {
	name := n.Text()
	if name == "" {
		return nil
	}
	text, err := r.open(name)
	if err != nil {
		n.Errorf("an OpenAPI document in the scenario's folder", "%v", why(name, err))
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
