package service

import (
	"bytes"
	"context"
	"math"
	"strconv"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/throng-sim/throng/engine"
)

// JWTMethods are the ways to sign a [JWT]: HMAC with SHA-2 (RFC 7518, section 3.2).
var JWTMethods = []string{jwt.SigningMethodHS256.Name, jwt.SigningMethodHS384.Name, jwt.SigningMethodHS512.Name}

// DefaultTTL is how long a JWT holds where nobody says.
const DefaultTTL = time.Hour

// JWT signs tokens with a secret (RFC 7519). Beside its claims a token says when it was made and when it expires, in
// wall time.
type JWT struct {
	Method string // one of JWTMethods
	Secret string
	Claims []byte        // a JSON object without iat and exp
	TTL    time.Duration // another takes the place of a token before nine tenths of it are over
}

var _ Issuer = (*JWT)(nil)

func (j *JWT) issue(context.Context, *Call) (*token, error) {
	now := time.Now()
	text, err := jwt.NewWithClaims(jwt.GetSigningMethod(j.Method), j.claims(now)).SignedString([]byte(j.Secret))
	if err != nil {
		return nil, engine.Fail(engine.ConfigError, "make a token: %w", err)
	}
	return &token{value: text, due: now.Add(j.TTL * 9 / 10)}, nil
}

// claims are all that a token says.
func (j *JWT) claims(now time.Time) jwtClaims {
	text := append([]byte(nil), bytes.TrimSuffix(j.Claims, []byte("}"))...)
	if len(text) > 1 {
		text = append(text, ',')
	}
	text = strconv.AppendInt(append(text, `"iat":`...), now.Unix(), 10)
	expires := math.Ceil(float64(now.Add(j.TTL).UnixMilli()) / 1000)
	text = strconv.AppendInt(append(text, `,"exp":`...), int64(expires), 10)
	return jwtClaims{text: append(text, '}')}
}

// jwtClaims are claims that are JSON already, in the order of the file; nothing here checks them.
type jwtClaims struct {
	jwt.MapClaims
	text []byte
}

// MarshalJSON implements json.Marshaler.
func (c jwtClaims) MarshalJSON() ([]byte, error) { return c.text, nil }
