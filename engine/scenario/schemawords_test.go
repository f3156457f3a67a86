package scenario

import (
	"github.com/throng-sim/throng/engine/chain"
	"github.com/throng-sim/throng/engine/internal/pace"
	"github.com/throng-sim/throng/engine/service"
)

// keyWord describes a key in the schema: the values it takes, and the description that an editor shows.
type keyWord struct {
	value schema
	about string
}

// The kinds of values. Where an expression is allowed, so is a string.
var (
	anything = schema{}
	words    = schema{"type": []string{"string", "number", "boolean"}}
	numeric  = schema{"type": []string{"number", "string"}}
	fixed    = schema{"type": "number"}
	whole    = schema{"type": "integer"}
	duration = schema{"type": []string{"number", "string"}}
	flagged  = schema{"type": "boolean"}
	mapped   = schema{"type": "object"}
	named    = schema{"type": "string"}
	names    = schema{"type": []string{"string", "array"}, "items": schema{"type": "string"}}
	secret   = schema{"type": "string", "pattern": "^secret:"}
)

func oneOf(texts ...string) schema { return schema{"enum": texts} }

func eachOf(name string) schema {
	return schema{"type": "object", "additionalProperties": ref(name)}
}

func allOf(name string) schema { return schema{"type": "array", "items": ref(name)} }

// keyWords is the table of all keys in the schema, by place and key.
func keyWords() map[string]keyWord {
	all := map[string]keyWord{}
	for _, part := range []map[string]keyWord{fileWords(), populationWords(), serviceWords(), authWords(), stepWords(), kindWords(), modelWords()} {
		for name, k := range part {
			all[name] = k
			if place, key, _ := cutLast(name); place == "step" {
				all["connector."+key] = k
			}
		}
	}
	for _, key := range notOfConnectors {
		delete(all, "connector."+key)
	}
	return all
}

// notOfConnectors are the keys of steps that connectors do not have.
var notOfConnectors = []string{
	"name", "when", "parallel", "depends_on", "on_error", "default", "label",
	"condition", "then", "else", "each", "as", "do", "limit", "because", "options",
}

func fileWords() map[string]keyWord {
	return map[string]keyWord{
		"file.title":         {words, "what the gallery shows"},
		"file.about":         {words, "a sentence for the gallery"},
		"file.parameters":    {eachOf("parameter"), "values to set for each run: a form, --set name=value, and params.NAME"},
		"file.clock":         {ref("clock"), "simulated time"},
		"file.order":         {oneOf("parallel", "sequential"), "sequential: one agent acts after the other, in an order drawn from the seed"},
		"file.acted":         {named, "the event that counts as having acted"},
		"file.population":    {ref("population"), "the agents; without it, one agent"},
		"file.services":      {eachOf("service"), "whom steps may ask, by name"},
		"file.functions":     {named, "Starlark: a .star file next to this one, or a block"},
		"file.chain NAME":    {ref("chain"), "the steps that a session goes through"},
		"file.success":       {ref("success"), "criteria, judged at the end"},
		"file.batch":         {whole, "agents of a cycle in a wave: the next wave starts when the last session of the one before has ended; without it all start together"},
		"file.cleanup":       {ref("cleanup"), "what removes what agents made at services, by throngctl cleanup; a text is the chain"},
		"file.warm_up":       {ref("warm_up"), "only some agents act in the first cycles; true is 10, 25, 50, 75, 100%, two cycles each"},
		"file.run":           {named, "the chain that sessions run; else the first"},
		"file.interventions": {allOf("intervention"), "messages from outside"},
		"file.connectors":    {eachOf("connector"), "steps that are described once and called by name"},
		"parameter.default":  {words, "its default value, which also sets its type"},
		"parameter.min":      {fixed, "the least, of a number"},
		"parameter.max":      {fixed, "the greatest, of a number"},
		"parameter.title":    {words, "what the form shows"},
		"parameter.about":    {words, "a line below it"},
		"parameter.secret":   {flagged, "its value is a secret, which steps send as secret:NAME"},
		"parameter.choices":  {schema{"type": "array"}, "the values that a text can have"},

		"clock.start":  {named, "such as 2026-01-02T08:00:00Z"},
		"clock.cycle":  {duration, "simulated time of a cycle, such as 1h"},
		"clock.cycles": {schema{"type": []string{"integer", "string"}}, "how many; it may depend on params"},

		"warm_up.shares": {schema{"type": "array", "items": fixed}, "of the agents, such as [0.1, 0.5, 1]"},
		"cleanup.chain":  {named, "runs once for each agent that made something, which it finds in input"},
		"cleanup.events": {names, "that say what was made; without them all"},
		"warm_up.cycles": {whole, "for each share"},

		"intervention.cycle": {whole, "in which it is in the inboxes, from 0"},
		"intervention.to":    {names, "all, an id, or a list of ids"},
		"intervention.text":  {words, "what is said"},
		"intervention.data":  {anything, "any data"},

		"success.agents_completed": {words, "share of agents none of whose sessions failed, such as 100%"},
		"success.error_rate":       {words, "failed sessions over all, such as < 5%"},
		"success.cycle_time":       {words, "the worst, such as < 60s"},
		"success.memory":           {words, "peak of Throng, such as < 12GB"},
		"success.storage":          {words, "what the run takes in the store, such as < 2GB"},
		"success.db_connections":   {words, "peak on the server, such as <= 55"},
		"success.checkpoint_gap":   {words, "the longest, such as <= 5m"},
		"success.latency_p95":      {words, "of sessions, such as < 10s"},
		"success.latency_p99":      {words, "of sessions, such as < 30s"},
		"success.request_p95":      {words, "95% of requests to services took at most this long"},
		"success.request_p99":      {words, "99% of requests to services took at most this long"},
		"success.cost":             {words, "US dollars, such as < 0.50"},
		"success.duration":         {words, "of the run, such as < 1h"},
	}
}

