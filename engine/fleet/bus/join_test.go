package bus

import (
	"runtime"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine/enginetest/proxy"
)

// TestInterruptedJoin resets the connection of a worker while it asks for an identity, and while it begins to listen. It joins.
func TestInterruptedJoin(t *testing.T) {
	t.Parallel()
	s := serve(t, Config{}, newRecorder())
	for what, c := range map[string]struct {
		at     string // it is reset before this text passes
		before int64  // connections
	}{
		"enrolls": {"PUB " + s.names.enroll(), 1},
		"listens": {"SUB " + s.names.order("a"), 2},
	} {
		t.Run(what, func(t *testing.T) {
			address := s.embedded.line.address
			line := proxy.NewLine(t, address)
			line.Be(proxy.Trouble{ResetAt: [2]string{proxy.ToServer: c.at}})
			ctx, healed := within(t), make(chan struct{})
			go func() {
				for line.Connections() <= c.before && ctx.Err() == nil {
					runtime.Gosched()
				}
				line.Be(proxy.Trouble{})
				close(healed)
			}()
			l, err := Join(ctx, strings.Replace(s.Join(), address, line.Addr().String(), 1), WorkerConfig{Name: "a"})
			if err != nil {
				t.Fatal(err)
			}
			<-healed
			for l.Beat(ctx) != nil && ctx.Err() == nil { // it is being restored
				runtime.Gosched()
			}
			if ctx.Err() != nil {
				t.Error("the connection was not reset, or not restored")
			}
			if err := l.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
