package faults

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/throng-sim/throng/storage/postgres/pgtest"
)

// Counts are numbers of rows: the run's own row, sessions, events, seconds of metrics, and checkpoints.
type Counts struct {
	Written   int64 // in the export, with the checkpoints in the store
	There     int64 // in PostgreSQL
	Missing   int64 // written, but their key is not in PostgreSQL
	Different int64 // with the same key and another cell, or never written
	Doubled   int64 // rows in PostgreSQL with the key of another row
}

// sent is a table in PostgreSQL and the exported file that must have the same rows.
type sent struct {
	file, table, key string
	keys             int               // number of leading columns in the file that form the key
	instead          map[string]string // SQL expressions for columns that the table does not have
}

const stamp = `to_char(%s AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`

var tables = []sent{
	{"sessions.csv", "sessions", "cycle, agent_index, take", 2, nil},
	{"timings.csv", "sessions", "cycle, agent_index, take", 2, map[string]string{"started": fmt.Sprintf(stamp, "started")}},
	{"events.csv", "events", "cycle, agent_index, take, sequence", 0, nil},
	{"metrics.csv", "metrics", "at", 1, map[string]string{"timestamp": fmt.Sprintf(stamp, "at")}},
}

var (
	// sentCounts are the columns of metrics that start with agents and are sent; the one with the scenario's name is not.
	sentCounts = []string{"agents_processed", "agents_shopped"}
	// eventColumns are the columns of events before those of the fields of their data.
	eventColumns = []string{"cycle", "agent_index", "agent", "session", "sequence", "step", "event"}
)

// Reconcile compares the rows of the run with those in PostgreSQL, cell by cell.
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
		switch instead, ok := of.instead[name]; {
		case ok:
			columns[i] = instead
		case name == "simulated_time" || of.file == "metrics.csv" && strings.HasPrefix(name, "agents_") && !slices.Contains(sentCounts, name):
			columns[i] = "''" // only the export has it
			for _, row := range want[1:] {
				row[i] = ""
			}
		case of.file == "events.csv" && !slices.Contains(eventColumns, name):
			field := name
			if rest, ok := strings.CutPrefix(name, "data_"); ok && slices.Contains(eventColumns, rest) {
				field = rest
			}
			columns[i] = `coalesce(data::json ->> '` + field + `', '')`
		}
	}
	there := map[string]int64{} // number of rows by content
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
		case of.file != "timings.csv": // the rows of sessions again
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

// width returns the number of cells of a row's key; 0 for all.
func (t *sent) width(row []string) int {
	if t.keys == 0 {
		return len(row)
	}
	return t.keys
}

// compareHead compares the row of the run and its checkpoints.
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