func populationWords() map[string]keyWord {
	return map[string]keyWord{
		"population.count":      {schema{"type": []string{"integer", "string"}}, "how many agents; it may depend on params"},
		"population.id":         {words, "what agents are called, such as shopper-${agent.index + 1}"},
		"population.attributes": {mapped, "computed for each agent; one may use those above it"},
		"population.rows":       {schema{"type": "array", "items": mapped}, "a map for each agent"},
		"population.from":       {named, "a .csv or .jsonl file next to this one"},
		"population.types":      {schema{"type": "object", "additionalProperties": oneOf("bool", "int", "float", "string")}, "of columns, where they are not to be guessed"},
		"population.filter":     {words, "an expression that selects the active agents"},
		"population.write":      {ref("write"), "a model writes them, each once, and they are kept"},
		"write.retry":           {ref("retry"), "how often and when it is tried again"},
		"write.timeout":         {duration, "of a call"},
	}
}

func serviceWords() map[string]keyWord {
	providers := []string{}
	for _, p := range service.Providers {
		providers = append(providers, p.Name)
	}
	return map[string]keyWord{
		"service.kind":             {oneOf("http", "llm", "postgres"), "what it speaks"},
		"service.url":              {named, "its address; mock:shop and mock:model come along"},
		"service.repeats":          {oneOf(chain.HTTPRepeats...), "what it does with a changing request that is sent again; else unsafe"},
		"service.verify":           {ref("verify"), "asks whether a changing request was carried out, before it is sent again"},
		"service.tls":              {ref("tls"), "how it is trusted, and how Throng proves who it is"},
		"tls.ca":                   {named, "a PEM file next to this one: only what these authorities signed is trusted"},
		"tls.cert":                 {named, "a PEM file next to this one: the client certificate"},
		"tls.key":                  {named, "its private key: a PEM file next to this one, or secret:NAME"},
		"service.headers":          {mapped, "sent with each request"},
		"service.provider":         {schema{"type": "string", "examples": providers}, "who answers, instead of a url"},
		"service.model":            {names, "one, or several that are tried in order"},
		"service.embedding_model":  {named, "the model of embed steps"},
		"service.answers":          {oneOf(chainAnswers()...), "how a shape is asked for"},
		"service.reasoning_effort": {words, "how much its models think, where a step does not say"},
		"service.extra":            {mapped, "further fields of every chat request, as the service names them"},
		"service http.auth":        {ref("auth_http"), "how it is signed in to"},
		"service llm.auth":         {ref("auth_llm"), "its key, where it is not the provider's usual one"},
		"service postgres.auth":    {ref("auth_postgres"), "its password"},
		"service.role":             {named, "the role that statements run as: one without superuser rights"},
		"service http.limits":      {ref("limits_http"), "limits of the service"},
		"service llm.limits":       {ref("limits_llm"), "limits of the service"},
		"service postgres.limits":  {ref("limits_postgres"), "limits of the service"},

		"limits.connections":    {whole, "concurrent connections"},
		"limits postgres.burst": {whole, "more connections for a while"},
		"limits.concurrent":     {whole, "concurrent calls"},
		"limits.keepalive":      {whole, "connections that are kept open"},
		"limits.idle":           {duration, "how long they are"},
		"limits.timeout":        {duration, "of a request or statement"},
		"limits.rate":           {fixed, "requests per second to begin with"},
		"limits.max_rate":       {fixed, "requests per second at most"},
		"limits.burst":          {whole, "size of the token bucket in requests"},
		"limits.pace":           {oneOf(pace.Modes...), "how the rate is kept to: found, a token bucket, evenly spaced"},
		"limits.per":            {oneOf(service.PerNames...), "what the rates and a 429 hold for; else the rates for all of an http service, and a 429 for its endpoint"},
		"limits.buckets":        {schema{"type": "object", "additionalProperties": ref("bucket")}, "endpoints that share a limit, by name"},
		"bucket.match":          {names, "the endpoints, such as POST /orders or /products/*"},
		"bucket.rate":           {fixed, "requests per second to begin with"},
		"bucket.max_rate":       {fixed, "requests per second at most"},
		"bucket.burst":          {whole, "size of the token bucket in requests"},
		"bucket.pace":           {oneOf(pace.Modes...), "how the rate is kept to"},
		"limits.wait":           {duration, "for a connection, before the step fails"},
	}
}

