package bus

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// partsInFlight is how many parts of a request or an answer are on their way: more would fill buffers, fewer would wait for the
// network.
const partsInFlight = 4

// Request implements [fleet.Link].
func (l *Link) Request(ctx context.Context, request []byte) ([]byte, error) {
	id := l.requests.Add(1)
	room := partSize(l.conn.Conn)
	last := (max(len(request), 1) - 1) / room * room // where the last part begins
	send := func(ctx context.Context, from, to int) ([]byte, error) {
		return l.ask(ctx, appendPart(kindPart, part{id, uint64(from), uint64(len(request)), request[from:to]}))
	}
	if last > 0 {
		g, limited := errgroup.WithContext(ctx)
		g.SetLimit(partsInFlight)
		for from := 0; from < last && limited.Err() == nil; from += room {
			g.Go(func() error {
				_, err := send(limited, from, from+room)
				return err
			})
		}
		if err := g.Wait(); err != nil {
			return nil, err
		}
	}
	b, err := send(ctx, last, len(request))
	if err != nil {
		return nil, err
	}
	first, err := readPart(append([]byte{answerOK}, b...))
	if err != nil || first.id != id || first.offset != 0 {
		return nil, errMalformed
	}
	if uint64(len(first.data)) == first.size {
		return first.data, nil
	}
	return l.rest(ctx, first)
}

// rest asks for the parts of an answer after the first one.
func (l *Link) rest(ctx context.Context, first part) ([]byte, error) {
	answer := make([]byte, first.size)
	step := copy(answer, first.data)
	if step == 0 {
		return nil, errMalformed
	}
	g, limited := errgroup.WithContext(ctx)
	g.SetLimit(partsInFlight)
	for from := step; from < len(answer) && limited.Err() == nil; from += step {
		g.Go(func() error {
			b, err := l.ask(limited, appendPart(kindNext, part{id: first.id, offset: uint64(from), size: first.size}))
			if err != nil {
				return err
			}
			p, err := readPart(append([]byte{answerOK}, b...))
			if err != nil || p.offset != uint64(from) || len(p.data) != min(step, len(answer)-from) {
				return errMalformed
			}
			copy(answer[from:], p.data)
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return answer, ctx.Err()
}
