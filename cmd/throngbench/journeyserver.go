package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

// journeyServer is the shop of the journeys: it reads a request to its end and writes what its path is answered with,
// always the same bytes, so that on a core of its own it is never what the client waits for.
type journeyServer struct {
	OrderAfter time.Duration // how long an order takes
	Secure     bool          // speaks TLS
}

// journeyAddress is where a [journeyServer] is.
type journeyAddress struct {
	URL string
	CA  []byte // PEM; nil without TLS
}

// serve answers until standard input, which begins with the server as JSON, ends. It prints its address as JSON first.
func (journeyServer) serve(ctx context.Context) error {
	var s journeyServer
	in := json.NewDecoder(os.Stdin)
	if err := in.Decode(&s); err != nil {
		return err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		_ = listener.Close()
	}()
	at := journeyAddress{URL: "http://" + listener.Addr().String()}
	if s.Secure {
		certificate, ca, err := selfSigned()
		if err != nil {
			return err
		}
		at = journeyAddress{"https://" + listener.Addr().String(), ca}
		listener = tls.NewListener(listener, &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS13})
	}
	if err := json.NewEncoder(os.Stdout).Encode(at); err != nil {
		return err
	}
	for {
		conn, err := listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		} else if err != nil {
			return err
		}
		go s.answer(conn)
	}
}

// selfSigned makes a certificate for loopback, which is its own CA.
func selfSigned() (certificate tls.Certificate, ca []byte, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return certificate, nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "throngbench"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return certificate, nil, err
	}
	certificate = tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
	return certificate, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), nil
}

// answer serves one connection.
func (s journeyServer) answer(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	in := bufio.NewReaderSize(conn, 2048)
	for {
		path, err := readRequest(in)
		if err != nil {
			return
		}
		at := 0
		for at < len(journeyAnswers)-1 && !strings.HasSuffix(path, journeyAnswers[at].path) {
			at++
		}
		if journeyAnswers[at].path == "/orders" && s.OrderAfter > 0 {
			time.Sleep(s.OrderAfter)
		}
		if _, err := conn.Write(journeyAnswers[at].answer); err != nil {
			return
		}
	}
}

// readRequest reads a request and its body, and returns its path without the query.
func readRequest(in *bufio.Reader) (path string, err error) {
	size := 0
	for first := true; ; first = false {
		line, err := in.ReadSlice('\n')
		switch {
		case err != nil:
			return "", err
		case first:
			_, rest, _ := bytes.Cut(line, []byte(" "))
			target, _, _ := bytes.Cut(rest, []byte(" "))
			target, _, _ = bytes.Cut(target, []byte("?"))
			path = string(target)
		case len(line) == 2:
			_, err := in.Discard(size)
			return path, err
		}
		if name, value, _ := bytes.Cut(line, []byte(":")); bytes.EqualFold(name, []byte("Content-Length")) {
			if size, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
				return "", err
			}
		}
	}
}

// journeyAnswers are by how a path ends; the last one is for all others.
var journeyAnswers = []struct {
	path   string
	answer []byte
}{
	{"/sessions", answerBytes("201 Created", `{"session":{"id":"5f0c9a4e-7d21-4c58-9b1a-2f6e8c3d7b90","store":"store-3","expires_at":"2026-01-02T09:00:00Z"}}`)},
	{"/products", answerBytes("200 OK", `{"products":[`+strings.Repeat(productJSON+",", 7)+productJSON+`],"total":8}`)},
	{"/items", answerBytes("200 OK", `{"cart":{"items":[{"product_id":"p-1017","name":"Whole milk","quantity":2,"price":1.79}],"total":3.58,"currency":"USD"}}`)},
	{"/coupons", answerBytes("200 OK", `{"eligible":[{"id":"c-3","percent":10,"title":"Ten percent off dairy"},{"id":"c-8","percent":5,"title":"Five percent off all"}]}`)},
	{"/orders", answerBytes("201 Created", `{"order":{"id":"o-88123","status":"placed","totals":{"items":3.58,"discount":0.36,"tax":0.26,"final_total":3.48}}}`)},
	{"", answerBytes("404 Not Found", `{"error":"there is no such thing"}`)},
}

const productJSON = `{"id":"p-1017","name":"Whole milk","category":"Dairy","price":1.79,"unit":"1 l","in_stock":true,"rating":4.4}`

func answerBytes(status, body string) []byte {
	return fmt.Appendf(nil, "HTTP/1.1 %s\r\nContent-Type: application/json\r\nDate: Fri, 02 Jan 2026 08:00:00 GMT\r\nContent-Length: %d\r\n\r\n%s",
		status, len(body), body)
}