func authWords() map[string]keyWord {
	return map[string]keyWord{
		"auth.user":      {words, "how the mock knows its callers"},
		"auth.bearer":    {secret, "secret:NAME, an environment variable or an entry of the keychain"},
		"auth.password":  {secret, "secret:NAME, an environment variable or an entry of the keychain"},
		"auth.basic":     {ref("basic"), "user and password with each request"},
		"auth.header":    {ref("key"), "an API key in a header"},
		"auth.query":     {ref("key"), "an API key in the query"},
		"auth.cookie":    {ref("key"), "an API key in a cookie"},
		"basic.user":     {words, "who signs in"},
		"basic.password": {secret, "secret:NAME, an environment variable or an entry of the keychain"},
		"key.name":       {named, "of the header, parameter or cookie"},
		"key.value":      {words, "secret:NAME, or a text with ${secret:NAME} in it"},
		"auth.jwt":       {ref("jwt"), "a token that Throng makes for each agent"},
		"auth.login":     {ref("login"), "a request that returns a token for each agent"},
		"jwt.secret":     {secret, "secret:NAME, what tokens are signed with"},
		"jwt.alg":        {oneOf(service.JWTMethods...), "how"},
		"jwt.claims":     {mapped, "what it says, besides iat and exp"},
		"jwt.ttl":        {duration, "how long a token holds"},
		"jwt.header":     {named, "where it is sent; else Authorization"},
		"jwt.scheme":     {named, "the word before it; else Bearer"},
		"login.post":     {named, "the path of the request"},
		"login.put":      {named, "the path of the request"},
		"login.json":     {anything, "its body; values may be secret:NAME"},
		"login.form":     {mapped, "its body; values may be secret:NAME"},
		"login.headers":  {mapped, "of the request"},
		"login.expect":   {anything, "statuses that are good"},
		"login.token":    {named, "where the answer has it, such as body.access_token or headers.x-token"},
		"login.header":   {named, "where it is sent; else Authorization"},
		"login.scheme":   {named, "the word before it; else Bearer"},
	}
}
