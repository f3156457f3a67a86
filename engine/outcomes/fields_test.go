package outcomes

import (
	"bytes"
	"encoding/json"
	"testing"
)

func FuzzFields(f *testing.F) {
	f.Add([]byte(`{"a":1,"b":{"c":[1,"}"]},"d":"\\"}`))
	f.Add([]byte(` {}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var e Fields
		e.Split(data)
		var want map[string]json.RawMessage
		if !bytes.HasPrefix(data, []byte("{")) || json.Unmarshal(data, &want) != nil {
			return
		}
		got := map[string]string{}
		for i := range e.Keys {
			got[string(e.Keys[i])] = string(e.Values[i])
		}
		if bytes.ContainsRune(data, '\uFFFD') || !json.Valid(data) {
			return
		}
		for key, value := range want {
			if text, ok := got[key]; ok && text != string(value) {
				t.Errorf("%s: %q is %q, want %q", data, key, text, value)
			}
		}
	})
}
