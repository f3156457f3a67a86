package scenario

import (
	"strings"

	"github.com/throng-sim/throng/engine/chain"
)

func chainAnswers() []string { return chain.AnswersNames }

// cutLast splits a name of keyWords into place and key.
func cutLast(name string) (place, key string, ok bool) {
	i := strings.LastIndexByte(name, '.')
	return name[:max(i, 0)], name[i+1:], i >= 0
}

// stepWords are the keys of chains and the keys that all steps share.
func stepWords() map[string]keyWord {
	return map[string]keyWord{
		"chain.timeout":   {duration, "the timeout of a session, such as 120 or 2m"},
		"chain.label":     {words, "the name to show"},
		"chain.steps":     {ref("block"), "the steps, if they are not keys of the chain"},
		"chain.step NAME": {ref("step"), "a step"},
		"block.steps":     {ref("block"), "the steps, if they are not keys of the block"},
		"block.step NAME": {ref("step"), "a step"},

		"step.kind":       {oneOf(chain.Kinds()...), "what the step does"},
		"step.type":       {oneOf(chain.Kinds()...), "another word for kind"},
		"step.name":       {named, "the name of a step in a list"},
		"step.when":       {words, "an expression: if it is false, the step is skipped and its output is missing"},
		"step.parallel":   {flagged, "true: it waits only for the nearest plain step above, so that parallel neighbors run together"},
		"step.depends_on": {names, "the neighbors that it waits for, above or below"},
		"step.timeout":    {duration, "the timeout, counted while the step runs and not while it is throttled"},
		"step.retry":      {ref("retry"), "how often and when a failed request is repeated"},
		"step.on_error":   {oneOf("fail", "continue"), "continue: a failure does not end the session"},
		"step.default":    {anything, "the output after a failure, if the session continues"},
		"step.label":      {words, "the name to show"},
		"retry.attempts":  {whole, "the maximum number of attempts"},
		"retry.wait":      {duration, "the wait before the second attempt; it doubles, with jitter"},
		"retry.max":       {duration, "the longest wait"},

		"step.target":            {named, "the name of the function, connector or chain to call"},
		"step.service":           {named, "the service to call"},
		"step.private":           {flagged, "true keeps the answer out of error texts, and out of the store when its cycle is closed"},
		"step.auth":              {oneOf("none"), "none sends the request without the authentication of the service"},
		"step http.repeats":      {oneOf(chain.HTTPRepeats...), "what happens when a changing request is sent again; the default is the service's"},
		"step sql.repeats":       {oneOf(chain.SQLRepeats...), "what happens when the statement is sent again; with it, the statement counts as a change"},
		"connector http.repeats": {oneOf(chain.HTTPRepeats...), "what happens when a changing request is sent again; the default is the service's"},
		"connector sql.repeats":  {oneOf(chain.SQLRepeats...), "what happens when the statement is sent again; with it, the statement counts as a change"},
		"step.verify":            {ref("verify"), "a request that finds out whether a changing request was carried out, before it is sent again"},
		"verify.get":             {named, "the path of the request that finds out"},
		"verify.query":           {mapped, "names and values of the query"},
		"verify.headers":         {mapped, "headers of the request"},
		"verify.expect":          {anything, "statuses that count as success"},
		"verify.done":            {words, "an expression over status, headers, body and request: true if the request was carried out"},
		"verify.answer":          {anything, "the body that replaces the lost answer"},
		"verify.after":           {duration, "how long a request may still be carried out after the connection is lost; the default is 1s"},
	}
}

// kindWords are the keys of each kind of step, except those that call models.
func kindWords() map[string]keyWord {
	return map[string]keyWord{
		"step.get":               {named, "the path of a GET request"},
		"step.post":              {named, "the path of a POST request"},
		"step.put":               {named, "the path of a PUT request"},
		"step.patch":             {named, "the path of a PATCH request"},
		"step.delete":            {named, "the path of a DELETE request"},
		"step.head":              {named, "the path of a HEAD request"},
		"step.options":           {mapped, "what the connector sees as options"},
		"step http.options":      {named, "the path of an OPTIONS request"},
		"connector http.options": {named, "the path of an OPTIONS request"},
		"step.multipart":         {mapped, "the body as multipart/form-data: names with values, or with files such as {file: photo.png, name: p.png, type: image/png}"},
		"step.redirects":         {oneOf(chain.Redirects...), "whether redirects are followed, on the same host; the default is the service's"},
		"step.check":             {oneOf("schema"), "what the answer is checked against: schema is the OpenAPI document of the service"},
		"step.query":             {anything, "names and values of the query; in an sql step, one statement with $1 and so on for args"},
		"step.json":              {anything, "the body as JSON"},
		"step.form":              {mapped, "the body as a form"},
		"step.body":              {anything, "the body as text"},
		"step.headers":           {mapped, "headers of the request"},
		"step.expect":            {anything, "statuses that count as success; the default is 200 to 299"},
		"step.args":              {anything, "the values for $1 and so on in the query"},
		"step.call":              {words, "an expression; its value is the output"},
		"step.event":             {words, "the name of the event"},
		"step.data":              {anything, "data of any form"},
		"step.set":               {mapped, "names and values for agent.memory"},
		"step.note":              {anything, "a text that is added to agent.notes"},
		"step.keep":              {anything, "the number of notes to keep, or a list of notes that replaces them"},
		"step.to":                {anything, "the receivers: all, an ID, or a list of IDs"},
		"step.text":              {anything, "the text of the message"},
		"step.for":               {numeric, "seconds, a time such as 500ms, or an expression"},
		"step.because":           {words, "the reason"},

		"step.condition":   {words, "an expression that is true or false"},
		"step.then":        {ref("block"), "the steps if the condition is true"},
		"step.else":        {ref("block"), "the steps if the condition is false"},
		"step.each":        {words, "an expression that returns a list"},
		"step.as":          {named, "the name of the element of a pass"},
		"step.do":          {ref("block"), "the steps of a pass"},
		"step.limit":       {whole, "the maximum number of passes"},
		"step chain.input": {anything, "what the chain sees as input"},
	}
}

