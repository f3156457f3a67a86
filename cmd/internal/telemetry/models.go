package telemetry

import (
	"encoding/json"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"

	"github.com/throng-sim/throng/engine/spans"
)

// part is a part of a message, as the conventions for generative AI write it.
type part struct {
	Type    string `json:"type"`
	Content string `json:"content"`
}

// message is a message of a prompt or an answer.
type message struct {
	Role   string `json:"role"`
	Parts  []part `json:"parts"`
	Finish string `json:"finish_reason,omitempty"`
}

// modelAttributes describes a call of a model by OpenTelemetry's conventions for generative AI. Unknown figures are left out.
func modelAttributes(m *spans.Model) []attribute.KeyValue {
	all := []attribute.KeyValue{semconv.GenAIOperationNameKey.String(m.Operation), semconv.GenAIRequestModel(m.Name), semconv.ServerAddress(m.Host)}
	add := func(known bool, a attribute.KeyValue) {
		if known {
			all = append(all, a)
		}
	}
	add(m.Provider != "", semconv.GenAIProviderNameKey.String(m.Provider))
	add(m.Port > 0, semconv.ServerPort(m.Port))
	if m.Temperature != nil {
		all = append(all, semconv.GenAIRequestTemperature(*m.Temperature))
	}
	if m.Seed != nil {
		all = append(all, semconv.GenAIRequestSeed(*m.Seed))
	}
	add(m.MaxTokens > 0, semconv.GenAIRequestMaxTokens(m.MaxTokens))
	add(m.Dimensions > 0, semconv.GenAIEmbeddingsDimensionCount(m.Dimensions))
	add(m.JSON, semconv.GenAIOutputTypeJSON)
	add(m.Stream, semconv.GenAIRequestStream(true))
	add(m.ID != "", semconv.GenAIResponseID(m.ID))
	add(m.Model != "", semconv.GenAIResponseModel(m.Model))
	add(len(m.Finish) > 0, semconv.GenAIResponseFinishReasons(m.Finish...))
	return append(all, content(m)...)
}

// content returns the prompt and the answer, if they were asked for.
func content(m *spans.Model) (all []attribute.KeyValue) {
	var system []part
	var asked []message
	for _, said := range m.Prompt {
		p := part{"text", said.Text}
		if said.Role == "system" {
			system = append(system, p)
		} else {
			asked = append(asked, message{Role: said.Role, Parts: []part{p}})
		}
	}
	add := func(key attribute.Key, v any) {
		text, _ := json.Marshal(v) // texts
		all = append(all, key.String(string(text)))
	}
	if len(system) > 0 {
		add(semconv.GenAISystemInstructionsKey, system)
	}
	if len(asked) > 0 {
		add(semconv.GenAIInputMessagesKey, asked)
	}
	if m.Reply != "" {
		answer := message{Role: "assistant", Parts: []part{{"text", m.Reply}}}
		if len(m.Finish) > 0 {
			answer.Finish = m.Finish[0]
		}
		add(semconv.GenAIOutputMessagesKey, []message{answer})
	}
	return all
}
