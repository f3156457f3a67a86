package experiment

import (
	"bytes"
	"encoding/json"
	"maps"
)

// SchemaID is the address of the JSON Schema.
const SchemaID = "https://raw.githubusercontent.com/throng-sim/throng/main/assets/scenarios/experiment.schema.json"

type object = map[string]any

// Schema returns the JSON Schema of an experiment's file, for editors.
func Schema() []byte {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(schemaOf()); err != nil { // it is plain data
		panic(err)
	}
	return out.Bytes()
}

func schemaOf() object {
	out := closed(object{
		"title":            about("Title of the experiment. Default: the name of the file.", object{"type": "string"}),
		"scenario":         about("Scenario to run: a path relative to this file, or the name of a built-in scenario.", object{"type": "string", "minLength": 1}),
		"params":           about("Parameters of the scenario with the same value in every run, such as agents: 60.", object{"type": "object", "additionalProperties": scalar()}),
		"vary":             about("Factors: params.NAME, settings.NAME, service.NAME.FIELD or population.filter, each with its levels or its range. Default: nothing varies.", factorMap(object{"anyOf": []object{scalar(), list(scalar()), ref("range")}})),
		"design":           about("How points follow from the factors. Default: grid.", object{"anyOf": []object{{"enum": []string{"grid", "zip", "one-at-a-time"}}, ref("design")}}),
		"replicates":       about("Seeds of each point: a number of seeds from 1 on, or a list. Default: 10.", object{"anyOf": []object{seeds(), ref("replicates")}}),
		"baseline":         about("Values of the point that others are compared with. Default: the values without the experiment.", factorMap(scalar())),
		"measures":         about("What is measured in each run: acted, outcomes, outcomes.NAME, events.NAME, events.NAME.FIELD.mean, memory.FIELD.mean, tokens, a metric of success criteria such as cost or request_p95.SERVICE, or a function. Default: acted, each event, error_rate.", list(object{"type": "string"})),
		"functions":        about("Starlark functions of a run's totals: a .star file next to this one, or the functions themselves.", object{"type": "string"}),
		"settings":         about("Settings of every run, such as cycles: 24, by the names of their flags.", object{"type": "object", "additionalProperties": scalar()}),
		"budget":           about("Limits of the experiment as a whole. Default: unlimited.", ref("budget")),
		"parallel":         about("Runs in progress at the same time. Default: 1.", object{"type": "integer", "minimum": 1, "maximum": mostParallel}),
		"seed":             about("Seed of the design and of the order of runs, not of the runs. Default: 1.", object{"type": "integer", "minimum": 0}),
		"validate_against": about("Real data that every run is compared with, to find the point that is nearest to it. Default: that of the scenario.", ref("validate_against")),
	})
	out["$id"], out["$schema"], out["title"] = SchemaID, "http://json-schema.org/draft-07/schema#", "An experiment of Throng"
	out["required"] = []string{"scenario"}
	out["definitions"] = definitions()
	return out
}

