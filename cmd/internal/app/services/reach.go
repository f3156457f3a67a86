package services

import "github.com/throng-sim/throng/engine/service/pricing"

// Reach is how another process reaches a service of a run.
type Reach struct {
	// Mock is the URL of the mock that is the service, on the machine of the coordinator; "" if it is not a mock. Secret signs in there.
	Mock, Secret string
	Prices       pricing.Prices // of the models that the run requests; nil if it is not a model service
}
