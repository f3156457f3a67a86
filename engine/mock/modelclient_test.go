package mock

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// modelClient calls a mock model over HTTP. It uses OpenAI's documented field names and nothing of this package.
type modelClient struct {
	t         testing.TB
	base, key string
	http      http.Client
}

// client returns a client with its own connections.
func (m *Model) client(t testing.TB) *modelClient {
	return &modelClient{t: t, base: m.URL(), key: m.Secret(), http: http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}
}

type (
	chatMessage struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	chatQuestion struct {
		Model         string          `json:"model"`
		Messages      []chatMessage   `json:"messages"`
		Temperature   *float64        `json:"temperature,omitempty"`
		N             int             `json:"n,omitempty"`
		Stream        bool            `json:"stream,omitempty"`
		StreamOptions map[string]bool `json:"stream_options,omitempty"`
	}
	tokenUsage struct {
		PromptTokens     int `json:"prompt_tokens"`
		CompletionTokens int `json:"completion_tokens"`
		TotalTokens      int `json:"total_tokens"`
	}
	chatReply struct {
		ID      string `json:"id"`
		Object  string `json:"object"`
		Created int64  `json:"created"`
		Model   string `json:"model"`
		Choices []struct {
			Index        int         `json:"index"`
			Message      chatMessage `json:"message"`
			FinishReason string      `json:"finish_reason"`
		} `json:"choices"`
		Usage tokenUsage `json:"usage"`
	}
	chatPiece struct {
		ID      string `json:"id"`
		Object  string `json:"object"`
		Created int64  `json:"created"`
		Choices []struct {
			Delta        chatMessage `json:"delta"`
			FinishReason string      `json:"finish_reason"`
		} `json:"choices"`
		Usage *tokenUsage `json:"usage"`
	}
	embedRequest struct {
		Input      any    `json:"input"`
		Model      string `json:"model"`
		Encoding   string `json:"encoding_format,omitempty"`
		Dimensions int    `json:"dimensions,omitempty"`
	}
	embedReply[V any] struct {
		Model string `json:"model"`
		Data  []struct {
			Object    string `json:"object"`
			Index     int    `json:"index"`
			Embedding V      `json:"embedding"`
		} `json:"data"`
		Usage tokenUsage `json:"usage"`
	}
	listedModel struct {
		ID     string `json:"id"`
		Object string `json:"object"`
	}
)

// modelError is an answer other than 200.
type modelError struct {
	Status  int    `json:"-"`
	Message string `json:"message"`
	Type    string `json:"type"`
	Param   string `json:"param"`
	Code    string `json:"code"`
}

func (e *modelError) Error() string { return fmt.Sprintf("status %d: %s", e.Status, e.Message) }

func say(texts ...string) (all []chatMessage) {
	for i, text := range texts {
		all = append(all, chatMessage{Role: []string{"user", "assistant"}[i%2], Content: text})
	}
	return all
}

func chatWith(messages []chatMessage) chatQuestion {
	return chatQuestion{Model: "mock-1", Messages: messages}
}

// post sends a value and decodes the answer into another, unless that is nil.
func (c *modelClient) post(path string, question, answer any) (http.Header, error) {
	body, err := json.Marshal(question)
	if err != nil {
		return nil, err
	}
	return c.exchange(http.MethodPost, path, body, answer)
}

func (c *modelClient) get(path string, answer any) error {
	_, err := c.exchange(http.MethodGet, path, nil, answer)
	return err
}

func (c *modelClient) exchange(method, path string, body []byte, answer any) (http.Header, error) {
	r, err := c.send(method, path, body)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Body.Close() }()
	if answer == nil {
		return r.Header, nil
	}
	return r.Header, json.NewDecoder(r.Body).Decode(answer)
}

// send returns an answer with status 200; the caller closes its body.
func (c *modelClient) send(method, path string, body []byte) (*http.Response, error) {
	q, err := http.NewRequestWithContext(c.t.Context(), method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	q.Header.Set("Authorization", "Bearer "+c.key)
	q.Header.Set("Content-Type", "application/json")
	r, err := c.http.Do(q)
	if err != nil || r.StatusCode == http.StatusOK {
		return r, err
	}
	defer func() { _ = r.Body.Close() }()
	no := struct{ Error modelError }{modelError{Status: r.StatusCode}}
	if err := json.NewDecoder(r.Body).Decode(&no); err != nil {
		return nil, err
	}
	return nil, &no.Error
}

// stream sends a question and passes on each event of the answer, up to [DONE].
func (c *modelClient) stream(path string, question any, receive func(chatPiece)) error {
	body, err := json.Marshal(question)
	if err != nil {
		return err
	}
	r, err := c.send(http.MethodPost, path, body)
	if err != nil {
		return err
	}
	defer func() { _ = r.Body.Close() }()
	for lines := bufio.NewScanner(r.Body); lines.Scan(); {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		if data == "[DONE]" {
			_, err := io.Copy(io.Discard, r.Body)
			return err
		}
		var piece chatPiece
		if err := json.Unmarshal([]byte(data), &piece); err != nil {
			return fmt.Errorf("event %q: %w", data, err)
		}
		receive(piece)
	}
	return errors.New("the stream ended without [DONE]")
}
