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

// JWTMethods are the methods to sign a [JWT]: HMAC with SHA-2 (RFC 7518, section 3.2).
var JWTMethods = []string{jwt.SigningMethodHS256.Name, jwt.SigningMethodHS384.Name, jwt.SigningMethodHS512.Name}

// DefaultTTL is the default lifetime of a JWT.
const DefaultTTL = time.Hour

// JWT signs tokens with a secret (RFC 7519). In addition to its claims, a token contains when it was created and when it expires,
// in wall time.
type JWT struct {
	Method string // one of JWTMethods
	Secret string
	Claims []byte        // a JSON object without iat and exp
	TTL    time.Duration // lifetime; a token is replaced after nine tenths of it
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

// claims returns all claims of a token.
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

// jwtClaims are claims that are JSON already, in file order. They are not checked here.
type jwtClaims struct {
	jwt.MapClaims
	text []byte
}

// MarshalJSON implements json.Marshaler.
func (c jwtClaims) MarshalJSON() ([]byte, error) { return c.text, nil }
