package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"unicode/utf16"
)

// parrot is a server that returns what it receives, including secrets, in every wrong way that we know of. It records all
// secrets that it received and issued.
type parrot struct {
	mu      sync.Mutex
	secrets map[string]bool
}

func (p *parrot) learn(secret string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.secrets == nil {
		p.secrets = map[string]bool{}
	}
	p.secrets[secret] = true
	return secret
}

func (p *parrot) known() (all []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for s := range p.secrets {
		all = append(all, s)
	}
	return all
}

func (p *parrot) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	_, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if token != "" {
		p.learn(token)
	}
	quoted, _ := json.Marshal(token)
	switch r.URL.Path {
	case "/login":
		fmt.Fprintf(w, `{"token": %q}`, p.learn(fmt.Sprintf("canary/token+%d=", len(p.known()))))
	case "/login/oauth":
		_, _ = fmt.Fprintf(w, `{"access_token": %q, "expires_in": 3600}`, p.learn(fmt.Sprintf("canary/oauth-token+%d=", len(p.known()))))
	case "/login/jar", "/cookie":
		http.SetCookie(w, &http.Cookie{Name: "sid", Value: p.learn(fmt.Sprintf("canary-sid-%d", len(p.known()))), Path: "/"})
	case "/login/refused":
		w.WriteHeader(http.StatusForbidden)
		_, _ = w.Write(body)
	case "/login/garbled", "/garbled":
		p.raw(w, fmt.Sprintf("HTTP/1.1 %s%s\r\n\r\n", token, body))
	case "/refused":
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprintf(w, "no %s for %s at %s", token, body, r.URL)
	case "/broken":
		w.WriteHeader(http.StatusInternalServerError)
		fmt.Fprintf(w, `{"error": {"sent": %s}}`, quoted)
	case "/away":
		w.Header().Set("Location", "https://elsewhere.example/"+url.PathEscape(token)+"?t="+url.QueryEscape(token))
		w.WriteHeader(http.StatusFound)
	case "/malformed":
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"sent": %s, "%s`, quoted, token)
	case "/cut":
		w.Header().Set("Content-Length", "9999")
		fmt.Fprint(w, token)
	case "/encoded":
		p.encoded(w, strings.Join([]string{r.Header.Get("Authorization"), r.Header.Get("X-Key"), r.Header.Get("Cookie"), r.Header.Get("X-Own"), r.Header.Get("X-Step"), r.URL.Query().Encode(), unquoted(r.URL.Query()), string(body)}, " and "))
	case "/slow":
		<-r.Context().Done()
	case "/v1/chat/completions":
		p.chat(w, token)
	default:
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Sent", token)
		w.Header().Set("Trailer", "X-Trailer")
		w.Header().Set("Set-Cookie", "sent="+url.QueryEscape(token))
		basic := base64.StdEncoding.EncodeToString([]byte("somebody:" + token))
		fmt.Fprintf(w, `{"sent": %s, "basic": %q, "query": %q, "hex": "%x"}`, quoted, basic, url.QueryEscape(token), token)
		w.Header().Set("X-Trailer", token)
	}
}

// unquoted returns the values of a query unescaped.
func unquoted(query url.Values) (all string) {
	for _, values := range query {
		all += strings.Join(values, " ") + " "
	}
	return all
}

// encoded repeats a text in forms that are visible only after decoding.
func (p *parrot) encoded(w http.ResponseWriter, text string) {
	var units, octets strings.Builder
	var wide []byte
	for _, u := range utf16.Encode([]rune(text)) {
		fmt.Fprintf(&units, `\u%04x`, u)
		wide = append(wide, byte(u), byte(u>>8))
	}
	for _, b := range []byte(text) {
		fmt.Fprintf(&octets, "%%%02x", b)
	}
	w.Header().Set("X-Sent", octets.String())
	w.Header().Set("Content-Type", "text/plain")
	fmt.Fprintf(w, `{"units": "%s", "octets": "%s", "base64": "%s", "plain": %q} %s`,
		units.String(), octets.String(), base64.StdEncoding.EncodeToString([]byte(text)), text, wide)
}

// raw answers with bytes that may not be HTTP.
func (p *parrot) raw(w http.ResponseWriter, text string) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(err)
	}
	_, _ = io.WriteString(conn, text)
	_ = conn.Close()
}

// chat returns the key in pieces.
func (p *parrot) chat(w http.ResponseWriter, token string) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, part := range []string{"your key is " + token[:len(token)/2], token[len(token)/2:] + "."} {
		piece, _ := json.Marshal(map[string]any{"choices": []any{map[string]any{"delta": map[string]any{"content": part}}}})
		fmt.Fprintf(w, "data: %s\n\n", piece)
	}
	fmt.Fprint(w, "data: [DONE]\n\n")
}
