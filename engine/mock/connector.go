package mock

import "encoding/json"

// connector stands in for a connector that the scenario does not define. It echoes the target and the input.
func (x storefront) connector(b []byte) ([]byte, *refusal) {
	if x.problem != nil {
		return b, x.problem
	}
	var asked struct {
		Target string          `json:"target"`
		Input  json.RawMessage `json:"input"`
	}
	if no := decode(x.body, &asked); no != nil {
		return b, no
	}
	if asked.Target == "" {
		return b, bad("target must be the name of a connector or a function")
	}
	b = appendText(append(b, `{"target":`...), asked.Target)
	b = append(b, `,"input":`...)
	if asked.Input == nil {
		asked.Input = json.RawMessage("null")
	}
	b = append(b, asked.Input...)
	return append(b, '}'), nil
}
