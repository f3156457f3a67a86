package batchmock

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"
)

// provider is a server with a clock of its own. It answers each request with the body of the request.
type provider struct {
	*Server
	t     *testing.T
	now   time.Time
	asked []string // bodies that were answered, in order
}

func newProvider(t *testing.T, cfg Config) *provider {
	t.Helper()
	p := &provider{t: t, now: time.Date(2026, 1, 2, 8, 0, 0, 0, time.UTC)}
	p.Server = New(cfg, func() time.Time { return p.now }, func(endpoint string, body []byte) Reply {
		p.asked = append(p.asked, string(body))
		if strings.Contains(string(body), "refuse") {
			return Reply{Status: http.StatusBadRequest, Body: []byte(`{"error":{"message":"no"}}`)}
		}
		return Reply{Status: http.StatusOK, Body: fmt.Appendf(nil, `{"of":%q,"said":%s}`, endpoint, body), Prompt: 10, Completion: 2}
	})
	return p
}

// do carries out a request and decodes the answer, or returns what is wrong.
func (p *provider) do(method, path string, body []byte, to any) *Problem {
	p.t.Helper()
	r := httptest.NewRequestWithContext(p.t.Context(), method, "/v1/"+path, bytes.NewReader(body))
	return p.answer(r, to)
}

func (p *provider) answer(r *http.Request, to any) *Problem {
	p.t.Helper()
	got, no := p.Do(r, strings.TrimPrefix(r.URL.Path, "/v1/"))
	if no == nil && to != nil {
		if err := json.Unmarshal(got, to); err != nil {
			p.t.Fatalf("%s: %s: %v", r.URL, got, err)
		}
	}
	return no
}

// upload uploads a file and returns its ID.
func (p *provider) upload(content string) string {
	p.t.Helper()
	var f file
	if no := p.answer(uploading(p.t, "batch", &content), &f); no != nil {
		p.t.Fatal(no)
	}
	if f.Bytes != len(content) || f.Purpose != "batch" || f.Name != "in.jsonl" || f.Created != p.now.Unix() {
		p.t.Errorf("the file is %+v", f)
	}
	return f.ID
}

// uploading returns a request with a form; a nil content leaves the file out.
func uploading(t *testing.T, purpose string, content *string) *http.Request {
	t.Helper()
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	_ = w.WriteField("purpose", purpose) // a buffer has room
	if content != nil {
		part, _ := w.CreateFormFile("file", "in.jsonl")
		_, _ = part.Write([]byte(*content))
	}
	_ = w.Close()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/files", &form)
	r.Header.Set("Content-Type", w.FormDataContentType())
	return r
}

// requests returns lines with the IDs r0, r1 and so on.
func requests(bodies ...string) string {
	var b strings.Builder
	for i, body := range bodies {
		fmt.Fprintf(&b, `{"custom_id":"r%d","method":"POST","url":"/v1/chat/completions","body":{"model":"m","say":%q}}`+"\n", i, body)
	}
	return b.String()
}

// many returns n requests.
func many(n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprint("hello ", i)
	}
	return requests(all...)
}

// create creates a batch of a file.
func (p *provider) create(input string) batch {
	p.t.Helper()
	var b batch
	body := fmt.Appendf(nil, `{"input_file_id":%q,"endpoint":"/v1/chat/completions","completion_window":"24h","metadata":{"run":"7"}}`, input)
	if no := p.do(http.MethodPost, "batches", body, &b); no != nil {
		p.t.Fatal(no)
	}
	return b
}

// poll returns a batch as it is now.
func (p *provider) poll(id string) batch {
	p.t.Helper()
	var b batch
	if no := p.do(http.MethodGet, "batches/"+id, nil, &b); no != nil {
		p.t.Fatal(no)
	}
	return b
}

// result is a line of a file of answers.
type result struct {
	ID       string `json:"custom_id"`
	Response *struct {
		Status int             `json:"status_code"`
		Body   json.RawMessage `json:"body"`
	} `json:"response"`
	Error *struct{ Code, Message string } `json:"error"`
}

