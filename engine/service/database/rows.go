package database

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// maxRows limits the rows of an answer.
const maxRows = 10_000

// maxData limits the JSON of an answer, in bytes.
const maxData = 32 << 20

// Results that are rejected. They are errors of the statement, which another attempt would repeat.
var (
	errManyRows = fmt.Errorf("more than %d rows: end the query with LIMIT, or count and sum in the database", maxRows)
	errManyData = fmt.Errorf("more than %d MB of rows: name fewer columns, or end the query with LIMIT", maxData>>20)
	errTwice    = errors.New("two columns have one name")
)

// IsBadResult reports whether a result cannot be used because of its rows. Another attempt would return the same.
func IsBadResult(err error) bool {
	return errors.Is(err, errManyRows) || errors.Is(err, errManyData) || errors.Is(err, errTwice)
}

// table writes rows as JSON: {"count": 1, "rows": [{"name": value}]}.
type table struct {
	names [][]byte // as JSON, with the preceding brace or comma
	kinds []uint32
	rows  int
	body  []byte
}

// collect reads a result to its end. If it exceeds the limits, collect calls stop and drops the rest: a statement that changes
// something must finish.
func (t *table) collect(result *pgconn.ResultReader, stop func()) (pgconn.CommandTag, error) {
	failure := t.columns(result.FieldDescriptions())
	for result.NextRow() {
		if failure == nil {
			failure = t.row(result.Values())
		}
		if failure != nil {
			stop()
		}
	}
	tag, err := result.Close()
	if failure != nil {
		return tag, failure
	}
	return tag, err
}

func (t *table) columns(fields []pgconn.FieldDescription) error {
	seen := make(map[string]bool, len(fields))
	for i, f := range fields {
		if seen[f.Name] {
			return fmt.Errorf("%w, %s: give one another name with AS", errTwice, f.Name)
		}
		seen[f.Name] = true
		name, err := json.Marshal(f.Name)
		if err != nil {
			return err
		}
		before := byte(',')
		if i == 0 {
			before = '{'
		}
		t.names = append(t.names, append(append([]byte{before}, name...), ':'))
		t.kinds = append(t.kinds, f.DataTypeOID)
	}
	return nil
}

func (t *table) row(values [][]byte) error {
	if t.rows++; t.rows > maxRows {
		return errManyRows
	}
	if t.rows > 1 {
		t.body = append(t.body, ',')
	}
	if len(values) == 0 {
		t.body = append(t.body, '{')
	}
	for i, v := range values {
		t.body = append(t.body, t.names[i]...)
		if v == nil {
			t.body = append(t.body, "null"...)
		} else {
			t.body = appendValue(t.body, t.kinds[i], string(v))
		}
		if len(t.body) > maxData {
			return errManyData
		}
	}
	t.body = append(t.body, '}')
	return nil
}

// json returns the whole answer.
func (t *table) json(count int64) []byte {
	out := strconv.AppendInt([]byte(`{"count":`), count, 10)
	out = append(append(out, `,"rows":[`...), t.body...)
	return append(out, "]}"...)
}

// appendValue appends a value of a Postgres type in the server's text format.
func appendValue(dst []byte, kind uint32, text string) []byte {
	switch kind {
	case pgtype.BoolOID:
		return strconv.AppendBool(dst, text == "t")
	case pgtype.Int2OID, pgtype.Int4OID, pgtype.Int8OID, pgtype.OIDOID, pgtype.Float4OID, pgtype.Float8OID:
		if isNumber(text) { // not NaN or Infinity
			return append(dst, text...)
		}
	case pgtype.NumericOID:
		if isNumber(text) && exact(text) {
			return append(dst, text...)
		}
	case pgtype.JSONOID, pgtype.JSONBOID:
		if compact, ok := compacted(text); ok {
			return append(dst, compact...)
		}
	case pgtype.ByteaOID:
		if data, err := hex.DecodeString(strings.TrimPrefix(text, `\x`)); err == nil {
			text = base64.StdEncoding.EncodeToString(data)
		}
	case pgtype.TimestampOID, pgtype.TimestamptzOID:
		text = isoTime(text)
	default:
		if element, ok := elementOf(kind); ok {
			list, err := appendArray(dst, text, func(dst []byte, text string) []byte { return appendValue(dst, element, text) })
			if err == nil {
				return list
			}
		}
	}
	return appendText(dst, text)
}

func appendText(dst []byte, text string) []byte {
	quoted, err := json.Marshal(text)
	if err != nil { // a string always encodes
		panic(err)
	}
	return append(dst, quoted...)
}

func isNumber(text string) bool {
	return text != "" && (text[0] == '-' || digit(text[0])) && json.Valid([]byte(text))
}

// serverTypes are the types that every server has.
var serverTypes = pgtype.NewMap()

// elementOf returns the element type of an array type.
func elementOf(kind uint32) (uint32, bool) {
	known, ok := serverTypes.TypeForOID(kind)
	if !ok {
		return 0, false
	}
	codec, ok := known.Codec.(*pgtype.ArrayCodec)
	if !ok {
		return 0, false
	}
	return codec.ElementType.OID, true
}

// exact reports whether a number is an integer, or a decimal that a float represents exactly.
func exact(text string) bool {
	digits := strings.TrimPrefix(text, "-")
	if strings.ContainsAny(digits, "eE") || len(digits) > 1000 {
		return false
	}
	whole, fraction, decimal := strings.Cut(digits, ".")
	if !decimal {
		return true
	}
	fraction = strings.TrimRight(fraction, "0")
	f, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		return false
	}
	if fraction != "" {
		whole += "." + fraction
	}
	return strconv.FormatFloat(f, 'f', -1, 64) == whole
}

// compacted returns JSON without insignificant spaces.
func compacted(text string) ([]byte, bool) {
	var out bytes.Buffer
	if err := json.Compact(&out, []byte(text)); err != nil {
		return nil, false
	}
	return out.Bytes(), true
}

// isoTime converts a time of a connection in UTC to RFC 3339. Times that RFC 3339 cannot represent (infinity, years BC) are
// returned as they are.
func isoTime(text string) string {
	day, clock, ok := strings.Cut(text, " ")
	if !ok || strings.Contains(clock, " ") {
		return text
	}
	if clock, zoned := strings.CutSuffix(clock, "+00"); zoned {
		return day + "T" + clock + "Z"
	}
	return day + "T" + clock
}
