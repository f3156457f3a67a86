package postgres

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"io"
	"math"
	"strings"
	"time"
	"unicode/utf8"
)

// copyHeader and copyTrailer enclose the rows of PostgreSQL's binary COPY format.
// https://www.postgresql.org/docs/current/sql-copy.html
var (
	copyHeader  = append([]byte("PGCOPY\n\xff\r\n\x00"), make([]byte, 8)...)
	copyTrailer = []byte{0xff, 0xff}
)

// copyRows is rows in that format. pgx would need an allocation and a lookup in its type map for each value, and a push
// competes with the run for the CPU.
type copyRows struct {
	data []byte
	ends []int // end of each unit: a session, the events of a session, a second of metrics
}

func (r *copyRows) reset() { r.data, r.ends = r.data[:0], r.ends[:0] }
func (r *copyRows) end()   { r.ends = append(r.ends, len(r.data)) }

// part returns the bytes of the units from to to-1.
func (r *copyRows) part(from, to int) []byte {
	start, end := 0, 0
	if from > 0 {
		start = r.ends[from-1]
	}
	if to > 0 {
		end = r.ends[to-1]
	}
	return r.data[start:end]
}

// copyReader returns rows with header and trailer.
func copyReader(rows []byte) io.Reader {
	return io.MultiReader(bytes.NewReader(copyHeader), bytes.NewReader(rows), bytes.NewReader(copyTrailer))
}

func (r *copyRows) row(fields int) { r.data = binary.BigEndian.AppendUint16(r.data, uint16(fields)) }
func (r *copyRows) null()          { r.data = append(r.data, 0xff, 0xff, 0xff, 0xff) }

// int4 appends an integer column. Values out of range are clamped.
func (r *copyRows) int4(n int64) {
	r.data = binary.BigEndian.AppendUint32(r.data, 4)
	r.data = binary.BigEndian.AppendUint32(r.data, uint32(int32(min(max(n, math.MinInt32), math.MaxInt32))))
}

func (r *copyRows) int8(n int64) {
	r.data = binary.BigEndian.AppendUint32(r.data, 8)
	r.data = binary.BigEndian.AppendUint64(r.data, uint64(n))
}

func (r *copyRows) bool(b bool) {
	r.data = append(r.data, 0, 0, 0, 1, 0)
	if b {
		r.data[len(r.data)-1] = 1
	}
}

// figure appends a double precision column with the three decimals of the CSV files. Unknown values (NaN, infinite or
// negative) are NULL.
func (r *copyRows) figure(v float64) {
	if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
		r.null()
		return
	}
	r.data = binary.BigEndian.AppendUint32(r.data, 8)
	r.data = binary.BigEndian.AppendUint64(r.data, math.Float64bits(math.Round(v*1000)/1000))
}

func (r *copyRows) millis(d time.Duration) { r.figure(float64(d) / float64(time.Millisecond)) }

// billionths appends a numeric column with all significant decimals.
// https://github.com/postgres/postgres/blob/master/src/backend/utils/adt/numeric.c, numeric_recv
func (r *copyRows) billionths(n int64) {
	n = max(n, 0)
	decimals, rest := 9, n
	for ; decimals > 0 && rest%10 == 0; decimals-- {
		rest /= 10
	}
	// Digits to the base 10,000: three before the decimal point without leading zeros, and three after it.
	whole, part := n/1e9, n%1e9*1000
	digits := []int64{whole / 1e8, whole / 1e4 % 1e4, whole % 1e4, part / 1e8, part / 1e4 % 1e4, part % 1e4}
	weight := 2
	for len(digits) > 0 && digits[0] == 0 {
		digits, weight = digits[1:], weight-1
	}
	r.data = binary.BigEndian.AppendUint32(r.data, uint32(8+2*len(digits)))
	for _, word := range []int{len(digits), weight, 0, decimals} {
		r.data = binary.BigEndian.AppendUint16(r.data, uint16(int16(word)))
	}
	for _, d := range digits {
		r.data = binary.BigEndian.AppendUint16(r.data, uint16(d))
	}
}

// postgresEpoch is the epoch of PostgreSQL's times, in microseconds since 1970.
var postgresEpoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()

// time appends a timestamptz column; the zero time is NULL.
func (r *copyRows) time(at time.Time) {
	if at.IsZero() {
		r.null()
		return
	}
	r.int8(at.UnixMicro() - postgresEpoch)
}

// text appends a text column. Characters that PostgreSQL rejects are replaced.
func (r *copyRows) text(s string) {
	s = sanitize(s)
	r.data = append(binary.BigEndian.AppendUint32(r.data, uint32(len(s))), s...)
}

// optional appends a text column; an empty text is NULL.
func (r *copyRows) optional(s string) {
	if s == "" {
		r.null()
		return
	}
	r.text(s)
}

// json appends a json column, which keeps the text unchanged; an empty one is NULL.
func (r *copyRows) json(data []byte) {
	if len(data) == 0 {
		r.null()
		return
	}
	data = sanitizeJSON(data)
	r.data = append(binary.BigEndian.AppendUint32(r.data, uint32(len(data))), data...)
}

const replacement = "\uFFFD"

// sanitize replaces what a text column cannot store: NUL characters and invalid UTF-8.
func sanitize(s string) string {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, replacement)
	}
	if strings.IndexByte(s, 0) >= 0 {
		s = strings.ReplaceAll(s, "\x00", replacement)
	}
	return s
}

// sanitizeJSON returns data if PostgreSQL accepts it as JSON. Otherwise it replaces invalid UTF-8, or returns the data as a JSON
// string.
func sanitizeJSON(data []byte) []byte {
	if !utf8.Valid(data) {
		data = bytes.ToValidUTF8(data, []byte(replacement))
	}
	if json.Valid(data) {
		return data
	}
	text, err := json.Marshal(sanitize(string(data)))
	if err != nil {
		return []byte("null") // cannot fail
	}
	return text
}
