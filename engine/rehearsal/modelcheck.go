package rehearsal

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// nowhere loads nothing: a schema is whole in itself.
type nowhere struct{}

func (nowhere) Load(url string) (any, error) { return nil, fmt.Errorf("%s is not in the schema", url) }

func compile(raw json.RawMessage) (*jsonschema.Schema, error) {
	c := jsonschema.NewCompiler()
	c.UseLoader(nowhere{})
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	if err := c.AddResource("schema.json", doc); err != nil {
		return nil, err
	}
	return c.Compile("schema.json")
}

// fits checks a document.
func fits(check *jsonschema.Schema, b []byte) bool {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	return err == nil && check.Validate(value) == nil
}
