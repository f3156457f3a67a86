package service

import (
	"bytes"
	"mime"
	"strings"

	"golang.org/x/text/encoding/htmlindex"
)

// utf8Mark is what some servers put before their UTF-8; RFC 8259, section 8.1, lets readers of JSON pass over it.
var utf8Mark = []byte("\xef\xbb\xbf")

// InUTF8 returns the text of an answer in UTF-8, by what its Content-Type says: without a mark of its order of bytes, and
// otherwise as it is where that names no encoding, or none that the Encoding Standard of WHATWG knows.
func InUTF8(text []byte, contentType string) []byte {
	if _, with, _ := mime.ParseMediaType(contentType); with["charset"] != "" && !strings.EqualFold(with["charset"], "utf-8") {
		if of, err := htmlindex.Get(with["charset"]); err == nil {
			if decoded, err := of.NewDecoder().Bytes(text); err == nil {
				text = decoded
			}
		}
	}
	return bytes.TrimPrefix(text, utf8Mark)
}
