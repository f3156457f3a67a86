package fleet

import (
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/throng-sim/throng/engine/codec"
	"github.com/throng-sim/throng/engine/run/shards"
)

// TestGrantsOnTheWire checks that the tasks of grants arrive as sent, those that differ only in their agents in few bytes.
func TestGrantsOnTheWire(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var sent grant
		since := time.Duration(rapid.Int64().Draw(t, "since"))
		alike := rapid.Bool().Draw(t, "alike")
		for range rapid.IntRange(0, 5).Draw(t, "tasks") {
			of := task{Agent: rapid.Int32Range(0, 1000).Draw(t, "agent"), Since: since}
			if !alike {
				of.Take, of.Arrived, of.Begun = rapid.IntRange(0, 1).Draw(t, "take"), rapid.Bool().Draw(t, "arrived"), rapid.Bool().Draw(t, "begun")
			}
			sent.Tasks = append(sent.Tasks, of)
		}
		want := sent.Tasks
		sent.pack()
		if alike && len(sent.Tasks)+len(sent.Agents) > 2*len(want) {
			t.Errorf("%d tasks take %d bytes", len(want), len(sent.Agents))
		}
		got, err := record[grant](codec.AppendWire(nil, &sent))
		if err == nil {
			err = got.unpack()
		}
		if err != nil || len(got.Tasks) != len(want) || len(want) > 0 && !reflect.DeepEqual(got.Tasks, want) {
			t.Errorf("got %v, %v, want %v", got.Tasks, err, want)
		}
	})
}

// TestRepliesOnTheWire checks that the reply to a packet arrives as sent, and that no part of it does.
func TestRepliesOnTheWire(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sent := packetReply{At: time.Unix(0, rapid.Int64().Draw(t, "at")), Refused: rapid.String().Draw(t, "refused"), Failed: rapid.String().Draw(t, "failed"), Over: rapid.Bool().Draw(t, "over")}
		for range rapid.IntRange(0, 3).Draw(t, "leases") {
			sent.Stale = append(sent.Stale, shards.Lease{Shard: rapid.Uint64().Draw(t, "shard"), Epoch: rapid.Uint64().Draw(t, "epoch")})
		}
		data := sent.append(nil)
		if got, err := readPacketReply(data); err != nil || !reflect.DeepEqual(got, sent) {
			t.Errorf("got %+v, %v, want %+v", got, err, sent)
		}
		if _, err := readPacketReply(data[:rapid.IntRange(0, len(data)-1).Draw(t, "part")]); err == nil {
			t.Error("a part of a reply is taken for the whole")
		}
	})
}

// TestRequestsWithoutARun checks that a worker can read why its requests are refused after the run has ended.
func TestRequestsWithoutARun(t *testing.T) {
	for kind, read := range map[byte]func(data []byte) (string, error){
		packetRequest: func(data []byte) (string, error) { r, err := readPacketReply(data); return r.Refused, err },
		claimRequest:  func(data []byte) (string, error) { g, err := record[grant](data); return g.Refused, err },
		callRequest:   func(data []byte) (string, error) { r, err := record[reply](data); return r.Error, err },
	} {
		refuse(kind, func(data []byte) {
			if got, err := read(data); err != nil || got != noRun {
				t.Errorf("request of kind %d: got %q, %v", kind, got, err)
			}
		})
	}
}
