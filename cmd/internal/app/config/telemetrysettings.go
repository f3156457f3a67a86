package config

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"

	"github.com/throng-sim/throng/cmd/internal/app/about"
	"github.com/throng-sim/throng/cmd/internal/app/secrets"
	"github.com/throng-sim/throng/cmd/internal/telemetry"
	"github.com/throng-sim/throng/engine"
)

// Names of the settings of telemetry, and their heading.
const (
	ListenKey = telemetry.Field
	OTLPKey   = "otlp"
	TraceKey  = "trace-share"
	// ContentKey is the setting that adds prompts and answers to traces.
	ContentKey = "trace-content"

	telemetryGroup = "Telemetry"
)

// ListenEnv is the environment variable with the address of the endpoint.
const ListenEnv = "THRONG_METRICS_LISTEN"

// Environment variables of OpenTelemetry.
const (
	otlpEnv     = "OTEL_EXPORTER_OTLP_ENDPOINT"
	headersEnv  = "OTEL_EXPORTER_OTLP_HEADERS"
	protocolEnv = "OTEL_EXPORTER_OTLP_PROTOCOL"
	samplerEnv  = "OTEL_TRACES_SAMPLER"
	shareEnv    = "OTEL_TRACES_SAMPLER_ARG"
	contentEnv  = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
)

// defaultShare is the default fraction of sessions whose traces are sent.
const defaultShare = 0.01

// off is the value of an address that disables it.
const off = "off"

// Telemetry says where metrics and traces go. The zero value sends nothing.
type Telemetry struct {
	Listen  string  // address of the endpoint; "" disables it
	OTLP    string  // address of the collector; "" sends nothing
	FromEnv bool    // the environment names the collector
	Share   float64 // fraction of sessions whose traces are sent
	Content bool    // traces have the prompts and answers of models
}

// telemetryField reads and writes one field of a Telemetry.
type telemetryField struct {
	set  func(t *Telemetry, text string) error
	show func(t *Telemetry) string
}

// telemetrySettings are the settings of metrics and traces.
var telemetrySettings = []Setting{
	{
		Scope: TelemetryScope, Name: ListenKey, Title: "Prometheus address", Group: telemetryGroup, Env: []string{ListenEnv}, Unit: "ADDR", Default: off,
		Help: "address of the Prometheus endpoint, for example 127.0.0.1:9464; port 0 chooses a free port; off disables it",
		telemetry: &telemetryField{
			set:  func(t *Telemetry, text string) error { return address(&t.Listen, text, telemetry.CheckAddress) },
			show: func(t *Telemetry) string { return cmp.Or(t.Listen, off) },
		},
	},
	{
		Scope: TelemetryScope, Name: OTLPKey, Title: "OTLP collector", Group: telemetryGroup, Env: []string{otlpEnv}, Unit: "URL", Default: off,
		Help: "OpenTelemetry collector for metrics and traces, by OTLP over HTTP, for example http://127.0.0.1:4318; off disables it",
		telemetry: &telemetryField{
			set:  func(t *Telemetry, text string) error { return address(&t.OTLP, text, telemetry.CheckURL) },
			show: func(t *Telemetry) string { return cmp.Or(t.OTLP, off) },
		},
	},
	{
		Scope: TelemetryScope, Name: TraceKey, Title: "Sessions traced", Group: telemetryGroup, Env: []string{shareEnv}, Unit: "S", Default: decimal(defaultShare),
		Help: "fraction of sessions whose traces are sent, in addition to failed sessions; 0 sends none",
		telemetry: &telemetryField{
			set: func(t *Telemetry, text string) (err error) {
				share, err := strconv.ParseFloat(text, 64)
				if err != nil || share < 0 || share > 1 {
					return &engine.FieldError{Field: TraceKey, Problem: fmt.Sprintf("%q is not a fraction", text), Hint: "use a number from 0 to 1"}
				}
				t.Share = share
				return nil
			},
			show: func(t *Telemetry) string { return decimal(t.Share) },
		},
	},
	{
		Scope: TelemetryScope, Name: ContentKey, Title: "Prompts in traces", Group: telemetryGroup, Env: []string{contentEnv}, Unit: "on|off", Default: off,
		Help: "add the prompts and answers of models to traces: on or off",
		telemetry: &telemetryField{
			set: func(t *Telemetry, text string) error {
				switch strings.ToLower(text) {
				case "on", "true", "span_only", "span_and_event":
					t.Content = true
				case off, "false", "no_content", "event_only":
					t.Content = false
				default:
					return &engine.FieldError{Field: ContentKey, Problem: fmt.Sprintf("%q is not on or off", text), Hint: "use on or off"}
				}
				return nil
			},
			show: func(t *Telemetry) string { return map[bool]string{true: "on", false: off}[t.Content] },
		},
	},
}

// address sets an address; off removes it.
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

