package mock

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
)

const (
	loginPath = "/auth/login"
	// loginToken is the prefix of the tokens that a login returns: login.<number>.<mac>.<user id>.
	loginToken = "login."
	// liveTokens is the number of a user's tokens that are valid at the same time, if tokens expire at all.
	liveTokens = 16
	// tokenSeconds is the lifetime that a login reports for its token. In fact only requests use it up (Faults.TokenRequests).
	tokenSeconds = 3600
)

// loginRoute is not in the table of routes because its caller has no token yet.
var loginRoute = route{method: http.MethodPost, path: loginPath, read: storefront.login}

// credentials are the body of a login.
type credentials struct {
	User     string `json:"user"`
	Password string `json:"password"`
}

// signUp identifies the user who logs in. The shop's secret is the password of every user. A request that is already signed with the
// secret, as Throng's own are, may log in any user.
func (x *exchange) signUp() *refusal {
	if x.r.Method != http.MethodPost {
		return x.wrongMethod([]string{http.MethodPost})
	}
	if !x.readBody() {
		return bad(badBody)
	}
	var who credentials
	if no := decode(x.body, &who); no != nil {
		return no
	}
	if who.User == "" || len(who.User) > maxUserID || strings.ContainsFunc(who.User, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return bad("user must be a text of 1 to " + strconv.Itoa(maxUserID) + " bytes")
	}
	signed := strings.HasPrefix(x.r.Header.Get("Authorization"), x.shop.bearer)
	if !signed && subtle.ConstantTimeCompare([]byte(who.Password), []byte(x.shop.cfg.Secret)) == 0 {
		x.w.Header().Set("WWW-Authenticate", "Bearer")
		return &refusal{http.StatusUnauthorized, "Wrong user or password"}
	}
	x.request.User, x.route = who.User, &loginRoute
	return x.known()
}

// login answers with a new token of the user, whose lock is held.
func (x storefront) login(b []byte) ([]byte, *refusal) {
	u := x.user
	u.logins++
	if x.shop.network.Load().faults.TokenRequests > 0 {
		if u.spent == nil {
			u.spent = map[int64]int{}
		}
		u.spent[u.logins] = 0
		delete(u.spent, u.logins-liveTokens)
	}
	b = appendText(append(b, `{"access_token":`...), x.shop.loginToken(u.id, u.logins))
	b = append(b, `,"token_type":"bearer","expires_in":`...)
	return append(strconv.AppendInt(b, tokenSeconds, 10), '}'), nil
}

// loginToken returns the token of a user's login with a given number. The shop does not store tokens: it signs them.
func (s *Shop) loginToken(user string, number int64) string {
	mac := hmac.New(sha256.New, []byte(s.cfg.Secret))
	mac.Write([]byte(strconv.FormatInt(number, 10) + "." + user))
	return loginToken + strconv.FormatInt(number, 10) + "." + hex.EncodeToString(mac.Sum(nil)) + "." + user
}

// loggedIn reads a token that a login returned.
func (x *exchange) loggedIn(token string) (user string, number int64, ok bool) {
	rest, ok := strings.CutPrefix(token, loginToken)
	if !ok || len(token) > maxUserID+128 {
		return "", 0, false
	}
	text, rest, _ := strings.Cut(rest, ".")
	_, user, _ = strings.Cut(rest, ".")
	number, err := strconv.ParseInt(text, 10, 64)
	if err != nil || user == "" {
		return "", 0, false
	}
	return user, number, subtle.ConstantTimeCompare([]byte(token), []byte(x.shop.loginToken(user, number))) == 1
}

// spend counts a request against its token and reports whether the token is still valid. Number 0 is a token that did not come from a
// login: it never expires.
func (x *exchange) spend(number int64) bool {
	most := x.shop.network.Load().faults.TokenRequests
	if number == 0 || most == 0 {
		return true
	}
	u := x.user
	u.mu.Lock()
	defer u.mu.Unlock()
	spent, live := u.spent[number]
	if !live || spent >= most {
		return false
	}
	u.spent[number]++
	return true
}
