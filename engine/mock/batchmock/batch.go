package batchmock

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"
)

// The limits of OpenAI's batch API.
const (
	mostRequests = 50_000
	mostBytes    = 200_000_000
)

// file is an uploaded file, or one of answers.
type file struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Bytes   int    `json:"bytes"`
	Created int64  `json:"created_at"`
	Name    string `json:"filename"`
	Purpose string `json:"purpose"`
	content []byte
}

// batch is a batch as it is shown, with its requests.
type batch struct {
	ID        string            `json:"id"`
	Object    string            `json:"object"`
	Endpoint  string            `json:"endpoint"`
	Errors    *problems         `json:"errors"`
	Input     string            `json:"input_file_id"`
	Window    string            `json:"completion_window"`
	Status    string            `json:"status"`
	Output    *string           `json:"output_file_id"`
	ErrorFile *string           `json:"error_file_id"`
	Created   int64             `json:"created_at"`
	Expires   int64             `json:"expires_at"`
	Completed int64             `json:"completed_at,omitempty"`
	Counts    counts            `json:"request_counts"`
	Metadata  map[string]string `json:"metadata"`

	began    time.Time
	requests []line
}

type problems struct {
	Object string `json:"object"`
	Data   []any  `json:"data"`
}

type counts struct {
	Total     int `json:"total"`
	Completed int `json:"completed"`
	Failed    int `json:"failed"`
}

// line is a request.
type line struct {
	ID     string          `json:"custom_id"`
	Method string          `json:"method"`
	URL    string          `json:"url"`
	Body   json.RawMessage `json:"body"`
}

// upload answers POST /v1/files.
func (s *Server) upload(r *http.Request) ([]byte, *Problem) {
	r.Body = http.MaxBytesReader(nil, r.Body, mostBytes+1<<20)
	form, err := r.MultipartReader()
	if err != nil {
		return nil, problem(http.StatusBadRequest, "The request is not a multipart form: %v", err)
	}
	f := &file{Object: "file", Created: s.now().Unix()}
	for {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, problem(http.StatusBadRequest, "The form cannot be read: %v", err)
		}
		data, err := io.ReadAll(part)
		if err != nil {
			return nil, problem(http.StatusRequestEntityTooLarge, "The file cannot be read: %v", err)
		}
		switch part.FormName() {
		case "purpose":
			f.Purpose = string(data)
		case "file":
			f.Name, f.content = part.FileName(), data
		}
	}
	if f.Purpose != "batch" || f.content == nil {
		return nil, problem(http.StatusBadRequest, "A file for batches needs `file` and the purpose 'batch'")
	}
	return encode(s.add(f)), nil
}

func (s *Server) add(f *file) *file {
	s.added++
	f.ID, f.Bytes = fmt.Sprintf("file-%08d", s.added), len(f.content)
	s.files[f.ID] = f
	return f
}

// create answers POST /v1/batches.
func (s *Server) create(r *http.Request) ([]byte, *Problem) {
	var asked struct {
		Input    string            `json:"input_file_id"`
		Endpoint string            `json:"endpoint"`
		Window   string            `json:"completion_window"`
		Metadata map[string]string `json:"metadata"`
	}
	if err := json.NewDecoder(io.LimitReader(r.Body, 1<<20)).Decode(&asked); err != nil {
		return nil, problem(http.StatusBadRequest, "We could not parse the JSON body of your request: %v", err)
	}
	input := s.files[asked.Input]
	switch {
	case input == nil:
		return nil, problem(http.StatusBadRequest, "Invalid 'input_file_id': no such File object: %s", asked.Input)
	case asked.Window != "24h":
		return nil, problem(http.StatusBadRequest, "Invalid value: '%s'. Supported values are: '24h'.", asked.Window)
	case asked.Endpoint != "/v1/chat/completions" && asked.Endpoint != "/v1/embeddings":
		return nil, problem(http.StatusBadRequest, "Invalid value: '%s'. Supported values are: '/v1/chat/completions', '/v1/embeddings'.", asked.Endpoint)
	case len(asked.Metadata) > 16:
		return nil, problem(http.StatusBadRequest, "Invalid 'metadata': at most 16 pairs")
	}
	window := s.cfg.Window
	if window == 0 {
		window = 24 * time.Hour
	}
	now := s.now()
	b := &batch{
		ID: fmt.Sprintf("batch_%08d", len(s.batches)+1), Object: "batch", Endpoint: asked.Endpoint, Input: input.ID, Window: asked.Window,
		Status: "validating", Created: now.Unix(), Expires: now.Add(window).Unix(), Metadata: maps.Clone(asked.Metadata), began: now,
	}
	s.batches = append(s.batches, b)
	s.stats.Batches++
	b.read(input.content)
	s.stats.Most = max(s.stats.Most, len(b.requests))
	return encode(b), nil
}

