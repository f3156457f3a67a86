// Package charset decodes text by the encoding that its Content-Type names.
package charset

import (
	"bytes"
	"mime"
	"strings"

	"golang.org/x/text/encoding/htmlindex"
)

// utf8Mark is a byte order mark, which some servers put before UTF-8. RFC 8259, section 8.1, lets JSON parsers ignore it.
var utf8Mark = []byte("\xef\xbb\xbf")

// UTF8 decodes text to UTF-8 and removes a byte order mark. Text whose Content-Type names no encoding, or one that the WHATWG
// Encoding Standard does not know, is returned as it is.
func UTF8(text []byte, contentType string) []byte {
	if name := named(contentType); name != "" && !strings.EqualFold(name, "utf-8") {
		if of, err := htmlindex.Get(name); err == nil {
			if decoded, err := of.NewDecoder().Bytes(text); err == nil {
				text = decoded
			}
		}
	}
	return bytes.TrimPrefix(text, utf8Mark)
}

// named returns the encoding that a Content-Type names, or "".
func named(contentType string) string {
	_, parameters, has := strings.Cut(contentType, ";")
	if !has || strings.EqualFold(strings.TrimSpace(parameters), "charset=utf-8") {
		return ""
	}
	_, with, _ := mime.ParseMediaType(contentType)
	return with["charset"]
}
