package mock

import (
	"crypto/subtle"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine/internal/draw"
	"github.com/throng-sim/throng/engine/mock/quota"
)

// modelExchange is one request to the mock model and its answer.
type modelExchange struct {
	call
	model *Model
}

// reply is an answer that is ready to be sent.
type reply struct {
	body   []byte                   // the complete answer
	chunks []string                 // instead of body: the events of a stream, without [DONE]
	event  func(data string) string // an event as it is sent; nil for a body
	// prompt and completion are the tokens of a call that counts against the quota.
	prompt, completion int
	counted            bool
	done               bool // the stream ends with [DONE]
}

// serve authenticates the request, applies quota and faults, and answers.
func (m *Model) serve(w http.ResponseWriter, r *http.Request) {
	x := &modelExchange{call: m.call(w, r), model: m}
	defer x.gone()
	if m.out() {
		x.fault(FaultOutage)
		x.refuse(newAPIError(http.StatusServiceUnavailable, typeServer, "", "The model server is out of service"))
		return
	}
	if r.URL.Path == "/healthz" && r.Method == http.MethodGet {
		x.sendJSON(http.StatusOK, []byte(`{"status":"ok"}`))
		return
	}
	if no := x.identify(); no != nil {
		x.refuse(no)
		return
	}
	answer, no := x.route()
	chance := x.chance()
	hi, lo := chance.Text("id").Sum()
	w.Header().Set("X-Request-Id", "req_"+hex.EncodeToString(binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, hi), lo)))
	network := m.network.Load()
	if no == nil && answer.counted {
		no = x.spend(answer.prompt+answer.completion, network.faults)
	}
	m.wait(&x.call, x.slowed(network.profile.Delay(chance)))
	x.applyFault(network, chance, answer, no)
}

// applyFault draws the request's fault, if any, and answers.
func (x *modelExchange) applyFault(network *network, chance draw.Key, answer *reply, no *apiError) {
	fault, after := network.faults.Pick(chance)
	if fault != FaultNone {
		x.fault(fault)
	}
	switch {
	case fault == FaultRateLimited:
		x.w.Header().Set("Retry-After", "1")
		x.refuse(newAPIError(http.StatusTooManyRequests, typeLimit, "rate_limit_exceeded", "Too many requests"))
	case fault == FaultServerError:
		x.refuse(newAPIError(http.StatusInternalServerError, typeServer, "", "The server had an error while it answered"))
	case fault == FaultHang:
		x.hold()
	case fault == FaultCut && !after:
		x.cut()
	case no != nil && fault == FaultCut:
		x.cut()
	case no != nil:
		x.refuse(no)
	default:
		x.deliver(answer, fault, network.profile.PerToken())
	}
}

// deliver waits for the time that the answer takes and sends it, as far as the fault allows.
func (x *modelExchange) deliver(answer *reply, fault Fault, perToken time.Duration) {
	x.model.promptTokens.Add(int64(answer.prompt))
	x.model.completeTokens.Add(int64(answer.completion))
	whole := x.slowed(time.Duration(answer.completion) * perToken)
	if answer.chunks != nil {
		x.stream(answer, fault, whole)
		return
	}
	x.model.wait(&x.call, whole)
	switch fault {
	case FaultCut:
		x.cut()
	case FaultBadBody:
		x.sendJSON(http.StatusOK, answer.body[:len(answer.body)/2]) // half of an object is invalid JSON
	case FaultNone, FaultRateLimited, FaultServerError, FaultHang, FaultOutage:
		x.sendJSON(http.StatusOK, answer.body)
	}
}

// stream sends the events, spread over the time that the answer takes. A cut or an unreadable body comes half way through.
func (x *modelExchange) stream(answer *reply, fault Fault, whole time.Duration) {
	chunks := answer.chunks
	half := len(chunks) / 2
	// The hook receives a stream that will be cut as a cut.
	if fault == FaultCut {
		x.leave(0)
	} else {
		x.leave(http.StatusOK)
	}
	h := x.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache")
	x.w.WriteHeader(http.StatusOK)
	flush := http.NewResponseController(x.w).Flush
	for i, chunk := range chunks {
		// The parts add up to the whole time.
		from, to := whole*time.Duration(i)/time.Duration(len(chunks)), whole*time.Duration(i+1)/time.Duration(len(chunks))
		x.model.wait(&x.call, to-from)
		if i == half && fault == FaultCut {
			_ = flush() // the events sent so far must arrive
			panic(http.ErrAbortHandler)
		}
		if i == half && fault == FaultBadBody {
			chunk = chunk[:len(chunk)/2]
		}
		// The client may have disconnected; the server ignores that.
		_, _ = io.WriteString(x.w, answer.event(chunk))
		if to > from {
			_ = flush()
		}
	}
	if answer.done {
		_, _ = io.WriteString(x.w, dataEvent("[DONE]"))
	}
}

