// Package mocks reads how mocks behave, and starts the mocks of OpenAPI documents for a run.
package mocks

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/duration"
	"github.com/throng-sim/throng/engine/mock"
)

// Parse translates the mock settings. Its errors are *engine.FieldError values.
func Parse(r engine.Mock) (mock.Config, error) {
	cfg := mock.Config{Scarcity: r.Scarcity}
	profile := r.Profile
	if profile == "" {
		profile = mock.ProfileLocal.String()
	}
	var err error
	if cfg.Profile, err = mock.ParseProfile(profile); err != nil {
		return cfg, &engine.FieldError{Field: "mock", Problem: err.Error()}
	}
	cfg.Faults, err = parseFaults(r.Faults)
	return cfg, err
}

// faultKinds names the faults of the mocks.
var faultKinds = []string{"rate_limited", "server_error", "hang", "cut", "bad_body", "refused", "fenced", "empty", "tool_again", "tool_unknown", "tool_misfit", "outage", "token_requests", "quota", "capacity"}

// parseFaults reads the fraction of requests for each fault, an outage as FROM+FOR, and limits: requests per token
// (token_requests), per second (quota) and in flight (capacity).
func parseFaults(given map[string]string) (mock.Faults, error) {
	var f mock.Faults
	shares := map[string]*float64{
		"rate_limited": &f.RateLimited, "server_error": &f.ServerError, "hang": &f.Hang, "cut": &f.Cut, "bad_body": &f.BadBody,
		"refused": &f.Replies.Refused, "fenced": &f.Replies.Fenced, "empty": &f.Replies.Empty,
		"tool_again": &f.Tools.Again, "tool_unknown": &f.Tools.Unknown, "tool_misfit": &f.Tools.Misfit,
	}
	counts := map[string]*int{"token_requests": &f.TokenRequests, "capacity": &f.Capacity}
	for kind, text := range given {
		if kind == "outage" {
			from, length, ok := strings.Cut(text, "+")
			var err1, err2 error
			f.OutageFrom, err1 = duration.Parse(from)
			f.OutageFor, err2 = duration.Parse(length)
			if !ok || err1 != nil || err2 != nil {
				return f, &engine.FieldError{Field: "fault outage", Problem: fmt.Sprintf("%q is not an outage", text), Hint: "use FROM+FOR, for example 30s+10s"}
			}
			continue
		}
		if count, ok := counts[kind]; ok {
			n, err := strconv.Atoi(text)
			if err != nil {
				return f, &engine.FieldError{Field: "fault " + kind, Problem: fmt.Sprintf("%q is not a number of requests", text), Hint: "for example 20"}
			}
			*count = n
			continue
		}
		if kind == "quota" {
			n, err := strconv.ParseFloat(text, 64)
			if err != nil {
				return f, &engine.FieldError{Field: "fault quota", Problem: fmt.Sprintf("%q is not a number of requests per second", text), Hint: "for example 20"}
			}
			f.Quota = n
			continue
		}
		share, ok := shares[kind]
		if !ok {
			return f, &engine.FieldError{
				Field: "fault", Problem: "unknown fault " + kind, Hint: "choose one of " + strings.Join(faultKinds, ", "),
			}
		}
		var err error
		if *share, err = strconv.ParseFloat(text, 64); err != nil {
			return f, &engine.FieldError{Field: "fault " + kind, Problem: fmt.Sprintf("%q is not a fraction", text), Hint: "for example 0.05"}
		}
	}
	if err := f.Validate(); err != nil {
		return f, &engine.FieldError{Field: "fault", Problem: err.Error()}
	}
	return f, nil
}
