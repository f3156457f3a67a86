package exchange

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"
)

// HARWriter writes a HAR 1.2 as exchanges arrive. What it wrote is always a HAR that ReadHAR can read, even before Close: a
// crash loses nothing but the end of the last entry.
type HARWriter struct {
	w     io.Writer
	count int
}

// NewHARWriter writes the beginning of a HAR. The program is the one that records.
func NewHARWriter(w io.Writer, program, version string) (*HARWriter, error) {
	creator, err := json.Marshal(map[string]string{"name": program, "version": version})
	if err != nil {
		return nil, err
	}
	_, err = w.Write([]byte(`{"log": {"version": "1.2", "creator": ` + string(creator) + `, "pages": [], "entries": [`))
	return &HARWriter{w: w}, err
}

// pair is a name and a value in a HAR.
type pair struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Write appends an exchange. Bodies that are not UTF-8 are written in base64.
func (h *HARWriter) Write(e *Exchange) error {
	ms := float64(e.Duration) / float64(time.Millisecond)
	request := map[string]any{
		"method": e.Method, "url": e.URL, "httpVersion": "HTTP/1.1", "headers": pairs(e.Request.Headers), "cookies": []pair{},
		"queryString": query(e.URL), "headersSize": -1, "bodySize": len(e.Request.Body),
	}
	if e.Request.Body != "" {
		post := body(e.Request.Body)
		post["mimeType"] = e.Request.Type
		if e.Request.Cut {
			post["comment"] = "The body was longer than what was recorded."
		}
		request["postData"] = post
	}
	content := body(e.Response.Body)
	content["mimeType"], content["size"] = e.Response.Type, len(e.Response.Body)
	if e.Response.Cut || e.Response.Binary {
		content["comment"] = "The body was longer than what was recorded, or not text."
	}
	response := map[string]any{
		"status": e.Status, "statusText": "", "httpVersion": "HTTP/1.1", "headers": pairs(e.Response.Headers), "cookies": []pair{},
		"content": content, "redirectURL": e.Response.Header("Location"), "headersSize": -1, "bodySize": -1,
	}
	if e.Failure != "" {
		response["_error"] = e.Failure // as Chrome writes it
	}
	entry := map[string]any{
		"startedDateTime": e.Start.UTC().Format(time.RFC3339Nano), "time": ms, "request": request,
		"response": response, "cache": map[string]any{}, "timings": map[string]any{"send": 0, "wait": ms, "receive": 0},
	}
	var text bytes.Buffer
	if h.count > 0 {
		text.WriteByte(',')
	}
	text.WriteByte('\n')
	to := json.NewEncoder(&text)
	to.SetEscapeHTML(false)
	if err := to.Encode(entry); err != nil {
		return err
	}
	h.count++
	_, err := h.w.Write(bytes.TrimRight(text.Bytes(), "\n"))
	return err
}

// Close writes the end. It does not close the underlying writer.
func (h *HARWriter) Close() error {
	_, err := h.w.Write([]byte("\n]}}\n"))
	return err
}

func body(text string) map[string]any {
	if utf8.ValidString(text) {
		return map[string]any{"text": text}
	}
	return map[string]any{"text": base64.StdEncoding.EncodeToString([]byte(text)), "encoding": "base64"}
}

func pairs(fields []Field) []pair {
	all := make([]pair, 0, len(fields))
	for _, f := range fields {
		all = append(all, pair{f.Name, strings.ToValidUTF8(f.Value, "�")})
	}
	return all
}

func query(address string) []pair {
	all := []pair{}
	u, err := url.Parse(address)
	if err != nil {
		return all
	}
	for part := range strings.SplitSeq(u.RawQuery, "&") {
		name, value, _ := strings.Cut(part, "=")
		if name == "" {
			continue
		}
		all = append(all, pair{unescaped(name), unescaped(value)})
	}
	return all
}

func unescaped(text string) string {
	if plain, err := url.QueryUnescape(text); err == nil {
		return plain
	}
	return text
}
