// Package embedding converts between values and what is sent and received for embeddings.
package embedding

import (
	"strconv"

	"go.starlark.net/starlark"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain/expr"
	"github.com/throng-sim/throng/engine/script/value"
)

// maxTexts is how many texts one call may embed.
const maxTexts = 2048

// Texts returns the texts to embed: one, or a list.
func Texts(v value.Value) (texts []string, many bool, err error) {
	list, many := v.(*starlark.List)
	if !many {
		list = starlark.NewList([]starlark.Value{v})
	}
	if list.Len() > maxTexts {
		return nil, many, engine.Fail(engine.Script, "%d texts in one embed step; at most %d", list.Len(), maxTexts)
	}
	size := 0
	for item := range list.Elements() {
		text, err := value.Text(item)
		if err != nil {
			return nil, many, err
		}
		if text == "" {
			return nil, many, engine.Fail(engine.Script, "an empty text has no embedding")
		}
		texts = append(texts, text)
		if size += len(text); size > expr.MaxSent {
			return nil, many, expr.TooMuchSent("texts")
		}
	}
	return texts, many, nil
}

// Numbers returns the numbers of a vector with the digits of a float32.
func Numbers(vector []float32) value.Value {
	numbers := make([]value.Value, len(vector))
	for i, f := range vector {
		exact, err := strconv.ParseFloat(strconv.FormatFloat(float64(f), 'g', -1, 32), 64)
		if err != nil { // it is a number
			exact = float64(f)
		}
		numbers[i] = starlark.Float(exact)
	}
	return value.NewList(numbers)
}
