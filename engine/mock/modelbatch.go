package mock

import (
	"net/http"
	"strings"

	"github.com/throng-sim/throng/engine/mock/batchmock"
)

// batch carries out a request of the batch API.
func (x *modelExchange) batch(path string) (*reply, *apiError) {
	body, no := x.model.batches.Do(x.r, path)
	if no != nil {
		return nil, newAPIError(no.Status, typeInvalid, "", no.Message)
	}
	return &reply{body: body}, nil
}

// answerInBatch answers a request of a batch, without the latency, faults and quota of single requests.
func (m *Model) answerInBatch(endpoint string, body []byte) batchmock.Reply {
	r, err := http.NewRequest(http.MethodPost, endpoint, nil) //nolint:noctx // it is not sent
	if err != nil {
		panic(err) // the endpoint is one of the mock's own
	}
	x := &modelExchange{call: call{host: &m.host, r: r, body: body}, model: m}
	answer, no := x.route()
	if no != nil {
		return batchmock.Reply{Status: no.status, Body: no.body()}
	}
	return batchmock.Reply{Status: http.StatusOK, Body: answer.body, Prompt: answer.prompt, Completion: answer.completion}
}

// SetBatches changes how batches end that have not ended yet.
func (m *Model) SetBatches(cfg batchmock.Config) { m.batches.Use(cfg) }

// batchPath returns the part of a path that belongs to the batch API.
func batchPath(path string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(path, "/v1/")
	return rest, ok && batchmock.Serves(rest)
}