// instead is the schema of the answer if no model answers.
var instead = schema{
	"type": []string{"string", "number", "boolean", "object"}, "additionalProperties": false, "required": []string{"learned"},
	"properties": schema{
		"learned": schema{"type": "string", "description": "a file that throngctl learn wrote"},
		"answer":  schema{"enum": []string{"draw", "likely"}, "description": "likely: the most likely answer instead of a drawn one"},
	},
}

// modelWords are the keys of steps that call models.
func modelWords() map[string]keyWord {
	all := map[string]keyWord{
		"service":     {named, "the service to call"},
		"prompt":      {words, "the question to the model"},
		"messages":    {schema{"type": []string{"array", "string"}, "items": ref("message")}, "the messages instead of a prompt: a list of role and content, or an expression that returns one"},
		"system":      {words, "the instructions to the model, such as the role it plays"},
		"answer":      {mapped, "the shape of the answer: names with string, bool, int, float, list, a list of choices, a scale {from: 1, to: 5} or a map; or a JSON Schema under schema"},
		"temperature": {numeric, "how much answers vary, from 0 to 2"},
		"max_tokens":  {whole, "the maximum number of tokens of the answer"},

		"max_completion_tokens": {whole, "the maximum number of tokens of reasoning and answer, sent under this name"},
		"reasoning_effort":      {words, "the reasoning effort: low, medium, high, or what the model supports"},
		"extra":                 {mapped, "further fields of the request, with the names that the service uses"},
		"fallback":              {names, "services that are called, in order, if this one fails"},
		"stream":                {flagged, "true: the answer arrives in pieces, and the timeout applies to the silence between them"},
	}
	out := map[string]keyWord{
		"message.role":           {words, "system, developer, user or assistant"},
		"message.content":        {words, "the text of the message"},
		"step.tools":             {schema{"type": "array", "items": named}, "what the model may call: tools of the file, and mcp:SERVICE or mcp:SERVICE.TOOL for those of a service of kind mcp"},
		"step.tool_limits":       {ref("tool_limits"), "bounds for the use of tools"},
		"tool_limits.rounds":     {whole, "how many answers may ask for tools; the default is 5"},
		"tool_limits.time":       {duration, "the timeout of a call of a tool; the default is 30s"},
		"tool_limits.bytes":      {whole, "the length of a result, in bytes, after which it is cut; the default is 16000"},
		"step.share":             {numeric, "the fraction of agents that call the model; the others take otherwise"},
		"step.otherwise":         {instead, "the answer if no model answers: an expression, or {learned: rule.json} for a rule that throngctl learn wrote"},
		"step.shadow":            {numeric, "how many sessions of a cycle ask the model even if the rule answers, to measure how often it agrees with the rule"},
		"step.cache":             {mapped, "names with expressions, the only names that the prompt sees: agents with the same values share one call"},
		"step.input":             {anything, "a text, or a list of texts"},
		"step.dimensions":        {whole, "the length of the vectors"},
		"step recall.query":      {words, "the text that notes are compared with"},
		"connector recall.query": {words, "the text that notes are compared with"},
		"step.top":               {anything, "how many notes are recalled; the default is 5"},
		"step.weights":           {ref("weights"), "how much each part of a score counts; the default of each is 1"},
		"step.decay":             {numeric, "the recency of a note after one cycle, as a factor; the default is 0.995"},
		"step.fields":            {ref("fields"), "the fields of notes that are records"},
		"weights.similarity":     {numeric, "how much it counts that a note resembles the query"},
		"weights.recency":        {numeric, "how much it counts that a note was written or recalled lately"},
		"weights.importance":     {numeric, "how much the importance of a note counts"},
		"fields.text":            {named, "the field with the text; the default is text, and a note without it is compared as a whole"},
		"fields.importance":      {named, "the field with the importance, a number; the default is importance"},
	}
	for key, k := range all {
		out["write."+key] = k
		if key != "service" {
			out["step."+key] = k
		}
	}
	return out
}
