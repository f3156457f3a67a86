package words

import "github.com/throng-sim/throng/engine"

// remedies says by class what helps against an error.
var remedies = map[engine.Class]string{
	engine.RateLimited: "The service limits requests. Lower the concurrency limit, or set a rate for the service.",
	engine.Timeout:     "The service is slow. Lower the concurrency limit, or give it more time in the scenario.",
	engine.ServerError: "The service failed. Look at its log, and lower the concurrency limit if it is overloaded.",
	engine.ClientError: "The service refuses the request. Check its secret and address in Setup, and the step in the scenario. Open the agent to see the request.",
	engine.Network:     "The service cannot be reached. Check its address in Setup, and whether it runs. Preflight checks in Setup try it.",
	engine.BadAnswer:   "The scenario expects another answer. Open the agent to see the answer, and correct the step in the scenario.",
	engine.Contract:    "The answer does not match the OpenAPI document. Correct the document or the service.",
	engine.Script:      "A function or an expression of the scenario failed. Correct it with Edit scenario… in Setup, and try one agent there.",
	engine.LoopLimit:   "A loop of the scenario did not end. Correct its condition, or raise its limit, with Edit scenario… in Setup.",
	engine.Panic:       "Throng crashed in this session. The Log tab in Live has more, for a report of the problem.",
	engine.ConfigError: "The scenario or its settings are wrong. Correct them with Edit scenario… in Setup, and launch again.",
}
