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
	// a value for all requests, or one for each service or step
	perService = schema{"type": []string{"string", "number", "object"}, "additionalProperties": words}
	// a time, a rate, or the stages of a profile
	shaped  = schema{"type": []string{"number", "string", "array"}, "items": ref("stage")}
	flagged = schema{"type": "boolean"}
	mapped  = schema{"type": "object"}
	named   = schema{"type": "string"}
	names   = schema{"type": []string{"string", "array"}, "items": schema{"type": "string"}}
	secret  = schema{"type": "string", "pattern": "^secret:"}
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
		"file.title":            {words, "the title in the list of scenarios"},
		"file.about":            {words, "one sentence about the scenario, shown below the title"},
		"file.parameters":       {eachOf("parameter"), "values to set for each run: a form in Setup, --set name=value, and params.NAME"},
		"file.clock":            {ref("clock"), "the simulated time"},
		"file.order":            {oneOf("parallel", "sequential"), "parallel (the default), or sequential: one agent acts at a time, in an order drawn from the seed"},
		"file.acted":            {named, "the event that makes a session count as acted"},
		"file.population":       {ref("population"), "the agents; without it, there is one agent"},
		"file.services":         {eachOf("service"), "the services that steps call, by name"},
		"file.functions":        {named, "functions in Starlark: a .star file in the same folder, or a block of text"},
		"file.chain NAME":       {ref("chain"), "a chain: the steps that a session goes through"},
		"file.success":          {ref("success"), "criteria that are judged when the run ends"},
		"file.batch":            {whole, "agents per wave: the next wave of a cycle starts when the last session of the previous wave has ended. Without it, all start together"},
		"file.cleanup":          {ref("cleanup"), "the chain that removes what agents created at services, run by throngctl cleanup"},
		"file.warm_up":          {ref("warm_up"), "only a share of the agents acts in the first cycles; true takes 10, 25, 50, 75 and 100%, two cycles each"},
		"file.run":              {named, "the chain that sessions run; the default is the first chain"},
		"file.interventions":    {allOf("intervention"), "messages to agents from outside the simulation"},
		"file.tools":            {eachOf("tool"), "tools that models may call in llm steps, by name"},
		"file.connectors":       {eachOf("connector"), "steps that are defined once and called by name"},
		"file.validate_against": {ref("validate_against"), "real data that runs are compared with, in results and reports"},

		"validate_against.file":     {named, "a CSV file with a header and a row for each person or event, relative to this file; its content is kept with the run"},
		"validate_against.measures": {eachOf("validated"), "what is compared: a column of the file with a figure of the run, such as {spend: events.purchase.total.sum}"},

		"validated.of":   {named, "the figure: acted, outcome, events.NAME, events.NAME.FIELD.mean, memory.FIELD or agent.ATTRIBUTE"},
		"validated.kind": {oneOf("number", "category"), "how values are compared; the default depends on the column"},
		"validated.per":  {oneOf("agent", "session"), "what has a value: an agent, which is the default, or a session"},

		"tool.about": {words, "what the tool does, for the model"},
		"tool.input": {mapped, "the shape of the arguments: names with string, bool, int, float, list, a list of choices or a map; or a JSON Schema under schema"},
		"tool.call":  {words, "an expression; its value is the result. It sees input, agent, session and now"},
		"tool.chain": {named, "the chain that is the tool: it gets the arguments as input, and its result is the tool's"},

		"parameter.default": {words, "the default value, which also sets the type"},
		"parameter.min":     {fixed, "the smallest value of a number"},
		"parameter.max":     {fixed, "the largest value of a number"},
		"parameter.title":   {words, "the label in the form"},
		"parameter.about":   {words, "an explanation below the field"},
		"parameter.secret":  {flagged, "true makes it a secret, which steps send as secret:NAME"},
		"parameter.choices": {schema{"type": "array"}, "the values to choose from, for a text"},

		"clock.start":  {named, "the simulated time at the start, such as 2026-01-02T08:00:00Z"},
		"clock.cycle":  {duration, "the simulated length of a cycle, such as 1h"},
		"clock.cycles": {schema{"type": []string{"integer", "string"}}, "the number of cycles; it may depend on params"},
		"clock.arrivals": {
			schema{"anyOf": []schema{oneOf("at-once", "even", "poisson"), ref("arrivals")}},
			"when the agents of a cycle start, in wall time; the default is at-once, as fast as the concurrency limit allows",
		},

		"arrivals.even":    {shaped, "agents arrive evenly spaced, over a time such as 60s or at a rate such as 10/s"},
		"arrivals.poisson": {shaped, "agents arrive independently of each other, over a time such as 60s or at a rate such as 10/s"},
		"arrivals.profile": {allOf("stage"), "the rate changes in stages; the last one lasts until all agents have arrived"},
		"stage.for":        {duration, "the length of the stage, such as 30s"},
		"stage.rate":       {numeric, "the rate of the stage, such as 10/s or 90/min"},
		"stage.from":       {numeric, "the rate at the start of a ramp; the default is the last rate of the stage before"},
		"stage.to":         {numeric, "the rate at the end of a ramp"},

		"warm_up.shares": {schema{"type": "array", "items": fixed}, "the shares of the agents, such as [0.1, 0.5, 1]"},
		"cleanup.chain":  {named, "the chain that runs once for each agent that created something; the list of what it created is in input"},
		"cleanup.events": {names, "the events that report what was created; the default is all events"},
		"warm_up.cycles": {whole, "the number of cycles for each share"},

		"intervention.cycle": {whole, "the cycle in which the message is in the inboxes, from 0"},
		"intervention.to":    {names, "the receivers: all, an ID, or a list of IDs"},
		"intervention.text":  {words, "the text of the message"},
		"intervention.data":  {anything, "data in addition to the text"},

		"success.agents_completed": {words, "the share of agents without a failed session, such as 100%"},
		"success.error_rate":       {words, "failed sessions as a share of all, such as < 5%"},
		"success.cycle_time":       {words, "the time of the slowest cycle, such as < 60s"},
		"success.memory":           {words, "the peak memory of Throng, such as < 12GB"},
		"success.storage":          {words, "the size of the run on disk, such as < 2GB"},
		"success.db_connections":   {words, "the peak number of connections at the database server, such as <= 55"},
		"success.checkpoint_gap":   {words, "the longest time between checkpoints, such as <= 5m"},
		"success.latency_p95":      {words, "95% of sessions take at most this long, such as < 10s"},
		"success.latency_p99":      {words, "99% of sessions take at most this long, such as < 30s"},
		"success.request_p50":      {perService, "half of the requests to services take at most this long; also by service or step, such as {shop: < 80ms}"},
		"success.request_p95":      {perService, "95% of requests to services take at most this long; also by service or step, such as {shop: < 1s}"},
		"success.request_p99":      {perService, "99% of requests to services take at most this long; also by service or step"},
		"success.request_max":      {perService, "all requests to services take at most this long; also by service or step"},
		"success.request_rate":     {perService, "at least this many requests per second, such as 50/s; also by service or step"},
		"success.request_error_rate": {
			perService, "requests that failed after their retries, as a share of all, such as < 1%; also by service or step",
		},
		"success.cost":     {words, "the cost in US dollars, such as < 0.50"},
		"success.duration": {words, "the duration of the run, such as < 1h"},
	}
}

