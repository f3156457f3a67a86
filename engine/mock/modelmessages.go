package mock

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine/mock/messages"
	"github.com/throng-sim/throng/engine/mock/quota"
)

const messagesPath = "/v1/messages"

// SeedHeader hands over the seed of an answer in formats without a field for it.
const SeedHeader = "X-Throng-Seed"

// messages answers POST /v1/messages, Anthropic's format, with the same text as a chat completion.
func (x *modelExchange) messages() (*reply, *apiError) {
	r, err := messages.Read(x.body, x.r.Header, x.r.Header.Get(SeedHeader))
	if err != nil {
		return nil, invalid("", "", "%s", err)
	}
	q, c, no := x.completed(r.Chat)
	if no != nil {
		return nil, no
	}
	c.Cached = cachedOf(r.Cached)
	x.spoil(c, q)
	answer := &reply{prompt: c.Prompt, completion: c.Completion, counted: true, event: messages.Event}
	if r.Stream {
		c.Pieces = pieces(c.Text)
		answer.chunks = r.Events(&c.Answer)
	} else {
		answer.body = r.Body(&c.Answer)
	}
	return answer, nil
}

// leastCached is the number of tokens from which a prompt's stable part counts as read from the cache: that of most providers. It
// always counts, so that the usage depends on the request alone.
const leastCached = 1024

// cachedOf returns how many tokens of the stable part of a prompt are read from the cache.
func cachedOf(stable string) int {
	if n := tokens(stable); n >= leastCached {
		return n
	}
	return 0
}

// dataEvent is an event of a stream in OpenAI's format.
func dataEvent(data string) string { return fmt.Sprintf("data: %s\n\n", data) }

// key returns the caller's key, in the header of either format.
func (x *modelExchange) key() string {
	if key := x.r.Header.Get("X-Api-Key"); key != "" {
		return "Bearer " + key
	}
	return x.r.Header.Get("Authorization")
}

// refuse sends an error in the format of the request.
func (x *modelExchange) refuse(no *apiError) {
	body := no.body
	if strings.HasPrefix(x.r.URL.Path, messagesPath) && x.r.Method == http.MethodPost {
		body = func() []byte { return messages.Error(no.status, no.Message) }
	}
	x.sendJSON(no.status, body())
}

// limitHeaders sets the headers of the quota in the format of the request.
func (x *modelExchange) limitHeaders(now time.Time) quota.Headers {
	h := x.w.Header()
	if x.r.URL.Path != messagesPath {
		return quota.Usual(h)
	}
	return func(name string, limit, left int, full time.Duration) {
		messages.SetLimit(h, name, limit, left, now.Add(full))
	}
}