func definitions() object {
	number := object{"type": "number"}
	positive := object{"type": "integer", "minimum": 1}
	ranges := closed(object{
		"levels": about("Levels, where `at` is given.", object{"anyOf": []object{scalar(), list(scalar())}}),
		"from":   about("Where the range begins. Without step or points, it is for the designs random, lhs, halton, morris, sobol and one-at-a-time.", number),
		"to":     about("Where the range ends.", number),
		"step":   about("Distance between levels.", object{"type": "number", "exclusiveMinimum": 0}),
		"log":    about("Where a range with logarithmic steps begins and ends.", object{"type": "array", "items": object{"type": "number", "exclusiveMinimum": 0}, "minItems": 2, "maxItems": 2}),
		"points": about("Number of levels.", object{"type": "integer", "minimum": 2, "maximum": mostLevels}),
		"at":     about("Cycle at whose start the value begins to apply; before, it is the baseline's. Default: from the start.", positive),
	})
	ranges["oneOf"] = []object{{"required": []string{"levels"}}, {"required": []string{"from", "to"}}, {"required": []string{"log"}}}
	ranges["not"] = object{"required": []string{"step", "points"}}

	designs := object{
		"points": about("A list of points, each with values of factors.", list(factorMap(scalar()))),
		"levels": about("Levels of a range in a Morris design. Default: 4.", object{"type": "integer", "minimum": 2}),
	}
	var kinds []object
	for kind, what := range map[DesignKind]string{
		Random: "Points drawn at random.", LHS: "Points of a Latin hypercube.", Halton: "Points of a Halton sequence.",
		Morris: "Trajectories of a Morris design, of one point more than there are factors.", Sobol: "Base points of a Sobol design, each with one run more for each factor and one for their other values.",
	} {
		designs[string(kind)] = about(what, positive)
	}
	for _, kind := range append([]string{string(Points)}, counted...) {
		kinds = append(kinds, object{"required": []string{kind}})
	}
	design := closed(designs)
	design["oneOf"] = kinds

	until := closed(object{
		"half_width": about("Half of the width of the 95% interval: a percentage of the mean such as 5%, or a number in the unit of the measure.", object{"type": []string{"string", "number"}}),
		"of":         about("Measure whose interval counts.", object{"type": "string"}),
		"at_most":    about("Largest number of replicates. Default: four times the seeds.", positive),
	})
	until["required"] = []string{"half_width", "of"}
	against, validated := realData()
	return object{
		"range": ranges, "design": design, "until": until, "validate_against": against, "validated": validated,
		"replicates": closed(object{
			"seeds": about("Number of seeds from 1 on, or a list of seeds. Default: 10.", seeds()),
			"until": about("Adds seeds until an interval is narrow enough.", ref("until")),
		}),
		"budget": closed(object{
			"usd":  about("US dollars for model calls, over all runs.", object{"type": "number", "minimum": 0}),
			"time": about("Wall time, over all runs: seconds, or such as 8h.", object{"type": []string{"string", "number"}}),
		}),
	}
}

// realData returns the schemas of validate_against and of one of its measures.
func realData() (against, validated object) {
	against = closed(object{
		"file":     about("A CSV file with a header and a row for each person or event, relative to this file.", object{"type": "string", "minLength": 1}),
		"measures": about("What is compared: a column of the file with a figure of a run, such as {spend: events.purchase.total.sum}.", object{"type": "object", "minProperties": 1, "additionalProperties": ref("validated")}),
	})
	against["required"] = []string{"file", "measures"}
	validated = closed(object{
		"of":   about("The figure: acted, outcome, events.NAME, events.NAME.FIELD.mean, memory.FIELD or agent.ATTRIBUTE.", object{"type": "string", "minLength": 1}),
		"kind": about("How values are compared. Default: number if every value of the column is one.", object{"enum": []string{"number", "category"}}),
		"per":  about("A value of each agent, or of each session. Default: agent.", object{"enum": []string{"agent", "session"}}),
	})
	validated["type"] = []string{"string", "object"}
	validated["required"] = []string{"of"}
	return against, validated
}

// about adds a description.
func about(text string, schema object) object {
	out := maps.Clone(schema)
	out["description"] = text
	return out
}

// closed returns the schema of a map with these keys and no others.
func closed(properties object) object {
	return object{"type": "object", "additionalProperties": false, "properties": properties}
}

func scalar() object { return object{"type": []string{"string", "number", "boolean"}} }

func list(of object) object { return object{"type": "array", "items": of, "minItems": 1} }

func seeds() object {
	return object{"anyOf": []object{{"type": "integer", "minimum": 1, "maximum": mostReplicates}, list(object{"type": "integer", "minimum": 0})}}
}

// factorMap returns the schema of a map by factor.
func factorMap(of object) object {
	return object{"type": "object", "additionalProperties": false, "patternProperties": object{`^(params|settings)\.[^.]+$|^service\.[^.]+\..+$|^population\.filter$`: of}}
}

func ref(name string) object { return object{"$ref": "#/definitions/" + name} }