func populationWords() map[string]keyWord {
	table := schema{"type": "object", "additionalProperties": schema{"type": "object", "additionalProperties": words}}
	return map[string]keyWord{
		"population.count":      {schema{"type": []string{"integer", "string"}}, "the number of agents; it may depend on params"},
		"population.id":         {words, "the IDs of the agents, such as shopper-${agent.index + 1}"},
		"population.attributes": {mapped, "attributes that are computed for each agent; each can use those above it"},
		"population.rows":       {schema{"type": "array", "items": mapped}, "the agents as a list, one map for each"},
		"population.from":       {named, "a .csv, .jsonl or .parquet file in the same folder, one row for each agent"},
		"population.columns":    {schema{"type": []string{"object", "array"}, "additionalProperties": words, "items": words}, "the columns that become attributes: a list, or a map from attributes to columns"},
		"population.values":     {table, "other values for the cells of an attribute, such as {gender: {1: male, 2: female}}"},
		"population.where":      {words, "an expression about a row, such as row.age >= 18; other rows are left out"},
		"population.sample":     {ref("sample"), "draw `count` rows at random; true draws all rows with the same probability"},
		"sample.weight":         {named, "the column with the weight of a row"},
		"sample.seed":           {schema{"type": []string{"integer", "string"}}, "the seed of the draw, 1 if absent; it may depend on params"},
		"sample.targets":        {table, "shares that the weights are raked to, such as {gender: {female: 51%, male: 49%}}"},
		"sample.tolerance":      {fixed, "the largest difference of a share after raking, 0.000001 if absent"},
		"sample.rounds":         {whole, "the most rounds of raking, 1000 if absent"},
		"population.types":      {schema{"type": "object", "additionalProperties": oneOf("bool", "int", "float", "string")}, "the types of attributes, if they should not be guessed"},
		"population.filter":     {words, "an expression that selects the active agents"},
		"population.write":      {ref("write"), "a model writes the agents, once, before the run begins"},
		"write.retry":           {ref("retry"), "how often and when a failed call is repeated"},
		"write.timeout":         {duration, "the timeout of a call"},
	}
}