// FindTelemetry resolves telemetry from flags by name, the environment and the saved settings. It also returns the sources
// of the settings that are not at their defaults. Errors are joined *engine.FieldError values.
func FindTelemetry(flags map[string]string, env func(string) string, data string) (Telemetry, map[string]string, error) {
	t, origins := Telemetry{Share: defaultShare}, map[string]string{}
	saved, err := LoadSaved(data)
	if err != nil {
		return t, nil, err
	}
	var mistakes []error
	for i := range telemetrySettings {
		s := &telemetrySettings[i]
		text, from := s.findTelemetry(flags, env, saved)
		if from == "" {
			continue
		}
		origins[s.Name] = from
		if err := s.telemetry.set(&t, text); err != nil {
			mistakes = append(mistakes, placed(err, from))
		}
		t.FromEnv = t.FromEnv || s.Name == OTLPKey && from == otlpEnv
	}
	if origins[OTLPKey] == "" || t.FromEnv {
		mistakes = append(mistakes, t.applyOTelEnv(env, origins))
	}
	return t, origins, errors.Join(mistakes...)
}

// placed names the source of a mistaken value in the error.
func placed(err error, from string) error {
	if field, ok := errors.AsType[*engine.FieldError](err); ok && from != fromSaved {
		return &engine.FieldError{Field: from, Problem: field.Problem, Hint: field.Hint}
	}
	return err
}

// findTelemetry returns the text of a setting and its source; "" if it has none.
func (s *Setting) findTelemetry(flags map[string]string, env func(string) string, saved map[string]string) (text, from string) {
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
			return cmp.Or(env(s.Env[0]), "1"), samplerEnv
		}
	}
	if text := env(s.Env[0]); text != "" {
		return text, s.Env[0]
	}
	if text := saved[s.Name]; text != "" {
		return text, fromSaved
	}
	return "", ""
}

// applyOTelEnv applies the other OpenTelemetry variables.
func (t *Telemetry) applyOTelEnv(env func(string) string, origins map[string]string) error {
	for _, name := range telemetry.Endpoints[1:] { // of metrics or traces only
		if text := env(name); text != "" {
			t.OTLP, t.FromEnv, origins[OTLPKey] = cmp.Or(t.OTLP, text), true, cmp.Or(origins[OTLPKey], name)
		}
	}
	if env("OTEL_SDK_DISABLED") == "true" {
		t.OTLP, t.FromEnv = "", false
	}
	if protocol := env(protocolEnv); t.FromEnv && protocol != "" && protocol != "http/protobuf" {
		return &engine.FieldError{
			Field: protocolEnv, Problem: protocol + " is not supported", Hint: "use http/protobuf, usually on port 4318 of a collector, or --otlp with such an address",
		}
	}
	return nil
}

// Sending returns the configuration for sending; nil if no collector is configured. Credentials for the collector come from
// the environment or the keychain.
func (t *Telemetry) Sending() (*telemetry.Sending, error) {
	if t.OTLP == "" {
		return nil, nil //nolint:nilnil // no collector
	}
	s := &telemetry.Sending{Share: t.Share, Content: t.Content, Version: about.Version()}
	if !t.FromEnv {
		s.URL = t.OTLP
	}
	text, _, err := secrets.Finder{}.Find(OTLPKey, headersEnv)
	if err != nil {
		return s, nil //nolint:nilerr // most collectors need no credentials
	}
	s.Headers, err = headers(text)
	return s, err
}

// headers parses a list of headers as OpenTelemetry specifies it: name=value,name=value, in percent encoding.
func headers(text string) (map[string]string, error) {
	all := map[string]string{}
	for pair := range strings.SplitSeq(text, ",") {
		name, value, ok := strings.Cut(pair, "=")
		name = strings.TrimSpace(name)
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if !ok || name == "" || err != nil { // the error omits it: it may be a secret
			return nil, &engine.FieldError{Field: headersEnv, Problem: "is not a list of headers", Hint: "use name=value,name=value, with values in percent encoding"}
		}
		secrets.Use(value)
		all[name] = value
	}
	return all, nil
}

// ListenOn parses the address of the endpoint; "" disables it.
func ListenOn(value string) (t Telemetry, err error) {
	return t, address(&t.Listen, cmp.Or(value, off), telemetry.CheckAddress)
}

// Open opens the endpoint; nil if it is disabled.
func (t *Telemetry) Open(ctx context.Context) (*telemetry.Endpoint, error) {
	if t.Listen == "" {
		return nil, nil //nolint:nilnil // disabled
	}
	return telemetry.Listen(ctx, t.Listen, about.Version())
}

// saveTelemetry saves a setting of telemetry; "" deletes it.
func (s *Setting) saveTelemetry(data, value string) error {
	saved, err := LoadSaved(data)
	if err != nil {
		return err
	}
	if delete(saved, s.Name); value != "" {
		if err := s.telemetry.set(&Telemetry{}, value); err != nil {
			return err
		}
		saved[s.Name] = value
	}
	return store(data, saved)
}

// TelemetryHere is [FindTelemetry] without flags, in the environment of the process.
func TelemetryHere(data string) (Telemetry, map[string]string, error) {
	return FindTelemetry(nil, os.Getenv, data)
}
