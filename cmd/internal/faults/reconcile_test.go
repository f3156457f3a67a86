package faults

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/throng-sim/throng/storage/postgres/pgtest"
)

// Counts are the rows of a run: its own, sessions, events, seconds of metrics, and checkpoints.
type Counts struct {
	Written   int64 // in the export, and the store's checkpoints
	There     int64 // in Postgres
	Missing   int64 // of those written: their key is not in Postgres
	Different int64 // their key is there, and a cell is another; or nobody wrote them
	Doubled   int64 // rows in Postgres whose key another row has
}

// sent is a table in Postgres and the file of an export that must have the same rows.
type sent struct {
	file, table, key string
	keys             int               // how many of the file's first columns are its key
	instead          map[string]string // expressions of columns that are no columns
}

const stamp = `to_char(%s AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`

var tables = []sent{
	{"sessions.csv", "sessions", "cycle, agent_index, take", 2, nil},
	{"timings.csv", "sessions", "cycle, agent_index, take", 2, map[string]string{"started": fmt.Sprintf(stamp, "started")}},
	{"events.csv", "events", "cycle, agent_index, take, sequence", 0, nil},
	{"metrics.csv", "metrics", "at", 1, map[string]string{"timestamp": fmt.Sprintf(stamp, "at")}},
}

// Reconcile compares what the run wrote with what is in Postgres, cell by cell.
func (s *Site) Reconcile() (c Counts) {
	s.t.Helper()
	conn := pgtest.Connect(s.t, s.Server.URL(pgtest.User, s.Name))
	defer func() { _ = conn.Close(s.t.Context()) }()
	for _, table := range tables {
		s.compare(conn, &table, &c)
	}
	s.compareHead(conn, &c)
	return c
}

func (s *Site) compare(conn *pgx.Conn, of *sent, c *Counts) {
	s.t.Helper()
	file, err := os.Open(filepath.Join(s.Data, "export", of.file))
	s.must(err)
	defer func() { _ = file.Close() }()
	want, err := csv.NewReader(file).ReadAll()
	s.must(err)
	columns := make([]string, len(want[0]))
	for i, name := range want[0] {
		columns[i] = `coalesce("` + name + `"::text, '')`
		if instead, ok := of.instead[name]; ok {
			columns[i] = instead
		}
	}
	there := map[string]int64{} // by row
	keys := map[string]bool{}
	key := func(row []string) string { return strings.Join(row[:of.width(row)], "\x00") }
	rows, err := conn.Query(s.t.Context(), `SELECT ARRAY[`+strings.Join(columns, ", ")+`] FROM throng.`+of.table+` WHERE run = $1`, string(s.Job.Record.ID))
	s.must(err)
	total := int64(0)
	for rows.Next() {
		var row []string
		s.must(rows.Scan(&row))
		there[strings.Join(row, "\x00")]++
		keys[key(row)] = true
		total++
	}
	s.must(rows.Err())
	for _, row := range want[1:] {
		whole := strings.Join(row, "\x00")
		switch {
		case there[whole] > 0:
			there[whole]--
		case keys[key(row)]:
			c.Different++
		case of.file != "timings.csv": // those are the rows of sessions once more
			c.Missing++
		}
	}
	if of.file == "timings.csv" {
		return
	}
	c.Written += int64(len(want) - 1)
	c.There += total
	c.Different += max(total-int64(len(want)-1), 0)
	var distinct int64
	s.must(conn.QueryRow(s.t.Context(), `SELECT count(DISTINCT (`+of.key+`)) FROM throng.`+of.table+` WHERE run = $1`, string(s.Job.Record.ID)).Scan(&distinct))
	c.Doubled += total - distinct
}

// width is how many cells the key of a row has; 0 is all.
func (t *sent) width(row []string) int {
	if t.keys == 0 {
		return len(row)
	}
	return t.keys
}

// compareHead looks at the run's own row and its checkpoints.
func (s *Site) compareHead(conn *pgx.Conn, c *Counts) {
	s.t.Helper()
	id := s.Job.Record.ID
	record, err := s.Store.Run(s.t.Context(), id)
	s.must(err)
	var runs, numbers, all int64
	var done int64
	s.must(conn.QueryRow(s.t.Context(), `SELECT count(*), max(done) FILTER (WHERE ended IS NOT NULL) FROM throng.runs WHERE id = $1`, string(id)).Scan(&runs, &done))
	c.Written++
	c.There += runs
	if done != record.Done {
		c.Different++
	}
	checkpoints, err := s.Store.Checkpoints(s.t.Context(), id)
	s.must(err)
	for _, p := range checkpoints {
		var same int64
		s.must(conn.QueryRow(s.t.Context(), `SELECT count(*) FROM throng.checkpoints WHERE run = $1 AND number = $2 AND cycle = $3 AND done = $4 AND reason = $5 AND size_bytes = $6`,
			string(id), p.Number, p.Cycle, p.Done, p.Reason, p.SizeBytes).Scan(&same))
		c.Written++
		if same == 0 {
			c.Missing++
		}
	}
	s.must(conn.QueryRow(s.t.Context(), `SELECT count(*), count(DISTINCT number) FROM throng.checkpoints WHERE run = $1`, string(id)).Scan(&all, &numbers))
	c.There += all
	c.Doubled += all - numbers
}
