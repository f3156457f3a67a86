package bus

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const (
	// bundlePart is how much of a bundle is in a message.
	bundlePart = 128 << 10
	// bundleBatch is how many messages of a bundle are on their way.
	bundleBatch = 32
)

// Publish implements [fleet.Bus]. It writes the object's messages itself: the client's own writer leaves goroutines.
func (s *Server) Publish(ctx context.Context, name string, bundle []byte) error {
	if s.config.URL != "" {
		s.kept.add(name, bundle)
	}
	err := s.publish(ctx, name, bundle)
	if err != nil {
		return fmt.Errorf("publish %s to the workers: %w", name, err)
	}
	return nil
}

// kept are the bundles of the run, in case a cluster loses them. The zero value has none.
type kept struct {
	mu   sync.Mutex
	all  map[string][]byte
	lost map[string][]byte // of these, those that the cluster does not have any more
}

func (k *kept) add(name string, bundle []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.all == nil {
		k.all, k.lost = map[string][]byte{}, map[string][]byte{}
	}
	k.all[name] = bundle
}

func (k *kept) lose() {
	k.mu.Lock()
	defer k.mu.Unlock()
	maps.Copy(k.lost, k.all)
}

func (k *kept) clear() {
	k.mu.Lock()
	defer k.mu.Unlock()
	clear(k.all)
	clear(k.lost)
}

// publishAgain publishes the bundles that a cluster has lost.
func (s *Server) publishAgain() error {
	s.kept.mu.Lock()
	lost := maps.Clone(s.kept.lost)
	s.kept.mu.Unlock()
	for name, bundle := range lost {
		if err := s.publish(s.ctx, name, bundle); err != nil {
			return err
		}
		s.kept.mu.Lock()
		delete(s.kept.lost, name)
		s.kept.mu.Unlock()
	}
	return nil
}

func (s *Server) publish(ctx context.Context, name string, bundle []byte) error {
	earlier, err := s.bundles.GetInfo(ctx, name)
	if err != nil && !errors.Is(err, jetstream.ErrObjectNotFound) {
		return err //nolint:wrapcheck // Publish wraps it
	}
	sum := sha256.Sum256(bundle)
	info := jetstream.ObjectInfo{
		ObjectMeta: jetstream.ObjectMeta{Name: name}, Bucket: s.names.bundlesBucket(), NUID: random(), ModTime: time.Now().UTC(),
		Size: uint64(len(bundle)), Digest: digest(sum[:]),
	}
	size := min(bundlePart, partSize(s.conn.Conn))
	for part := range slices.Chunk(bundle, size) {
		if _, err := s.js.Publish(ctx, s.names.bundleParts(info.NUID), part); err != nil {
			return err //nolint:wrapcheck // Publish wraps it
		}
		info.Chunks++
	}
	meta, err := json.Marshal(info)
	if err != nil {
		return err
	}
	_, err = s.js.PublishMsg(ctx, &nats.Msg{
		Subject: s.names.bundleMeta(name), Data: meta, Header: nats.Header{jetstream.MsgRollup: {jetstream.MsgRollupSubject}},
	})
	if err != nil || earlier == nil {
		return err //nolint:wrapcheck // Publish wraps it
	}
	stream, err := s.js.Stream(ctx, "OBJ_"+s.names.bundlesBucket())
	if err != nil {
		return err //nolint:wrapcheck // Publish wraps it
	}
	return stream.Purge(ctx, jetstream.WithPurgeSubject(s.names.bundleParts(earlier.NUID))) //nolint:wrapcheck // Publish wraps it
}

// digest is how an object store writes the SHA-256 of an object.
func digest(sum []byte) string { return "SHA-256=" + base64.URLEncoding.EncodeToString(sum) }

// Bundle implements [fleet.Link]. It reads the object's messages directly: the client's own reader makes a consumer, which workers
// must not, because a consumer can deliver to any subject.
func (l *Link) Bundle(ctx context.Context, name string) ([]byte, error) {
	m, err := l.conn.ask(ctx, l.names.bundleInfo(name), nil, l.config.Timeout)
	if err != nil {
		return nil, fmt.Errorf("read bundle %s: %w", name, err)
	}
	var info jetstream.ObjectInfo
	if m.Header.Get("Status") == "" {
		if err := json.Unmarshal(m.Data, &info); err != nil {
			return nil, fmt.Errorf("read bundle %s: %w", name, err)
		}
	}
	if info.NUID == "" || info.Deleted {
		return nil, fmt.Errorf("the coordinator has no bundle %s", name)
	}
	content := make([]byte, 0, info.Size)
	next := uint64(1)
	for uint64(len(content)) < info.Size {
		before := len(content)
		if content, next, err = l.bundleBatch(ctx, info.NUID, content, next); err != nil {
			return nil, fmt.Errorf("read bundle %s: %w", name, err)
		}
		if len(content) == before || uint64(len(content)) > info.Size {
			return nil, fmt.Errorf("bundle %s is incomplete: the coordinator has replaced it", name)
		}
	}
	sum := sha256.Sum256(content)
	if info.Digest != digest(sum[:]) {
		return nil, fmt.Errorf("bundle %s is damaged", name)
	}
	return content, nil
}

// bundleBatch appends the next messages of a bundle to its content, and returns the sequence after them.
func (l *Link) bundleBatch(ctx context.Context, id string, content []byte, next uint64) ([]byte, uint64, error) {
	inbox := l.conn.NewInbox()
	s, err := l.conn.SubscribeSync(inbox)
	if err != nil {
		return nil, 0, fmt.Errorf("wait for an answer: %w", err)
	}
	defer func() { _ = s.Unsubscribe() }() // the connection may have ended
	body := fmt.Appendf(nil, `{"seq":%d,"next_by_subj":%q,"batch":%d}`, next, l.names.bundleParts(id), bundleBatch)
	if err := l.conn.PublishRequest(l.names.readBundles(), inbox, body); err != nil {
		return nil, 0, fmt.Errorf("ask: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, l.config.Timeout)
	defer cancel()
	for {
		m, err := s.NextMsgWithContext(ctx)
		switch {
		case errors.Is(err, nats.ErrNoResponders):
			return nil, 0, errors.New("the server has no bundles: the coordinator has ended or was restarted")
		case err != nil:
			return nil, 0, fmt.Errorf("wait for an answer: %w", err)
		case m.Header.Get("Status") != "": // the end of the batch
			return content, next, nil
		}
		sequence, err := strconv.ParseUint(m.Header.Get("Nats-Sequence"), 10, 64)
		if err != nil {
			return nil, 0, errMalformed
		}
		content, next = append(content, m.Data...), sequence+1
	}
}