// read reads the requests. With a mistake in them, the batch fails.
func (b *batch) read(content []byte) {
	seen, models := map[string]bool{}, map[string]bool{}
	for n, text := range bytes.Split(bytes.TrimSpace(content), []byte("\n")) {
		var l line
		var body struct {
			Model  string `json:"model"`
			Stream bool   `json:"stream"`
		}
		err := json.Unmarshal(text, &l)
		if err == nil {
			err = json.Unmarshal(l.Body, &body)
		}
		models[body.Model] = true
		switch {
		case err != nil || l.ID == "":
			b.fail("invalid_json_line", n+1, "This line is not parseable as a request.")
		case seen[l.ID]:
			b.fail("duplicate_custom_id", n+1, "The custom_id "+l.ID+" occurs twice.")
		case l.URL != b.Endpoint || l.Method != http.MethodPost:
			b.fail("mismatched_endpoint", n+1, "The request is not a POST to the endpoint of the batch.")
		case len(models) > 1:
			b.fail("mismatched_model", n+1, "All requests of a batch need the same model.")
		case body.Stream:
			b.fail("invalid_request", n+1, "Batches have no streams.")
		}
		seen[l.ID] = true
		b.requests = append(b.requests, l)
	}
	if len(b.requests) > mostRequests {
		b.fail("too_many_tasks", mostRequests, "A batch has at most 50,000 requests.")
	}
	b.Counts.Total = len(b.requests)
}

func (b *batch) fail(code string, line int, message string) {
	if b.Errors == nil {
		b.Errors = &problems{Object: "list"}
	}
	b.Status = "failed"
	b.Errors.Data = append(b.Errors.Data, map[string]any{"code": code, "line": line, "message": message})
}

// cancel ends a batch that has not ended. Its requests stay unanswered.
func (s *Server) cancel(b *batch) {
	if b.Status == "validating" || b.Status == "in_progress" {
		s.end(b, func(string) bool { return false }, unanswered{"batch_cancelled", "This request was not executed because the batch was cancelled."}) //nolint:misspell // the API's spelling
		b.Status = "cancelled"                                                                                                                        //nolint:misspell // the API's spelling
	}
}

// advance brings the state of a batch up to date.
func (s *Server) advance(b *batch) {
	if b.Status != "validating" && b.Status != "in_progress" {
		return
	}
	b.Status = "in_progress"
	if s.now().Sub(b.began) < s.cfg.Delay {
		return
	}
	if s.full < s.cfg.Full {
		s.full++
		b.fail("token_limit_exceeded", 0, "Enqueued token limit reached for the model.")
		return
	}
	status := "completed"
	reached := func(id string) bool {
		if drawn(id, "expired", s.cfg.Expired) {
			status = "expired"
			return false
		}
		return true
	}
	s.end(b, reached, unanswered{"batch_expired", "This request could not be executed before the completion window expired."})
	b.Status = status
}

// unanswered is why requests of a batch have no answer.
type unanswered struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// end answers the requests that the batch reaches, and writes the files.
func (s *Server) end(b *batch, reached func(id string) bool, why unanswered) {
	var output, failed [][]byte
	completed := 0
	for i, l := range b.requests {
		if !reached(l.ID) {
			failed = append(failed, encode(map[string]any{
				"id": fmt.Sprintf("batch_req_%s_%d", b.ID, i), "custom_id": l.ID, "response": nil, "error": why,
			}))
			continue
		}
		answer := Reply{Status: http.StatusInternalServerError, Body: []byte(`{"error":{"message":"The server had an error while it answered","type":"server_error"}}`)}
		if !drawn(l.ID, "failed", s.cfg.Failed) {
			answer = s.reply(b.Endpoint, l.Body)
		}
		s.stats.Requests++
		s.stats.PromptTokens += int64(answer.Prompt)
		s.stats.CompletionTokens += int64(answer.Completion)
		text := encode(map[string]any{
			"id": fmt.Sprintf("batch_req_%s_%d", b.ID, i), "custom_id": l.ID, "error": nil,
			"response": map[string]any{"status_code": answer.Status, "request_id": fmt.Sprintf("req_%s_%d", b.ID, i), "body": json.RawMessage(answer.Body)},
		})
		switch {
		case drawn(l.ID, "missing", s.cfg.Missing):
			continue
		case answer.Status != http.StatusOK:
			failed = append(failed, text)
			continue
		}
		completed++
		output = append(output, text)
		if drawn(l.ID, "doubled", s.cfg.Doubled) {
			output = append(output, text)
		}
	}
	if s.cfg.Shuffled {
		random := rand.New(rand.NewPCG(uint64(len(b.requests)), 1))
		random.Shuffle(len(output), func(i, j int) { output[i], output[j] = output[j], output[i] })
	}
	b.Counts.Completed, b.Counts.Failed = completed, len(failed)
	b.Output, b.ErrorFile = s.written(output, b.ID+"_output.jsonl"), s.written(failed, b.ID+"_error.jsonl")
	b.Completed = s.now().Unix()
}

// written adds a file of lines; nil if it would be empty.
func (s *Server) written(lines [][]byte, name string) *string {
	if len(lines) == 0 {
		return nil
	}
	content := append(bytes.Join(lines, []byte("\n")), '\n')
	f := s.add(&file{Object: "file", Created: s.now().Unix(), Name: name, Purpose: "batch_output", content: slices.Clip(content)})
	return &f.ID
}
