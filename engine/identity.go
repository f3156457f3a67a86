package engine

import (
	"encoding/binary"
	"encoding/hex"
	"slices"

	"github.com/google/uuid"

	"github.com/throng-sim/throng/engine/internal/draw"
)

// A session ID contains a check of 62 bits and, masked by it, the cycle and the agent. A run can therefore recognize
// its own IDs in any text, and no two of its sessions share one.
const (
	agentBits  = 32
	cycleBits  = 28
	placeMask  = 1<<(agentBits+cycleBits) - 1
	checkMask  = 1<<62 - 1
	uuidLength = 36
	hexLength  = 32
)

// SessionUUID returns the ID of a session at services. It depends on the run, the cycle and the agent's index, and has
// the form of a version 8 UUID (RFC 9562). No two runs share an ID.
func SessionUUID(run RunID, cycle, agent int) string {
	check := checkOf(run, cycle, agent)
	place := (uint64(cycle)<<agentBits | uint64(uint32(agent))) & placeMask
	return uuidOf(place^maskOf(run, check), check)
}

// SeedUUID returns the ID of a session in results. It depends on the seed, the cycle and the agent's index, and has the same form.
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

// placeOf returns the cycle and agent of an ID from [SessionUUID] for the run. ok is false for any other ID.
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

// uuidOf combines 60 and 62 bits with the version and the variant.
func uuidOf(place, check uint64) string {
	var id uuid.UUID
	binary.BigEndian.PutUint64(id[:8], place>>12<<16|8<<12|place&0xfff)
	binary.BigEndian.PutUint64(id[8:], 0b10<<62|check)
	return id.String()
}

// SettleIDs returns text for results. It replaces the IDs of sessions of the run, and of the runs it was forked from,
// with their [SeedUUID], which all runs with the seed share. It may change text in place.
func (r HostRun) SettleIDs(text []byte, seed uint64) []byte {
	return Settle(text, seed, append([]RunID{r.Identity()}, r.Lineage...))
}

// Settle replaces the IDs of sessions of some runs, which share a seed, with their [SeedUUID]. It may change text in place.
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

// idAt parses the version 8 UUID at the beginning of text, with or without dashes. n is 0 if there is none.
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
