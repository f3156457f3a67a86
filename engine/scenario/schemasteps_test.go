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
		"chain.timeout":   {duration, "of a session, such as 120 or 2m"},
		"chain.label":     {words, "what people read"},
		"chain.steps":     {ref("block"), "the steps, unless they are keys of the chain"},
		"chain.step NAME": {ref("step"), "a step"},
		"block.steps":     {ref("block"), "the steps, unless they are keys of the block"},
		"block.step NAME": {ref("step"), "a step"},

		"step.kind":       {oneOf(chain.Kinds()...), "what it does"},
		"step.type":       {oneOf(chain.Kinds()...), "another word for kind"},
		"step.name":       {named, "of a step in a list"},
		"step.when":       {words, "an expression: where it is false the step is skipped, and its output is missing"},
		"step.parallel":   {flagged, "it waits for the nearest plain step above only: parallel neighbours run together"},
		"step.depends_on": {names, "it waits for these neighbours, above or below"},
		"step.timeout":    {duration, "counted while the step runs, not while it is throttled"},
		"step.retry":      {ref("retry"), "how often and when it is tried again"},
		"step.on_error":   {oneOf("fail", "continue"), "continue: a failure does not end the session"},
		"step.default":    {anything, "the output after a failure, if the session continues"},
		"step.label":      {words, "what people read"},
		"retry.attempts":  {whole, "at most"},
		"retry.wait":      {duration, "before the second; it doubles, with jitter"},
		"retry.max":       {duration, "the longest wait"},

		"step.target":            {named, "what it calls: a function, a connector or a chain"},
		"step.options":           {mapped, "what the connector sees as options"},
		"step.service":           {named, "whom it asks"},
		"step.private":           {flagged, "its answer is kept out of error texts, and out of the store once its cycle is closed"},
		"step.auth":              {oneOf("none"), "none: sent without what the service is signed in with"},
		"step http.repeats":      {oneOf(chain.HTTPRepeats...), "what happens when a changing request is sent again; else the service's"},
		"step sql.repeats":       {oneOf(chain.SQLRepeats...), "what happens when the statement is sent again; it then counts as a change"},
		"connector http.repeats": {oneOf(chain.HTTPRepeats...), "what happens when a changing request is sent again; else the service's"},
		"connector sql.repeats":  {oneOf(chain.SQLRepeats...), "what happens when the statement is sent again; it then counts as a change"},
		"step.verify":            {ref("verify"), "asks whether a changing request was carried out, before it is sent again"},
		"verify.get":             {named, "the path of the request that finds out"},
		"verify.query":           {mapped, "names and values"},
		"verify.headers":         {mapped, "of the request"},
		"verify.expect":          {anything, "statuses that are good"},
		"verify.done":            {words, "an expression over status, headers, body and request: true if the request was carried out"},
		"verify.answer":          {anything, "stands in for the lost answer, as its body"},
		"verify.after":           {duration, "how long a request may still be carried out once its client is gone; 1s"},
	}
}

// kindWords are the keys of each kind of step, except those that call models.
func kindWords() map[string]keyWord {
	return map[string]keyWord{
		"step.get":     {named, "a path"},
		"step.post":    {named, "a path"},
		"step.put":     {named, "a path"},
		"step.patch":   {named, "a path"},
		"step.delete":  {named, "a path"},
		"step.query":   {anything, "names and values; of an sql step, one statement with $1 and so on for args"},
		"step.json":    {anything, "the body, as JSON"},
		"step.form":    {mapped, "the body, as a form"},
		"step.body":    {anything, "the body, as text"},
		"step.headers": {mapped, "of the request"},
		"step.expect":  {anything, "statuses that are good; else 200 to 299"},
		"step.args":    {anything, "the values of the query"},
		"step.call":    {words, "an expression"},
		"step.event":   {words, "what happened; the row's name"},
		"step.data":    {anything, "any data"},
		"step.set":     {mapped, "names and values of agent.memory"},
		"step.note":    {anything, "a text at the end of agent.notes"},
		"step.keep":    {anything, "how many notes stay, or a list of notes that takes the place of all"},
		"step.to":      {anything, "all, an id, or a list of ids"},
		"step.text":    {anything, "what is said"},
		"step.for":     {numeric, "seconds, a time such as 500ms, or an expression"},
		"step.because": {words, "why"},

		"step.condition":   {words, "an expression"},
		"step.then":        {ref("block"), "the steps where it holds"},
		"step.else":        {ref("block"), "the steps where it does not"},
		"step.each":        {words, "an expression: a list"},
		"step.as":          {named, "what an item is called"},
		"step.do":          {ref("block"), "the steps of a pass"},
		"step.limit":       {whole, "passes at most"},
		"step chain.input": {anything, "what the chain sees as input"},
	}
}

// modelWords are the keys of steps that call models.
func modelWords() map[string]keyWord {
	all := map[string]keyWord{
		"service":     {named, "whom it asks"},
		"prompt":      {words, "what is asked"},
		"messages":    {schema{"type": []string{"array", "string"}, "items": ref("message")}, "instead of a prompt: role and content, or an expression for a list of them"},
		"system":      {words, "the role that the model plays"},
		"answer":      {mapped, "a shape: names to string, bool, int, float, list, a list of choices or a map; or a JSON Schema under schema"},
		"temperature": {numeric, "from 0 to 2"},
		"max_tokens":  {whole, "of the answer"},

		"max_completion_tokens": {whole, "of the answer with what the model thinks: the field of that name is sent"},
		"reasoning_effort":      {words, "how much the model thinks: low, medium, high, or what it knows"},
		"extra":                 {mapped, "further fields of the request, as the service names them"},
		"fallback":              {names, "services that are asked where this one fails"},
		"stream":                {flagged, "the answer comes in pieces, and the timeout is for the silence between them"},
	}
	out := map[string]keyWord{
		"message.role":    {words, "system, developer, user or assistant"},
		"message.content": {words, "what is said"},
		"step.share":      {numeric, "which part of the agents asks; the others take otherwise"},
		"step.otherwise":  {words, "an expression: the answer if no model has one"},
		"step.cache":      {mapped, "names to expressions, all that the prompt sees: one call for all who would ask the same"},
		"step.input":      {anything, "a text, or a list of texts"},
		"step.dimensions": {whole, "of the vectors"},
	}
	for key, k := range all {
		out["write."+key] = k
		if key != "service" {
			out["step."+key] = k
		}
	}
	return out
}
