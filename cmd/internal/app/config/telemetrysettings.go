package config

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/throng-sim/throng/cmd/internal/app/about"
	"github.com/throng-sim/throng/cmd/internal/app/secrets"
	"github.com/throng-sim/throng/cmd/internal/telemetry"
	"github.com/throng-sim/throng/engine"
)

// Names of the settings of telemetry.
const (
	ListenKey = telemetry.Field
	OTLPKey   = "otlp"
	TraceKey  = "trace-share"
)

// ListenEnv names the endpoint's address in the environment.
const ListenEnv = "THRONG_METRICS_LISTEN"

// Environment of OpenTelemetry.
const (
	otlpEnv     = "OTEL_EXPORTER_OTLP_ENDPOINT"
	headersEnv  = "OTEL_EXPORTER_OTLP_HEADERS"
	protocolEnv = "OTEL_EXPORTER_OTLP_PROTOCOL"
	samplerEnv  = "OTEL_TRACES_SAMPLER"
	shareEnv    = "OTEL_TRACES_SAMPLER_ARG"
)

// defaultShare is that of the sessions whose traces are sent.
const defaultShare = 0.01

// off as the value of an address is that there is none.
const off = "off"

// Telemetry is where metrics and traces go. The zero value is nowhere.
type Telemetry struct {
	Listen  string  // address of the endpoint; "" opens none
	OTLP    string  // address of the collector; "" sends nothing
	FromEnv bool    // the environment names the collector
	Share   float64 // of the sessions whose traces are sent
}

// TelemetrySetting is one of telemetry's: what a person may say of it by flag, in the environment or in the saved settings.
type TelemetrySetting struct {
	Name, Title, Env, Hold, Help string
	set                          func(t *Telemetry, text string) error
	show                         func(t *Telemetry) string
}

// TelemetrySettings is the one table of what can be said of where metrics and traces go.
var TelemetrySettings = []TelemetrySetting{
	{
		Name: ListenKey, Title: "Prometheus address", Env: ListenEnv, Hold: "ADDR", Help: "answer Prometheus there, such as 127.0.0.1:9464; port 0 is any that is free; off answers nobody",
		set: func(t *Telemetry, text string) error { return address(&t.Listen, text, telemetry.CheckAddress) }, show: func(t *Telemetry) string { return cmp.Or(t.Listen, off) },
	},
	{
		Name: OTLPKey, Title: "OTLP collector", Env: otlpEnv, Hold: "URL", Help: "send metrics and traces to this collector of OpenTelemetry, by OTLP over HTTP, such as http://127.0.0.1:4318; off sends nothing",
		set: func(t *Telemetry, text string) error { return address(&t.OTLP, text, telemetry.CheckURL) }, show: func(t *Telemetry) string { return cmp.Or(t.OTLP, off) },
	},
	{
		Name: TraceKey, Title: "Sessions traced", Env: shareEnv, Hold: "S", Help: "share of the sessions whose traces are sent, beside those that failed; 0 sends none",
		set: func(t *Telemetry, text string) (err error) {
			share, err := strconv.ParseFloat(text, 64)
			if err != nil || share < 0 || share > 1 {
				return &engine.FieldError{Field: TraceKey, Problem: fmt.Sprintf("%q is no share", text), Hint: "from 0 to 1"}
			}
			t.Share = share
			return nil
		},
		show: func(t *Telemetry) string { return decimal(t.Share) },
	},
}

// address sets one, which off takes back.
func address(of *string, text string, check func(string) error) error {
	if text == off {
		*of = ""
		return nil
	}
	if err := check(text); err != nil {
		return err
	}
	*of = text
	return nil
}

// FindTelemetry returns where metrics and traces go, out of flags by their names, the environment and what is saved, and
// where each of [TelemetrySettings] comes from that anybody said. Its errors are *engine.FieldError, joined.
func FindTelemetry(flags map[string]string, env func(string) string, data string) (Telemetry, map[string]string, error) {
	t, origins := Telemetry{Share: defaultShare}, map[string]string{}
	saved, err := LoadSaved(data)
	if err != nil {
		return t, nil, err
	}
	var mistakes []error
	for i := range TelemetrySettings {
		s := &TelemetrySettings[i]
		text, from := s.find(flags, env, saved)
		if from == "" {
			continue
		}
		origins[s.Name] = from
		if err := s.set(&t, text); err != nil {
			mistakes = append(mistakes, placed(err, from))
		}
		t.FromEnv = t.FromEnv || s.Name == OTLPKey && from == otlpEnv
	}
	if origins[OTLPKey] == "" || t.FromEnv {
		mistakes = append(mistakes, t.surroundings(env, origins))
	}
	return t, origins, errors.Join(mistakes...)
}