func serviceWords() map[string]keyWord {
	providers := []string{}
	for _, p := range service.Providers {
		providers = append(providers, p.Name)
	}
	return map[string]keyWord{
		"service.kind":             {oneOf("http", "llm", "postgres", "mcp"), "the kind of service"},
		"service.url":              {named, "the address; mock:shop and mock:model are the mocks in Throng, and mock:openapi.yaml is a mock of the API in that document"},
		"service.repeats":          {oneOf(chain.HTTPRepeats...), "how the service handles a changing request that is sent again; the default is unsafe"},
		"service.verify":           {ref("verify"), "a request that finds out whether a changing request was carried out, before it is sent again"},
		"service.tls":              {ref("tls"), "private CA and client certificate"},
		"tls.ca":                   {named, "a PEM file in the same folder with the only authorities to trust"},
		"tls.cert":                 {named, "a PEM file in the same folder with the client certificate"},
		"tls.key":                  {named, "the private key: a PEM file in the same folder, or secret:NAME"},
		"service.headers":          {mapped, "headers of each request"},
		"service.provider":         {schema{"type": "string", "examples": providers}, "the provider of the models, instead of an address"},
		"service.model":            {names, "the model, or several that are tried in order"},
		"service.embedding_model":  {named, "the model for embed steps"},
		"service.api":              {oneOf(service.APINames()...), "the wire format of the models: OpenAI's chat completions, Anthropic's messages, or Ollama's own; the default is the provider's"},
		"service.answers":          {oneOf(chainAnswers()...), "how an answer with a shape is requested"},
		"service.reasoning_effort": {words, "the reasoning effort of steps that do not set it"},
		"service.extra":            {mapped, "further fields of every chat request, with the names that the service uses"},
		"service.batch":            {schema{"anyOf": []schema{oneOf("on", "off"), ref("batches")}}, "on: calls go through the provider's batch API, and sessions wait for it; the default is off"},
		"batches.size":             {whole, "the maximum number of calls in a batch; the default is 50000"},
		"batches.bytes":            {words, "the maximum size of the file of a batch, such as 50MB; the default is 200MB"},
		"batches.wait":             {duration, "how long the first call waits for others to join its batch; the default is 1m"},
		"batches.poll":             {duration, "the longest time between two polls of a batch; the default is 30s"},
		"service http.auth":        {ref("auth_http"), "how requests are authenticated"},
		"service llm.auth":         {ref("auth_llm"), "the API key, if it is not the provider's usual one"},
		"service postgres.auth":    {ref("auth_postgres"), "the password"},
		"service.role":             {named, "the role that statements run as, without superuser rights"},
		"service http.limits":      {ref("limits_http"), "limits for connections, rates and timeouts"},
		"service llm.limits":       {ref("limits_llm"), "limits for calls, rates and timeouts"},
		"service mcp.auth":         {ref("auth_mcp"), "how requests are authenticated"},
		"service mcp.limits":       {ref("limits_mcp"), "limits for connections, rates and timeouts"},
		"service mcp.repeats":      {oneOf(chain.SQLRepeats...), "what happens when a call of a tool is sent again; the default is unsafe"},
		"service mcp.url":          {named, "the address of the MCP server (streamable HTTP)"},
		"service postgres.limits":  {ref("limits_postgres"), "limits for connections and timeouts"},

		"service.openapi":          {named, "the OpenAPI document of the service, a file in the same folder"},
		"service.cookies":          {oneOf("on", "off"), "whether each session keeps the cookies of answers and sends them, as a browser does; the default is off"},
		"service.traceparent":      {oneOf("on", "off"), "whether requests have a header traceparent, so that traces of the service join those of Throng; the default is off"},
		"service.redirects":        {oneOf(chain.Redirects...), "whether redirects are followed, on the same host; the default is manual"},
		"service.proxy":            {ref("proxy"), "the HTTP proxy that requests are sent through"},
		"proxy.url":                {named, "the address of the proxy, such as http://proxy.example.com:3128"},
		"proxy.user":               {named, "the user at the proxy"},
		"proxy.password":           {secret, "the password at the proxy: secret:NAME, an environment variable or an entry of the keychain"},
		"limits.request_size":      {words, "the maximum size of a request's body, such as 10MB; the default is 32 MB"},
		"limits.response_size":     {words, "the maximum size of an answer's body, such as 10MB; the default is 32 MB"},
		"limits mcp.response_size": {words, "the maximum size of an answer, such as 10MB; the default is 1 MB"},
		"limits.connections":       {whole, "the maximum number of concurrent connections"},
		"limits postgres.burst":    {whole, "additional connections for a short time"},
		"limits.concurrent":        {whole, "the maximum number of concurrent calls"},
		"limits.keepalive":         {whole, "the number of idle connections to keep open"},
		"limits.idle":              {duration, "how long idle connections stay open"},
		"limits.timeout":           {duration, "the timeout of a request or statement"},
		"limits.rate":              {fixed, "requests per second at the start"},
		"limits.max_rate":          {fixed, "the maximum number of requests per second"},
		"limits.burst":             {whole, "the size of the token bucket, in requests"},
		"limits.pace":              {oneOf(pace.Modes...), "how the rate is set: found by trying, a token bucket, or evenly spaced"},
		"limits.per":               {oneOf(service.PerNames...), "what rates and a 429 apply to. The default for rates of an http service is all requests, for a 429 its endpoint"},
		"limits.buckets":           {schema{"type": "object", "additionalProperties": ref("bucket")}, "endpoints that share a limit, by name"},
		"bucket.match":             {names, "the endpoints, such as POST /orders or /products/*"},
		"bucket.rate":              {fixed, "requests per second at the start"},
		"bucket.max_rate":          {fixed, "the maximum number of requests per second"},
		"bucket.burst":             {whole, "the size of the token bucket, in requests"},
		"bucket.pace":              {oneOf(pace.Modes...), "how the rate is set"},
		"limits.wait":              {duration, "how long a statement waits for a connection before its step fails"},
	}
}

