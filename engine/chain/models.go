package chain

import (
	"golang.org/x/sync/singleflight"

	"github.com/throng-sim/throng/engine/service"
)

// Answers is how a service is asked for answers in a shape.
type Answers uint8

// The ways: by a JSON Schema that the service holds the model to; as any JSON; in words only.
const (
	AnswersBySchema Answers = iota
	AnswersJSON
	AnswersText
)

// AnswersNames are the names of the ways, in their order.
var AnswersNames = []string{"schema", "json", "text"}

// ConnectLLM gives a service of kind llm its client; see [Service.Connect].
func (s *Service) ConnectLLM(client *service.LLM, secret string) {
	s.Connect(client.HTTP, secret)
	if s.LLM != nil { // of the writing of the population, say
		client.Learn(s.LLM)
	}
	s.LLM, s.flights = client, new(singleflight.Group)
}

// embedder is the model that embeds.
func (s *Service) embedder() string {
	if s.Embeds != "" {
		return s.Embeds
	}
	return s.Models[0]
}
