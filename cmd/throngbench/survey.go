package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/app/surveys"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/mock"
	"github.com/throng-sim/throng/engine/mock/wire"
	"github.com/throng-sim/throng/engine/survey"
	"github.com/throng-sim/throng/engine/survey/questionnaire"
)

const (
	asked      = 10_000 // agents of a survey
	askedLimit = 50
)

// townWorld is a run whose agents have something to tell.
const townWorld = `
title: A town
population: {count: %d, id: "person-${agent.index}", attributes: {region: "${pick(['north', 'south'])}", age: "${int(uniform(18, 90))}"}}
services: {model: {kind: llm, provider: mock}}
chain live:
  step note: {kind: remember, note: "In hour ${session.cycle} I met person-${int(uniform(0, 100))} on the market.", set: {content: "${int(uniform(1, 6))}"}}
`

const askedQuestions = `
segments: [region]
questions:
  mood: {ask: How are you?, answer: [good, fair, bad]}
  content: {ask: How content are you with your town?, answer: {from: 1, to: 5}}
  why: Why?
`

var noLatency = engine.Mock{Profile: wire.ProfileNone.String()}

// surveyRow measures a survey against the requests that it makes.
func surveyRow() row {
	const each, used = "µs/agent", "CPU µs/agent"
	return row{
		name: "22", what: fmt.Sprintf("A survey of three questions among %d agents, %d concurrent, by the mock model without its latency", asked, askedLimit),
		sides: []side{
			{name: "Throng", run: throngSurvey},
			{name: "bare calls by net/http", run: bareSurvey},
		},
		shown: []string{each, used, "agents/s", "ms to count the answers", "peak MB"},
		ratios: []ratio{
			{name: "times the CPU time of bare calls", less: true, of: over(0, used, 1, used)},
			{name: "times the time of bare calls", less: true, of: over(0, each, 1, each)},
		},
		note: "The mock model is in the same process on both sides, and its work is in both figures. The bare calls send what the survey sends " +
			"to an agent, keep nothing of the answers, and count as one process with them. The survey is journaled, with prompts and answers of 1%.",
	}
}

// townRun runs the town for two cycles.
func townRun(ctx context.Context, e env, agents int) (*trial, error) {
	t := &trial{dir: e.dir, cycles: 2, text: fmt.Sprintf(townWorld, agents), with: func(s *engine.Settings) { s.Mock = noLatency }}
	job, err := t.start(ctx)
	if err != nil {
		return nil, err
	}
	job.Run.Wait()
	return t, job.Close()
}

// launchSurvey starts a survey among the agents of a run.
func launchSurvey(ctx context.Context, t *trial, watch engine.Tracer) (*app.Job, error) {
	questions, err := questionnaire.Read("questions.yaml", []byte(askedQuestions))
	if err != nil {
		return nil, err
	}
	l, err := surveys.Launch(ctx, t.store, t.store.Dir(), survey.Order{Run: t.run, Cycle: survey.Newest, Survey: questions}, app.Order{Trusted: true})
	if err != nil {
		return nil, err
	}
	l.Settings.Governor, l.Settings.Limit, l.Settings.KeepAwake, l.Settings.Mock = engine.Manual, askedLimit, false, noLatency
	l.Trusted, l.Tracer = true, watch
	return t.app.Start(ctx, l)
}

func throngSurvey(ctx context.Context, e env) (f figures, err error) {
	t, err := townRun(ctx, e, asked)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, t.app.Close()) }()
	began, used := time.Now(), ownTime()
	job, err := launchSurvey(ctx, t, nil)
	if err != nil {
		return nil, err
	}
	result := job.Run.Wait()
	if err := job.Close(); err != nil {
		return nil, err
	}
	if ok := result.Totals.Outcomes[engine.OK]; ok != asked {
		return nil, fmt.Errorf("%d of %d agents answered: %s", ok, asked, result.Reason)
	}
	f = perAgent(began, used)
	f["ms to count the answers"] = milliseconds(func() error {
		r, err := surveys.Results(ctx, t.store, job.Record.ID)
		if err == nil && r.Questions[0].Groups[0].Answered != asked {
			err = fmt.Errorf("%d of %d answers were counted", r.Questions[0].Groups[0].Answered, asked)
		}
		return err
	}, &err)
	f["peak MB"] = ownPeak()
	return f, err
}

func perAgent(began time.Time, used time.Duration) figures {
	took := time.Since(began)
	return figures{"µs/agent": took.Seconds() * 1e6 / asked, "CPU µs/agent": (ownTime() - used).Seconds() * 1e6 / asked, "agents/s": asked / took.Seconds()}
}

// bareSurvey sends the request of an agent of the survey as often, by as many goroutines.
func bareSurvey(ctx context.Context, e env) (f figures, err error) {
	body, err := askedBody(ctx, e)
	if err != nil {
		return nil, err
	}
	model, err := mock.StartModel(mock.ModelConfig{Profile: wire.ProfileNone})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, model.Close()) }()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: askedLimit}}
	defer client.CloseIdleConnections()
	began, used := time.Now(), ownTime()
	err = concurrently(askedLimit, asked, func(int) error {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, model.URL()+"/chat/completions", bytes.NewReader(body))
		if err != nil {
			return err
		}
		r.Header.Set("Authorization", "Bearer "+model.Secret())
		r.Header.Set("Content-Type", "application/json")
		_, err = fetch(client, r)
		return err
	})
	if err != nil {
		return nil, err
	}
	f = perAgent(began, used)
	f["peak MB"] = ownPeak()
	return f, nil
}

// askedBody returns the request that a survey sends to one agent.
func askedBody(ctx context.Context, e env) (body []byte, err error) {
	t, err := townRun(ctx, e, 1)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, t.app.Close()) }()
	sent := make(chan string, 1)
	job, err := launchSurvey(ctx, t, func(x engine.Exchange) {
		select {
		case sent <- x.Sent:
		default: // it has one
		}
	})
	if err != nil {
		return nil, err
	}
	job.Run.Wait()
	if err := job.Close(); err != nil {
		return nil, err
	}
	select {
	case text := <-sent:
		return []byte(text), nil
	default:
		return nil, errors.New("the survey sent no request")
	}
}

// fetch sends a request and returns the body of its answer, which must be a success.
func fetch(client *http.Client, r *http.Request) ([]byte, error) {
	response, err := client.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode >= http.StatusBadRequest {
		err = fmt.Errorf("%s: %s", response.Status, text)
	}
	return text, err
}

// concurrently calls f with 0 to n-1, from so many goroutines, and returns the first error of each.
func concurrently(goroutines, n int, f func(i int) error) error {
	var next atomic.Int64
	errs := make([]error, goroutines)
	var all sync.WaitGroup
	for g := range goroutines {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && errs[g] == nil; i = int(next.Add(1)) - 1 {
				errs[g] = f(i)
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}