func authWords() map[string]keyWord {
	return map[string]keyWord{
		"auth.user":          {words, "how the mocks identify the caller"},
		"auth.bearer":        {secret, "a bearer token: secret:NAME, an environment variable or an entry of the keychain"},
		"auth.password":      {secret, "the password: secret:NAME, an environment variable or an entry of the keychain"},
		"auth.basic":         {ref("basic"), "user and password with each request"},
		"auth.header":        {ref("key"), "an API key in a header"},
		"auth.query":         {ref("key"), "an API key in the query"},
		"auth.cookie":        {ref("key"), "an API key in a cookie"},
		"basic.user":         {words, "the name of the user"},
		"basic.password":     {secret, "the password: secret:NAME, an environment variable or an entry of the keychain"},
		"key.name":           {named, "the name of the header, query parameter or cookie"},
		"key.value":          {words, "the key: secret:NAME, or a text that contains ${secret:NAME}"},
		"auth.jwt":           {ref("jwt"), "a token that Throng creates for each agent"},
		"auth.login":         {ref("login"), "a request that returns a token for each agent"},
		"jwt.secret":         {secret, "the key that signs tokens: secret:NAME"},
		"jwt.alg":            {oneOf(service.JWTMethods...), "the signature algorithm"},
		"jwt.claims":         {mapped, "claims in addition to iat and exp"},
		"jwt.ttl":            {duration, "how long a token is valid"},
		"jwt.header":         {named, "the header with the token; the default is Authorization"},
		"jwt.scheme":         {named, "the word before the token; the default is Bearer"},
		"auth.oauth2":        {ref("oauth2"), "a token for each agent from an OAuth 2.0 token endpoint, renewed before it expires"},
		"oauth2.grant":       {oneOf("client_credentials", "password"), "how the token is requested"},
		"oauth2.post":        {named, "the path of the token endpoint, or its address if it is on another host"},
		"oauth2.client":      {words, "the ID of the client"},
		"oauth2.secret":      {secret, "the secret of the client: secret:NAME, an environment variable or an entry of the keychain"},
		"oauth2.client_auth": {oneOf("header", "form"), "where the client's ID and secret are sent; the default is a header (basic authentication)"},
		"oauth2.user":        {words, "the user, for the grant password"},
		"oauth2.password":    {words, "the password of the user; it can be secret:NAME"},
		"oauth2.scope":       {words, "the scopes, separated by spaces"},
		"oauth2.form":        {mapped, "further fields of the request; values can be secret:NAME"},
		"oauth2.headers":     {mapped, "headers of the request"},
		"oauth2.header":      {named, "the header with the token; the default is Authorization"},
		"oauth2.scheme":      {named, "the word before the token; the default is Bearer"},
		"login.post":         {named, "the path of the request, or its address if it is on another host"},
		"login.put":          {named, "the path of the request, or its address if it is on another host"},
		"login.multipart":    {mapped, "the body as multipart/form-data; values can be secret:NAME"},
		"login.cookie":       {named, "a cookie that the answer to a successful login sets"},
		"login.json":         {anything, "the body as JSON; values can be secret:NAME"},
		"login.form":         {mapped, "the body as a form; values can be secret:NAME"},
		"login.headers":      {mapped, "headers of the request"},
		"login.expect":       {anything, "statuses that count as success"},
		"login.token":        {named, "where the answer has the token, such as body.access_token or headers.x-token"},
		"login.header":       {named, "the header with the token; the default is Authorization"},
		"login.scheme":       {named, "the word before the token; the default is Bearer"},
	}
}
