package survey

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/outcomes"
)

// Event is the name of the event with the answers of one agent: a field for each question, and one for each segment.
const Event = outcomes.SurveyAnswer

// person describes an agent to a model: its attributes, its memory and its notes.
const person = `You are the person described below. Answer as this person would, with this person's views and knowledge, not as an assistant.
${"\n".join(["%s: %s" % (k, agent[k]) for k in keys(agent) if k not in ["id", "index", "memory", "notes", "inbox"]])}
${"\n".join(["%s: %s" % (k, agent.memory[k]) for k in keys(agent.memory)])}
${"\n".join(["You remember: " + n for n in agent.notes])}`

const attempts = 3 // at an answer that fits the questions

// Scenario returns the source of a survey among the agents of a scenario: with its parameters, population, functions and models, and the
// questionnaire as its only chain. of names the surveyed run in its title. Errors are *engine.FieldError values.
func (s *Survey) Scenario(src engine.Source, of string) (engine.Source, error) {
	root := doc.Parse(src.Name, src.Files[src.Name], &doc.Report{})
	service, err := s.service(root.Get("services"))
	if err != nil {
		return engine.Source{}, err
	}
	w := &writer{}
	w.key("title", cmp.Or(s.Title, "Survey")+": "+of)
	w.key("about", "Copies of the agents of another run answer questions. That run stays as it is.")
	w.parts("clock", root.Get("clock"), func(e doc.Entry) bool { return e.Key.Text() != "arrivals" })
	all := func(doc.Entry) bool { return true }
	for _, name := range []string{"parameters", "population", "functions"} {
		w.parts(name, root.Get(name), all)
	}
	w.parts("services", root.Get("services"), func(e doc.Entry) bool { return isModel(e.Value) })
	w.key("acted", Event)
	s.chain(w, service)
	files := maps.Clone(src.Files)
	files[src.Name] = w.b
	src.Files, src.Path, src.Baseline = files, "", engine.Baseline{}
	return src, nil
}

func isModel(service *doc.Node) bool { return service.Get("kind").Text() == "llm" }

// service returns the service that answers.
func (s *Survey) service(services *doc.Node) (string, error) {
	var names []string
	for _, e := range services.Entries() {
		if isModel(e.Value) {
			names = append(names, e.Key.Text())
		}
	}
	switch {
	case len(names) == 0:
		return "", &engine.FieldError{Field: "service", Problem: "the run has no service of kind llm, so its agents cannot answer questions", Hint: "survey a run with a model"}
	case s.Service == "" && len(names) == 1:
		return names[0], nil
	case s.Service == "":
		return "", &engine.FieldError{Field: "service", Problem: "the run has several models", Hint: "name one of " + strings.Join(names, ", ") + " as `service` in the questions"}
	case !slices.Contains(names, s.Service):
		return "", &engine.FieldError{Field: "service", Problem: "the run has no model " + s.Service, Hint: "its models are " + strings.Join(names, ", ")}
	}
	return s.Service, nil
}

// chain writes the questionnaire: one call with all questions or, if they are separate, calls that run together.
func (s *Survey) chain(w *writer, service string) {
	data := map[string]string{}
	for _, name := range s.Segments {
		data[name] = "${agent." + name + "}"
	}
	w.raw("chain survey:\n")
	ask := func(step string, questions []Question) {
		w.raw("  step " + step + ": ")
		w.value(map[string]any{
			"kind": "llm", "service": service, "system": cmp.Or(s.System, person), "prompt": prompt(questions), "answer": map[string]any{"schema": schema(questions)},
			"retry": map[string]any{"attempts": attempts}, "parallel": s.Separate,
		})
		w.raw("\n")
		for i := range questions {
			data[questions[i].Name] = "${steps." + step + "." + questions[i].Name + "}"
		}
	}
	if s.Separate {
		for i := range s.Questions {
			ask("ask_"+s.Questions[i].Name, s.Questions[i:i+1])
		}
	} else {
		ask("ask", s.Questions)
	}
	w.raw("  step record: ")
	w.value(map[string]any{"kind": "emit", "event": Event, "data": data})
	w.raw("\n")
}

// prompt writes the questions for the model.
func prompt(questions []Question) string {
	if len(questions) == 1 {
		return questions[0].Ask + "\n" + questions[0].instruction()
	}
	var b strings.Builder
	b.WriteString("Answer these questions.\n")
	for i := range questions {
		fmt.Fprintf(&b, "\n%s: %s\n%s\n", questions[i].Name, questions[i].Ask, questions[i].instruction())
	}
	return b.String()
}

// instruction says which answers fit.
func (q *Question) instruction() string {
	switch q.Kind {
	case Choice:
		return "Choose one of: " + strings.Join(q.Options, "; ") + "."
	case Scale:
		return fmt.Sprintf("Answer with a whole number from %d to %d.", q.Low, q.High)
	case Number:
		return "Answer with a number."
	default:
		return "Answer in a sentence or two."
	}
}

// schema is the JSON Schema of an answer to questions, in their order.
func schema(questions []Question) map[string]any {
	properties, required := &writer{}, make([]string, len(questions))
	open := "{"
	for i := range questions {
		q := &questions[i]
		required[i] = q.Name
		one := map[string]any{"type": "string", "description": q.Ask}
		switch q.Kind {
		case Choice:
			one["enum"] = q.Options
		case Scale:
			one["type"], one["minimum"], one["maximum"] = "integer", q.Low, q.High
		case Number:
			one["type"] = "number"
		default:
		}
		properties.raw(open)
		properties.value(q.Name)
		properties.raw(":")
		properties.value(one)
		open = ","
	}
	properties.raw("}")
	return map[string]any{"type": "object", "properties": json.RawMessage(properties.b), "required": required, "additionalProperties": false}
}

// writer writes a scenario. Its values are in JSON, which is YAML.
type writer struct{ b []byte }

func (w *writer) raw(text string) { w.b = append(w.b, text...) }

func (w *writer) value(v any) {
	text, _ := json.Marshal(v) // texts, numbers, lists and maps
	w.b = append(w.b, text...)
}

func (w *writer) key(name, value string) {
	w.raw(name + ": ")
	w.value(value)
	w.raw("\n")
}

// parts writes a part of the surveyed scenario with those of its entries that keep wants; nothing if it is absent.
func (w *writer) parts(name string, n *doc.Node, keep func(doc.Entry) bool) {
	if n == nil {
		return
	}
	w.raw(name + ": ")
	w.node(n, keep)
	w.raw("\n")
}

func (w *writer) node(n *doc.Node, keep func(doc.Entry) bool) {
	all := func(doc.Entry) bool { return true }
	switch n.Kind() {
	case doc.Map:
		open := "{"
		for _, e := range n.Entries() {
			if !keep(e) {
				continue
			}
			w.raw(open)
			w.value(e.Key.Text())
			w.raw(": ")
			w.node(e.Value, all)
			open = ", "
		}
		if open == "{" {
			w.raw(open)
		}
		w.raw("}")
	case doc.List:
		w.raw("[")
		for i, item := range n.List() {
			if i > 0 {
				w.raw(", ")
			}
			w.node(item, all)
		}
		w.raw("]")
	case doc.Scalar:
		w.value(n.Scalar())
	default:
		w.raw("null")
	}
}