// placed names in a mistake where a person said it.
func placed(err error, from string) error {
	if field, ok := errors.AsType[*engine.FieldError](err); ok && from != fromSaved {
		return &engine.FieldError{Field: from, Problem: field.Problem, Hint: field.Hint}
	}
	return err
}

// find returns what is said of a setting and where; "" is nothing.
func (s *TelemetrySetting) find(flags map[string]string, env func(string) string, saved map[string]string) (text, from string) {
	if text := flags[s.Name]; text != "" {
		return text, "--" + s.Name
	}
	if s.Name == TraceKey {
		switch strings.TrimPrefix(env(samplerEnv), "parentbased_") {
		case "always_on":
			return "1", samplerEnv
		case "always_off":
			return "0", samplerEnv
		case "traceidratio":
			return cmp.Or(env(s.Env), "1"), samplerEnv
		}
	}
	if text := env(s.Env); text != "" {
		return text, s.Env
	}
	if text := saved[s.Name]; text != "" {
		return text, fromSaved
	}
	return "", ""
}

// surroundings reads what else the environment may say of a collector.
func (t *Telemetry) surroundings(env func(string) string, origins map[string]string) error {
	for _, name := range telemetry.Endpoints[1:] { // of one kind of what is sent only
		if text := env(name); text != "" {
			t.OTLP, t.FromEnv, origins[OTLPKey] = cmp.Or(t.OTLP, text), true, cmp.Or(origins[OTLPKey], name)
		}
	}
	if env("OTEL_SDK_DISABLED") == "true" {
		t.OTLP, t.FromEnv = "", false
	}
	if protocol := env(protocolEnv); t.FromEnv && protocol != "" && protocol != "http/protobuf" {
		return &engine.FieldError{
			Field: protocolEnv, Problem: protocol + " is not spoken here", Hint: "http/protobuf, whose port at a collector is 4318 mostly, or --otlp with such an address",
		}
	}
	return nil
}

// Sending is what is to be sent where; nil is nothing. What signs in to the collector comes from the environment or the
// keychain.
func (t *Telemetry) Sending() (*telemetry.Sending, error) {
	if t.OTLP == "" {
		return nil, nil //nolint:nilnil // there is nothing to be sent
	}
	s := &telemetry.Sending{Share: t.Share, Version: about.Version()}
	if !t.FromEnv {
		s.URL = t.OTLP
	}
	text, _, err := secrets.Finder{}.Find(OTLPKey, headersEnv)
	if err != nil {
		return s, nil //nolint:nilerr // most collectors want none
	}
	s.Headers, err = headers(text)
	return s, err
}

// headers reads what the specification of OpenTelemetry calls a list of headers: name=value,name=value, in percent encoding.
func headers(text string) (map[string]string, error) {
	all := map[string]string{}
	for pair := range strings.SplitSeq(text, ",") {
		name, value, ok := strings.Cut(pair, "=")
		name = strings.TrimSpace(name)
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if !ok || name == "" || err != nil { // it may be a secret
			return nil, &engine.FieldError{Field: headersEnv, Problem: "is no list of headers", Hint: "name=value,name=value, values in percent encoding"}
		}
		secrets.Use(value)
		all[name] = value
	}
	return all, nil
}

// ListenOn is what a value of the endpoint's address stands for; "" is none.
func ListenOn(value string) (t Telemetry, err error) {
	return t, address(&t.Listen, cmp.Or(value, off), telemetry.CheckAddress)
}

// Open opens the endpoint, if there is to be one; nil is that there is not.
func (t *Telemetry) Open(ctx context.Context) (*telemetry.Endpoint, error) {
	if t.Listen == "" {
		return nil, nil //nolint:nilnil // nobody is answered
	}
	return telemetry.Listen(ctx, t.Listen, about.Version())
}

// Show returns what is in force of a setting, and from where.
func (s *TelemetrySetting) Show(t *Telemetry, origins map[string]string) Origin {
	return Origin{s.show(t), cmp.Or(origins[s.Name], "default")}
}

// SaveTelemetrySetting keeps one of the settings by its name; "" forgets it. known is false for a name that is none.
func SaveTelemetrySetting(data, name, value string) (known bool, err error) {
	i := slices.IndexFunc(TelemetrySettings, func(s TelemetrySetting) bool { return s.Name == name })
	if i < 0 {
		return false, nil
	}
	saved, err := LoadSaved(data)
	if err != nil {
		return true, err
	}
	if delete(saved, name); value != "" {
		if err := TelemetrySettings[i].set(&Telemetry{}, value); err != nil {
			return true, err
		}
		saved[name] = value
	}
	return true, store(data, saved)
}

// TelemetryHere is FindTelemetry without flags.
func TelemetryHere(data string) (Telemetry, map[string]string, error) {
	return FindTelemetry(nil, os.Getenv, data)
}

// Standard returns the default.
func (s *TelemetrySetting) Standard() string { return s.show(&Telemetry{Share: defaultShare}) }
