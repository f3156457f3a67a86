package chain

import (
	"golang.org/x/sync/singleflight"

	"github.com/throng-sim/throng/engine/service"
	"github.com/throng-sim/throng/engine/service/batch"
	"github.com/throng-sim/throng/engine/service/llm"
)

// Answers is how a service is asked for structured answers: by a JSON Schema that it enforces, as any JSON, or in words only.
type Answers uint8

const (
	answersBySchema Answers = iota
	answersJSON
	answersText
)

// AnswersNames are the names of the ways, in order.
var AnswersNames = []string{"schema", "json", "text"}

// ModelOptions configures a service of models.
type ModelOptions struct {
	Models  []string // tried in order; a launch may choose others
	Named   []string // those of the file, or the provider's default
	Unnamed bool     // the file names no models
	Embeds  string   // model for embeddings; "" is the first of Models
	Answers Answers
	Wire    service.NamedAPI // its wire format; the zero value is that of completions
	Effort  string           // default reasoning effort; "" is the model's
	Extra   []llm.Extra      // extra fields of each completion request
	Free    bool             // it costs nothing: it runs on the user's machine
	Batch   *batch.Config    // sends the calls of sessions in batches; nil sends each alone
	LLM     *service.LLM     // set by ConnectLLM
	flights *singleflight.Group
}

// ConnectLLM creates the client of a service of kind llm; see [Service.Connect].
func (s *Service) ConnectLLM(client *service.LLM, secret string) {
	s.Connect(client.HTTP, secret)
	if s.LLM != nil { // for example for generating the population
		client.Learn(s.LLM)
	}
	s.LLM, s.flights = client, new(singleflight.Group)
}
