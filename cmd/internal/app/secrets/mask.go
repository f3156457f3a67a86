package secrets

import (
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/service/redact"
)

// MaskFacts removes values with the name of a secret, and calls veil with the other values.
func MaskFacts(facts []engine.Fact, veil func(text *string)) {
	for i := range facts {
		if redact.IsSecret(facts[i].Name) {
			facts[i].Value = "…"
			continue
		}
		veil(&facts[i].Value)
	}
}

// RedactExchange removes secrets that this process has looked up from an exchange.
func RedactExchange(e *engine.Exchange) {
	for _, text := range []*string{&e.Request, &e.Headers, &e.Sent, &e.Answer, &e.Error, &e.Prompt, &e.Reply} {
		*text = Redact(*text)
	}
}