// identify authenticates the caller.
func (x *modelExchange) identify() *apiError {
	token, bearer := x.key(), "Bearer "+x.model.cfg.Secret
	rest, user := len(token)-len(bearer), ""
	known := rest >= 0 && rest <= maxUserID && subtle.ConstantTimeCompare([]byte(token[:len(bearer)]), []byte(bearer)) == 1
	if known && rest > 0 {
		user, known = strings.CutPrefix(token[len(bearer):], ".")
	}
	if !known {
		x.w.Header().Set("WWW-Authenticate", "Bearer")
		return newAPIError(http.StatusUnauthorized, typeInvalid, "invalid_api_key", "Incorrect API key provided: send it as Authorization: Bearer KEY")
	}
	x.request.User = user
	if err := x.readTag(); err != nil {
		return invalid("", "", "%s", err)
	}
	return nil
}

// route answers the request by its path.
func (x *modelExchange) route() (*reply, *apiError) {
	if path, ok := batchPath(x.r.URL.Path); ok {
		return x.batch(path)
	}
	path, ok := strings.CutPrefix(x.r.URL.Path, "/v1/")
	id, oneModel := strings.CutPrefix(path, "models/")
	method, work := http.MethodPost, x.chat
	switch {
	case !ok:
		method = ""
	case path == "chat/completions":
	case path == "messages":
		work = x.messages
	case path == "embeddings":
		work = x.embeddings
	case path == "models":
		method, work = http.MethodGet, x.listModels
	case oneModel:
		method, work = http.MethodGet, func() (*reply, *apiError) { return x.oneModel(id) }
	default:
		method = ""
	}
	switch {
	case method == "":
		return nil, newAPIError(http.StatusNotFound, typeInvalid, "unknown_url", "Unknown request URL: "+x.r.Method+" "+x.r.URL.Path)
	case method != x.r.Method:
		x.w.Header().Set("Allow", method)
		return nil, newAPIError(http.StatusMethodNotAllowed, typeInvalid, "method_not_supported", "Not allowed to "+x.r.Method+" on "+x.r.URL.Path)
	case !x.readBody():
		return nil, invalid("", "", badBody)
	}
	return work()
}

// spend counts the call against the quota.
func (x *modelExchange) spend(tokens int, faults Faults) *apiError {
	now := x.model.clock()
	wait, kind := x.model.quota.Take(tokens, faults.Quota, now, x.limitHeaders(now))
	if wait == 0 {
		return nil
	}
	per := "minute"
	if kind == "requests" && faults.Quota > 0 {
		per = "second"
	}
	seconds := quota.Refuse(x.w.Header(), wait)
	return newAPIError(http.StatusTooManyRequests, kind, "rate_limit_exceeded",
		fmt.Sprintf("Rate limit reached for %s per %s. Please try again in %ds.", kind, per, seconds))
}

// chance returns the key of the random draws for this request. The body is part of the key, since callers may share a user.
func (x *modelExchange) chance() draw.Key {
	key := x.model.root.Text(x.request.User)
	if x.tagged {
		return key.Text("request").Int(uint64(x.tag.cycle)).Text(x.tag.path).Int(uint64(x.tag.attempt)).Text(string(x.body))
	}
	return key.Text("call").Int(uint64(x.model.calls.Add(1)))
}

// knows checks that a model of that name exists.
func (m *Model) knows(name string) *apiError {
	if slices.Contains(m.cfg.Models, name) {
		return nil
	}
	no := newAPIError(http.StatusNotFound, typeInvalid, "model_not_found",
		fmt.Sprintf("The model %q does not exist; use one of %s", name, strings.Join(m.cfg.Models, ", ")))
	return no
}