// lines returns the content of a file; none for nil.
func (p *provider) lines(id *string) (all []result) {
	p.t.Helper()
	if id == nil {
		return nil
	}
	content, no := p.Do(httptest.NewRequestWithContext(p.t.Context(), http.MethodGet, "/v1/files/"+*id+"/content", nil), "files/"+*id+"/content")
	if no != nil {
		p.t.Fatal(no)
	}
	for text := range bytes.Lines(content) {
		var r result
		if err := json.Unmarshal(text, &r); err != nil {
			p.t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}

func ids(all []result) (names []string) {
	for _, r := range all {
		names = append(names, r.ID)
	}
	return names
}

// TestABatch follows a batch from its file to its answers, in order, after its delay.
func TestABatch(t *testing.T) {
	p := newProvider(t, Config{Delay: time.Hour})
	b := p.create(p.upload(many(3)))
	if b.Status != "validating" || b.Counts.Total != 3 || b.Output != nil || b.Metadata["run"] != "7" || b.Expires-b.Created != 24*60*60 {
		t.Errorf("created: %+v", b)
	}
	p.now = p.now.Add(time.Hour - time.Second)
	if b = p.poll(b.ID); b.Status != "in_progress" || b.Output != nil || len(p.asked) != 0 {
		t.Errorf("a second too early: %+v", b)
	}
	p.now = p.now.Add(time.Second)
	b = p.poll(b.ID)
	if b.Status != "completed" || b.Counts != (counts{3, 3, 0}) || b.ErrorFile != nil || b.Completed != p.now.Unix() {
		t.Errorf("at its end: %+v", b)
	}
	all := p.lines(b.Output)
	if got := ids(all); !slices.Equal(got, []string{"r0", "r1", "r2"}) || all[1].Response.Status != 200 || string(all[1].Response.Body) != `{"of":"/v1/chat/completions","said":{"model":"m","say":"hello 1"}}` {
		t.Errorf("answers %+v", all)
	}
	p.poll(b.ID)
	if s := p.Stats(); s != (Stats{Batches: 1, Requests: 3, PromptTokens: 30, CompletionTokens: 6, Most: 3}) || len(p.asked) != 3 {
		t.Errorf("a second poll must not answer again: %+v, %q", s, p.asked)
	}
}

// TestOrder checks that shuffled answers are complete, in another order, and the same each time.
func TestOrder(t *testing.T) {
	var first []string
	for range 2 {
		p := newProvider(t, Config{Shuffled: true})
		got := ids(p.lines(p.poll(p.create(p.upload(many(20))).ID).Output))
		if first == nil {
			first = got
		}
		sorted := slices.Sorted(slices.Values(got))
		if len(slices.Compact(sorted)) != 20 || got[0] == "r0" && got[1] == "r1" && got[2] == "r2" || !slices.Equal(got, first) {
			t.Errorf("answers in the order %q, before %q", got, first)
		}
	}
}

// TestPartialErrors checks requests that fail, expire, are left out and are answered twice: each is in the right file.
func TestPartialErrors(t *testing.T) {
	p := newProvider(t, Config{Expired: 0.2, Failed: 0.2, Missing: 0.2, Doubled: 0.3})
	b := p.poll(p.create(p.upload(many(200) + strings.ReplaceAll(requests("refuse"), `"r0"`, `"refused"`))).ID)
	if b.Status != "expired" {
		t.Errorf("a batch with expired requests is %s", b.Status)
	}
	good, bad := p.lines(b.Output), p.lines(b.ErrorFile)
	seen := map[string]int{}
	for _, r := range good {
		seen[r.ID]++
		if r.Response == nil || r.Response.Status != 200 || r.Error != nil {
			t.Errorf("among the answers: %+v", r)
		}
	}
	twice := 0
	for _, n := range seen {
		if n == 2 {
			twice++
		} else if n > 2 {
			t.Errorf("%d answers to one request", n)
		}
	}
	kinds := map[string]int{}
	for _, r := range bad {
		if seen[r.ID] > 0 {
			t.Errorf("%s is in both files", r.ID)
		}
		switch {
		case r.Error != nil && r.Response == nil:
			kinds[r.Error.Code]++
		case r.Response != nil && r.Error == nil:
			kinds[fmt.Sprint(r.Response.Status)]++
		default:
			t.Errorf("among the errors: %+v", r)
		}
	}
	missing := 201 - len(seen) - len(bad)
	for what, n := range map[string]int{"expired": kinds["batch_expired"], "failed": kinds["500"], "missing": missing, "doubled": twice} {
		if n < 15 || n > 60 {
			t.Errorf("%d requests are %s", n, what)
		}
	}
	if b.Counts.Completed != len(seen) || b.Counts.Failed != len(bad) || kinds["batch_expired"]+kinds["500"]+kinds["400"] != len(bad) {
		t.Errorf("counts %+v of %d answers and %v errors", b.Counts, len(seen), kinds)
	}
	billed := int64(len(p.asked) - 1) // all but the one that was refused
	if s := p.Stats(); s.PromptTokens != 10*billed || s.CompletionTokens != 2*billed {
		t.Errorf("billed %+v for %d answers", s, billed)
	}
}

// TestCanceled checks that a canceled batch answers nothing, and that one that has ended stays as it is.
func TestCanceled(t *testing.T) {
	p := newProvider(t, Config{Delay: time.Hour})
	b := p.create(p.upload(many(2)))
	cancel := func(id string) (b batch) {
		if no := p.do(http.MethodPost, "batches/"+id+"/cancel", nil, &b); no != nil {
			t.Fatal(no)
		}
		return b
	}
	b = cancel(b.ID)
	bad := p.lines(b.ErrorFile)
	if b.Status != "cancelled" || b.Output != nil || len(bad) != 2 || bad[0].Error.Code != "batch_cancelled" || len(p.asked) != 0 {
		t.Errorf("canceled: %+v with %+v", b, bad)
	}
	p.now = p.now.Add(2 * time.Hour)
	if again := p.poll(b.ID); again.Status != b.Status || len(p.asked) != 0 {
		t.Errorf("later: %+v", again)
	}
	done := p.create(p.upload(many(2)))
	p.now = p.now.Add(2 * time.Hour)
	if got := cancel(done.ID); got.Status != "completed" || got.Counts.Completed != 2 {
		t.Errorf("one that has ended: %+v", got)
	}
}

// TestNoRoom fails the first batches, as a provider does whose queue is full, and bills nothing.
func TestNoRoom(t *testing.T) {
	p := newProvider(t, Config{Full: 2})
	input := p.upload(many(1))
	for i, want := range []string{"failed", "failed", "completed"} {
		b := p.poll(p.create(input).ID)
		if b.Status != want || (b.Errors != nil) != (want == "failed") {
			t.Errorf("batch %d: %+v", i, b)
		}
	}
	if s := p.Stats(); s.Requests != 1 || s.Batches != 3 {
		t.Errorf("%+v", s)
	}
	// A change applies to batches that have not ended.
	late := p.create(input)
	p.Use(Config{Failed: 1})
	if b := p.poll(late.ID); b.Counts.Failed != 1 {
		t.Errorf("after a change: %+v", b)
	}
}

// TestWrongLines checks that a mistake in a file fails its batch with the line, and answers nothing.
func TestWrongLines(t *testing.T) {
	good := strings.TrimSpace(requests("hello"))
	for name, c := range map[string]struct {
		content, code string
		line          int
	}{
		"no JSON":              {good + "\n{", "invalid_json_line", 2},
		"empty":                {"", "invalid_json_line", 1},
		"no ID":                {`{"method":"POST","url":"/v1/chat/completions","body":{}}`, "invalid_json_line", 1},
		"no body":              {`{"custom_id":"a","method":"POST","url":"/v1/chat/completions"}`, "invalid_json_line", 1},
		"an ID twice":          {good + "\n" + good, "duplicate_custom_id", 2},
		"another endpoint":     {strings.Replace(good, "chat/completions", "embeddings", 1), "mismatched_endpoint", 1},
		"another method":       {strings.Replace(good, "POST", "GET", 1), "mismatched_endpoint", 1},
		"two models":           {good + "\n" + strings.NewReplacer(`"m"`, `"n"`, "r0", "r1").Replace(good), "mismatched_model", 2},
		"a stream in a batch":  {strings.Replace(good, `"model"`, `"stream":true,"model"`, 1), "invalid_request", 1},
		"too many in one file": {strings.TrimSuffix(many(mostRequests+1), "\n"), "too_many_tasks", mostRequests},
	} {
		p := newProvider(t, Config{})
		b := p.poll(p.create(p.upload(c.content)).ID)
		if b.Status != "failed" || b.Errors == nil || len(b.Errors.Data) == 0 || len(p.asked) != 0 || b.Output != nil {
			t.Errorf("%s: %+v", name, b)
			continue
		}
		last := b.Errors.Data[len(b.Errors.Data)-1].(map[string]any)
		if last["code"] != c.code || last["line"] != float64(c.line) {
			t.Errorf("%s: %v, want %s in line %d", name, last, c.code, c.line)
		}
	}
}

// TestWrongRequests checks the status and the text of errors.
func TestWrongRequests(t *testing.T) {
	p := newProvider(t, Config{})
	input := p.upload(many(1))
	asking := func(change ...string) []byte {
		text := fmt.Sprintf(`{"input_file_id":%q,"endpoint":"/v1/chat/completions","completion_window":"24h"}`, input)
		return []byte(strings.NewReplacer(change...).Replace(text))
	}
	for _, c := range []struct {
		method, path string
		body         []byte
		status       int
		says         string
	}{
		{http.MethodPost, "batches", []byte("{"), 400, "could not parse"},
		{http.MethodPost, "batches", asking(input, "file-9"), 400, "no such File object: file-9"},
		{http.MethodPost, "batches", asking("24h", "1h"), 400, "Supported values are: '24h'"},
		{http.MethodPost, "batches", asking("chat/completions", "messages"), 400, "'/v1/embeddings'"},
		{http.MethodPost, "batches", fmt.Appendf(nil, `{"metadata":{%s"z":""},"input_file_id":%q,"endpoint":"/v1/embeddings","completion_window":"24h"}`, pairs(16), input), 400, "at most 16"},
		{http.MethodPost, "files", []byte("x"), 400, "not a multipart form"},
		{http.MethodGet, "files/file-9", nil, 404, "file-9"},
		{http.MethodGet, "files/file-9/content", nil, 404, "file-9"},
		{http.MethodGet, "batches/batch_9", nil, 404, "batch_9"},
		{http.MethodPost, "batches/batch_9/cancel", nil, 404, "batch_9"},
		{http.MethodGet, "batches?limit=0", nil, 400, "1 to 100"},
		{http.MethodGet, "batches?after=batch_9", nil, 400, "batch_9"},
		{http.MethodPut, "batches/batch_9", nil, 404, "Unknown request URL"},
		{http.MethodGet, "batches/batch_9/else", nil, 404, "Unknown request URL"},
	} {
		if no := p.do(c.method, c.path, c.body, nil); no == nil || no.Status != c.status || !strings.Contains(no.Message, c.says) {
			t.Errorf("%s %s: %+v, want %d with %q", c.method, c.path, no, c.status, c.says)
		}
	}
	content := "x"
	for _, r := range []*http.Request{uploading(t, "fine-tune", &content), uploading(t, "batch", nil)} {
		if no := p.answer(r, nil); no == nil || no.Status != 400 {
			t.Errorf("a form without what is needed: %+v", no)
		}
	}
}

// pairs returns n pairs of metadata.
func pairs(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"k%d":"",`, i)
	}
	return b.String()
}

// TestFilesAndLists lists batches in pages, newest first, and deletes a file.
func TestFilesAndLists(t *testing.T) {
	p := newProvider(t, Config{})
	input := p.upload(many(1))
	for range 5 {
		p.create(input)
	}
	var got []string
	for after := ""; ; {
		var page struct {
			Data []batch `json:"data"`
			Last string  `json:"last_id"`
			More bool    `json:"has_more"`
		}
		query := "batches?limit=2"
		if after != "" {
			query += "&after=" + after
		}
		if no := p.do(http.MethodGet, query, nil, &page); no != nil {
			t.Fatal(no)
		}
		for _, b := range page.Data {
			got = append(got, b.ID)
			if b.Status != "completed" {
				t.Errorf("a list must show the state: %+v", b)
			}
		}
		if after = page.Last; !page.More {
			break
		}
	}
	if want := []string{"batch_00000005", "batch_00000004", "batch_00000003", "batch_00000002", "batch_00000001"}; !slices.Equal(got, want) {
		t.Errorf("listed %q", got)
	}
	var gone struct{ Deleted bool }
	if no := p.do(http.MethodDelete, "files/"+input, nil, &gone); no != nil || !gone.Deleted {
		t.Errorf("%+v %+v", no, gone)
	}
	if no := p.do(http.MethodGet, "files/"+input, nil, nil); no == nil || no.Status != 404 {
		t.Errorf("after its deletion: %+v", no)
	}
}

// TestConfig checks what is refused.
func TestConfig(t *testing.T) {
	for _, c := range []Config{{Expired: -0.1}, {Failed: 1.1}, {Missing: 2}, {Doubled: -1}, {Delay: -1}, {Window: -1}} {
		if c.Validate() == nil {
			t.Errorf("%+v is accepted", c)
		}
	}
	if err := (Config{Expired: 1, Doubled: 0.5, Delay: time.Hour}).Validate(); err != nil {
		t.Error(err)
	}
	for path, want := range map[string]bool{"files": true, "batches/x/cancel": true, "filesystem": false, "chat/completions": false} {
		if Serves(path) != want {
			t.Errorf("%s: %v", path, !want)
		}
	}
}
