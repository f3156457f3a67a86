package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/consent"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain"
	"github.com/throng-sim/throng/engine/scenario"
)

// printService says where a service is, whether a run may call it, and which secrets it would need.
func printService(w io.Writer, o app.PlannedService) {
	var notes []string
	switch {
	case o.Embedded:
		notes = append(notes, "mock, in this process")
	case o.Hidden:
		notes = append(notes, "unknown: a secret is missing")
	case len(o.Unallowed) > 0:
		var flags []string
		for _, d := range o.Unallowed {
			flags = append(flags, "--allow "+consent.Name(d))
		}
		notes = append(notes, "not allowed yet: needs "+strings.Join(flags, " "))
	case len(o.Away) > 0:
		notes = append(notes, "another host, allowed")
	default:
		notes = append(notes, "on this machine")
	}
	if o.Replaced {
		notes = append(notes, "instead of "+o.URL)
	}
	switch {
	case o.Unnamed:
		notes = append(notes, "uses the model the server has")
	case o.Kind == "llm" && !slices.Equal(o.Models, o.Named):
		notes = append(notes, "asked for "+strings.Join(o.Models, ", "))
	}
	rowf(w, "service %s\t%s\t%s\t%s\n", o.Name, o.Kind, o.Address, strings.Join(notes, ", "))
	for _, secret := range o.Secrets {
		found := "found in " + secret.Place
		if secret.Err != nil {
			found = secret.Err.Error()
		}
		rowf(w, "secret %s\tof %s\t%s\n", secret.Name, o.Name, found)
	}
}

// printExpected says how many requests a session and a cycle are expected to make.
func printExpected(w io.Writer, s *scenario.Scenario) {
	all := s.Chain.Expect()
	if len(all) == 0 {
		return
	}
	rowf(w, "\nrequests to\ta session\ta cycle of %s\n", counted(s.Agents, "agent"))
	for _, r := range all {
		rowf(w, "%s\t%s\t%s\n", r.Service.Name, strings.Join(append(span(r, 1), loops(r)...), ", and "), cycle(r, s.Agents))
		if r.Service.Login != nil {
			rowf(w, "%s\tone more to log in\tonce per agent, and when a token has expired\n", r.Service.Name)
		}
	}
}

func counted(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return engine.FormatCount(int64(n)) + " " + what
}

// cycle is what the sessions of one cycle ask.
func cycle(r chain.Requests, agents int) string {
	parts := span(r, int64(agents))
	if len(r.Loops) > 0 || r.More {
		parts = append(parts, "those of loops")
	}
	return strings.Join(parts, ", and ")
}

// span returns how many requests some sessions make, without those in loops of unknown length.
func span(r chain.Requests, sessions int64) []string {
	least, most := engine.FormatCount(r.Least*sessions), engine.FormatCount(r.Most*sessions)
	switch {
	case r.Most >= chain.Endless:
		return []string{least + " or more"}
	case r.Least != r.Most && !math.IsNaN(r.Mean):
		return []string{fmt.Sprintf("%s to %s, %s on average", least, most, strconv.FormatFloat(r.Mean*float64(sessions), 'f', -1, 64))}
	case r.Least != r.Most:
		return []string{least + " to " + most}
	case r.Most == 0 && (len(r.Loops) > 0 || r.More):
		return nil
	}
	return []string{most}
}

// loops are the requests that each pass of a loop makes.
func loops(r chain.Requests) []string {
	var parts []string
	for _, l := range r.Loops {
		each := engine.FormatCount(l.Least)
		if l.Least != l.Most {
			each += " to " + engine.FormatCount(l.Most)
		}
		parts = append(parts, each+" per "+l.As+" of "+l.Path)
	}
	if r.More {
		parts = append(parts, "those of further loops")
	}
	return parts
}
