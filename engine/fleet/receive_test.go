package fleet

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/codec"
)

// slowHost is the host of a run on a slow disk: no row becomes durable before the context ends.
type slowHost struct {
	engine.Host
	ctx context.Context
}

func (h slowHost) Context() context.Context { return h.ctx }
func (h slowHost) Append(...engine.Row)     {}

func (h slowHost) Commit(ctx context.Context, _ ...engine.Row) error {
	<-ctx.Done()
	return ctx.Err()
}

// TestRepeatedPacket checks that the coordinator keeps only the newest copy of a packet while its rows wait for a slow disk, and answers
// that one.
func TestRepeatedPacket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithCancel(t.Context())
		p := intake{&Pool{host: slowHost{ctx: ctx}, order: newChannelLock(), clients: map[string]*client{"w": newClient(1)}}}
		p.cfg.Rescue = func() {}
		w := p.clients["w"]
		w.joined = true
		body := appendFrame(appendUints(nil, 1, 1, 1), rowFrame, func(dst []byte) []byte {
			return appendRow(dst, nil, codec.AppendJournaled(nil, engine.ChangeRow{}))
		})
		const copies = 100
		answered, failed := make([]int, copies), ""
		for i := range copies {
			p.packet("w", body, func(data []byte) {
				answered[i]++
				if r, err := readPacketReply(data); err == nil {
					failed = r.Failed
				}
			})
		}
		synctest.Wait()
		for i, n := range answered {
			if waits := i == copies-1; n == 0 != waits {
				t.Errorf("before the reply is known, copy %d has %d answers", i, n)
			}
		}
		end()
		synctest.Wait()
		for i, n := range answered {
			if n != 1 {
				t.Errorf("copy %d has %d answers", i, n)
			}
		}
		if failed == "" {
			t.Error("the newest copy has no reply")
		}
	})
}
