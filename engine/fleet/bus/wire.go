package bus

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"strconv"
	"strings"

	"github.com/throng-sim/throng/engine/fleet"
)

// The first byte of each message tells its kind, so that a message of one kind on the subject of another one is refused.
const (
	kindTicket = 'T' // a ticket
	kindOrder  = 'O' // an order
	kindBeat   = 'B' // a sign of life, with the revision of the newest order
	kindAcks   = 'A' // acknowledgements of tickets
	kindPart   = 'P' // part of a request
	kindNext   = 'N' // asks for a part of an answer
	kindLeave  = 'L' // the worker leaves
	kindRenew  = 'R' // asks for a new certificate
)

// The first byte of each answer tells how it went.
const (
	answerOK      = 0
	answerError   = 1 // a sentence follows
	answerRemoved = 2 // the worker was dismissed
)

var errMalformed = errors.New("a message of the fleet is damaged")

// proofSize is the length of the proof that a worker has received a ticket.
const proofSize = 16

// proof is a value that only receivers of a ticket know: workers show it when they acknowledge.
func proof(key []byte, ticket []byte) []byte {
	m := hmac.New(sha256.New, key)
	m.Write(ticket)
	return m.Sum(nil)[:proofSize]
}

// appendTicket encodes a ticket with its proof.
func appendTicket(key []byte, t fleet.Ticket) []byte {
	b := make([]byte, 1+proofSize, 1+proofSize+16+len(t.Run))
	b[0] = kindTicket
	b = binary.BigEndian.AppendUint64(b, t.Shard)
	b = binary.BigEndian.AppendUint64(b, t.Offer)
	b = append(b, t.Run...)
	copy(b[1:], proof(key, b[1+proofSize:]))
	return b
}

// readTicket decodes a ticket, without a look at its proof.
func readTicket(b []byte) (fleet.Ticket, error) {
	if len(b) < 1+proofSize+16 || b[0] != kindTicket {
		return fleet.Ticket{}, errMalformed
	}
	b = b[1+proofSize:]
	return fleet.Ticket{Shard: binary.BigEndian.Uint64(b), Offer: binary.BigEndian.Uint64(b[8:]), Run: string(b[16:])}, nil
}

// proven decodes a ticket and checks its proof.
func proven(key, b []byte) (fleet.Ticket, error) {
	t, err := readTicket(b)
	if err == nil && !hmac.Equal(b[1:1+proofSize], proof(key, b[1+proofSize:])) {
		err = errMalformed
	}
	return t, err
}

// order is an order with its revision. Later orders for a worker have higher ones.
type order struct {
	revision uint64
	content  []byte
}

// appendOrder encodes the order for a worker.
func appendOrder(worker string, o order) []byte {
	b := append([]byte{kindOrder, byte(len(worker))}, worker...)
	return append(binary.BigEndian.AppendUint64(b, o.revision), o.content...)
}

// readOrder decodes an order that must be for worker.
func readOrder(worker string, b []byte) (order, error) {
	head := string(append([]byte{kindOrder, byte(len(worker))}, worker...))
	if len(b) < len(head)+8 || string(b[:len(head)]) != head {
		return order{}, errMalformed
	}
	b = b[len(head):]
	return order{binary.BigEndian.Uint64(b), b[8:]}, nil
}

// Acknowledgements of a delivery, as JetStream writes them.
const (
	ackDone   = "+ACK"
	ackExtend = "+WPI"
	ackReturn = "-NAK"
)

// ack is an acknowledgement of a delivery.
type ack struct {
	what   string // one of the constants above
	reply  string // the subject on which JetStream expects it
	ticket []byte // as it was received
}

func appendAcks(b []byte, all []ack) []byte {
	b = append(b, kindAcks)
	for _, a := range all {
		for _, part := range []string{a.what, a.reply, string(a.ticket)} {
			b = binary.BigEndian.AppendUint16(b, uint16(len(part)))
			b = append(b, part...)
		}
	}
	return b
}

// readAcks decodes acknowledgements, after the kind.
func readAcks(b []byte) ([]ack, error) {
	var all []ack
	for len(b) > 0 {
		var parts [3][]byte
		for i := range parts {
			if len(b) < 2 || len(b) < 2+int(binary.BigEndian.Uint16(b)) {
				return nil, errMalformed
			}
			n := 2 + int(binary.BigEndian.Uint16(b))
			parts[i], b = b[2:n], b[n:]
		}
		a := ack{what: string(parts[0]), reply: string(parts[1]), ticket: parts[2]}
		if a.what != ackDone && a.what != ackExtend && a.what != ackReturn {
			return nil, errMalformed
		}
		all = append(all, a)
	}
	return all, nil
}

// delivery is what the reply subject of a delivered message tells.
type delivery struct {
	stream, consumer string
	count, sequence  uint64
}

// readDelivery reads the reply subject of a delivered message:
// $JS.ACK.STREAM.CONSUMER.COUNT.SEQUENCE.…, with a domain and an account before the stream in some clusters.
func readDelivery(reply string) (delivery, error) {
	t := strings.Split(reply, ".")
	if len(t) < 9 || t[0] != "$JS" || t[1] != "ACK" {
		return delivery{}, errMalformed
	}
	t = t[2:]
	if len(t) > 7 {
		t = t[2:]
	}
	if len(t) < 7 {
		return delivery{}, errMalformed
	}
	count, err := strconv.ParseUint(t[2], 10, 64)
	if err != nil {
		return delivery{}, errMalformed
	}
	sequence, err := strconv.ParseUint(t[3], 10, 64)
	if err != nil {
		return delivery{}, errMalformed
	}
	return delivery{t[0], t[1], count, sequence}, nil
}

// part is a part of a request or of an answer.
type part struct {
	id     uint64 // of the request, unique for the worker
	offset uint64
	size   uint64 // of the whole
	data   []byte
}

// partHead is the length of a part without its data.
const partHead = 1 + 24

// appendPart encodes a part after a first byte: its kind or how the request went.
func appendPart(first byte, p part) []byte {
	b := append(make([]byte, 0, partHead+len(p.data)), first)
	b = binary.BigEndian.AppendUint64(b, p.id)
	b = binary.BigEndian.AppendUint64(b, p.offset)
	b = binary.BigEndian.AppendUint64(b, p.size)
	return append(b, p.data...)
}

// readPart decodes a part, with its first byte.
func readPart(b []byte) (part, error) {
	if len(b) < partHead {
		return part{}, errMalformed
	}
	p := part{binary.BigEndian.Uint64(b[1:]), binary.BigEndian.Uint64(b[9:]), binary.BigEndian.Uint64(b[17:]), b[partHead:]}
	if p.offset > p.size || uint64(len(p.data)) > p.size-p.offset {
		return part{}, errMalformed
	}
	return p, nil
}
