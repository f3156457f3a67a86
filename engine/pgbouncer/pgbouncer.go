// Package pgbouncer reads what PgBouncer answers in place of the PostgreSQL server behind it.
package pgbouncer

import "strings"

// Answer is an error as the protocol of PostgreSQL has it.
type Answer struct{ Code, Message string } // Code is the SQLSTATE

// protocolViolation is the SQLSTATE of most errors of PgBouncer: it has few codes of its own.
const protocolViolation = "08P01"

// Full reports whether PgBouncer accepts no more clients: max_client_conn and its kin. It works, and asked its server
// nothing.
func Full(e Answer) bool {
	return says(e, "no more connections allowed") || says(e, "client connections exceeded")
}

// Busy reports whether PgBouncer gave a statement up that waited too long for one of its connections to the server. The
// statement was not sent.
func Busy(e Answer) bool { return says(e, "query_wait_timeout") }

// RefusesParameter reports whether PgBouncer refuses a parameter of a connection's start.
func RefusesParameter(e Answer) bool {
	return e.Code == protocolViolation && says(e, "startup parameter")
}

// hints is the one table of what to do about errors that PgBouncer causes.
var hints = []struct {
	is   func(e Answer) bool
	hint string
}{
	{Full, "PgBouncer accepts no more clients: raise max_client_conn in pgbouncer.ini, or use fewer connections here"},
	{Busy, "no connection of PgBouncer to its server was free in time: raise default_pool_size in pgbouncer.ini, or use no more connections here than that"},
	{RefusesParameter, "PgBouncer accepts no such parameter at the start of a connection: leave it out of the address, or add it to ignore_startup_parameters in pgbouncer.ini"},
	{
		func(e Answer) bool { return e.Code == "26000" || e.Code == "42P05" },
		"behind PgBouncer with pool_mode = transaction the next statement may use another server connection, so PREPARE has no effect on it: send the statement itself",
	},
	{func(e Answer) bool {
		return says(e, "cannot connect to server") || says(e, "server login has been failing") || says(e, "server login failed")
	}, "PgBouncer answers, but cannot reach its server: check the server, and [databases] in pgbouncer.ini"},
	{
		func(e Answer) bool { return says(e, "no such database") },
		"add the database to [databases] in pgbouncer.ini",
	},
}

// Hint says what to do about an error that PgBouncer causes; "" is that PgBouncer causes none like it.
func Hint(e Answer) string {
	for _, h := range hints {
		if h.is(e) {
			return h.hint
		}
	}
	return ""
}

func says(e Answer, text string) bool { return strings.Contains(e.Message, text) }
