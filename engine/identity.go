package engine

import (
	"encoding/binary"
	"encoding/hex"
	"slices"

	"github.com/google/uuid"

	"github.com/throng-sim/throng/engine/internal/draw"
)

// A session id holds a check of 62 bits and, masked by it, the cycle and the agent: so a run recognizes its own ids in
// any text, and no two of its sessions share one.
const (
	agentBits  = 32
	cycleBits  = 28
	placeMask  = 1<<(agentBits+cycleBits) - 1
	checkMask  = 1<<62 - 1
	uuidLength = 36
	hexLength  = 32
)

// SessionUUID is the id of a session at services: a function of the run, the cycle and the agent's index, in the form of
// a version 8 UUID (RFC 9562). Two runs never share one.
func SessionUUID(run RunID, cycle, agent int) string {
	check := checkOf(run, cycle, agent)
	place := (uint64(cycle)<<agentBits | uint64(uint32(agent))) & placeMask
	return uuidOf(place^maskOf(run, check), check)
}

// SeedUUID names a session in results: a function of the seed, the cycle and the agent's index, in the same form.
func SeedUUID(seed uint64, cycle, agent int) string {
	s := SessionKey(seed, cycle, agent).Text("uuid").Source()
	var id uuid.UUID
	for i := range 2 {
		binary.LittleEndian.PutUint64(id[8*i:], s.Uint64())
	}
	id[6] = id[6]&0x0f | 0x80
	id[8] = id[8]&0x3f | 0x80
	return id.String()
}

// placeOf finds whose id an id is that [SessionUUID] gave; false if it gave another one, or none.
func placeOf(run RunID, id uuid.UUID) (cycle, agent int, ok bool) {
	if id[6]>>4 != 8 || id[8]>>6 != 0b10 {
		return 0, 0, false
	}
	high, check := binary.BigEndian.Uint64(id[:8]), binary.BigEndian.Uint64(id[8:])&checkMask
	place := (high>>16<<12 | high&0xfff) ^ maskOf(run, check)
	cycle, agent = int(place>>agentBits), int(place&(1<<agentBits-1))
	return cycle, agent, checkOf(run, cycle, agent) == check
}

func checkOf(run RunID, cycle, agent int) uint64 {
	hi, _ := draw.Key{}.Text("session").Text(string(run)).Int(uint64(cycle)).Int(uint64(agent)).Sum()
	return hi & checkMask
}

func maskOf(run RunID, check uint64) uint64 {
	hi, _ := draw.Key{}.Text("mask").Text(string(run)).Int(check).Sum()
	return hi & placeMask
}

// uuidOf puts 60 and 62 bits around the version and the variant.
func uuidOf(place, check uint64) string {
	var id uuid.UUID
	binary.BigEndian.PutUint64(id[:8], place>>12<<16|8<<12|place&0xfff)
	binary.BigEndian.PutUint64(id[8:], 0b10<<62|check)
	return id.String()
}

// Identity is the run that names the session to services: in a replay the recorded one, whose requests it repeats.
func (s *Session) Identity() RunID {
	run := s.host.Run()
	if run.Recording != "" {
		return run.Recording
	}
	return run.ID
}

// UUID is the id of the session at services.
func (s *Session) UUID() string { return SessionUUID(s.Identity(), s.Cycle, s.Agent) }

// Settled returns text for results: ids of the run's sessions, and of those of the runs that it was forked from, are
// replaced by their [SeedUUID], which every run with the seed shares. It may change text in place.
func (s *Session) Settled(text []byte) []byte {
	return Settle(text, s.Settings().Seed, append([]RunID{s.Identity()}, s.host.Run().Lineage...))
}

// Settle replaces in text the ids of the sessions of some runs, which have one seed, by their [SeedUUID]. It may change text
// in place.
func Settle(text []byte, seed uint64, runs []RunID) []byte {
	for at := 0; at+hexLength <= len(text); {
		id, n := idAt(text[at:])
		if n == 0 {
			at++
			continue
		}
		if stable, ok := settled(id, seed, runs); ok {
			if n == hexLength {
				raw := uuid.MustParse(stable)
				stable = hex.EncodeToString(raw[:])
			}
			copy(text[at:], stable)
		}
		at += n
	}
	return text
}

func settled(id uuid.UUID, seed uint64, runs []RunID) (string, bool) {
	for _, run := range runs {
		if cycle, agent, ok := placeOf(run, id); ok {
			return SeedUUID(seed, cycle, agent), true
		}
	}
	return "", false
}

// idAt reads the version 8 UUID that a text begins with, with dashes or without; its length is 0 if there is none.
func idAt(text []byte) (id uuid.UUID, n int) {
	switch {
	case len(text) >= uuidLength && text[8] == '-' && text[14] == '8':
		n = uuidLength
	case text[12] == '8' && !slices.Contains(text[:hexLength], '-'):
		n = hexLength
	default:
		return id, 0
	}
	id, err := uuid.ParseBytes(text[:n])
	if err != nil {
		return id, 0
	}
	return id, n
}
