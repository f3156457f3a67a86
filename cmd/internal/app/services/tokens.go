package services

import (
	"cmp"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain"
)

// UsualAnswer is the assumed length of a persona, and of an answer without a limit, in tokens.
const UsualAnswer = 300

// AnswerTokens returns the length of a model service's answers in tokens: 0 if steps only ask it for embeddings.
func AnswerTokens(steps []chain.Asking, s *chain.Service) engine.Estimate {
	most, chats := 0, false
	for _, step := range steps {
		if step.Service == s {
			most, chats = max(most, step.Tokens), chats || !step.Embeds
		}
	}
	if !chats {
		return engine.Exactly(0, engine.FromFile)
	}
	if most == 0 {
		most = UsualAnswer
	}
	return engine.Between(min(10, float64(most)), float64(most), engine.Guessed)
}

// Priced returns the model whose price a forecast uses, given those of a service and the length of its answers: without answers, it is the
// one for embeddings.
func Priced(s *chain.Service, models []string, answer engine.Estimate) string {
	if answer.High == 0 {
		return cmp.Or(s.Embeds, models[0])
	}
	return models[0]
}
