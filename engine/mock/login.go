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
	// loginToken begins the tokens that a login gives: login.<number>.<mac>.<user id>.
	loginToken = "login."
	// liveTokens is how many tokens of a user hold at once where they expire at all.
	liveTokens = 16
	// tokenSeconds is what a login says of its token's life. Only requests use it up (Faults.TokenRequests).
	tokenSeconds = 3600
)

// loginRoute is beside the table: its caller is not known by a token yet.
var loginRoute = route{method: http.MethodPost, path: loginPath, read: (*exchange).login}

// credentials are the body of a login.
type credentials struct {
	User     string `json:"user"`
	Password string `json:"password"`
}

// signUp finds out who logs in. The password of everybody is the shop's secret; a request that is signed with that
// already, as Throng's own are, may log anybody in.
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
func (x *exchange) login(b []byte) ([]byte, *refusal) {
	u := x.user
	u.logins++
	if x.shop.weather.Load().faults.TokenRequests > 0 {
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

// loginToken is what a user's login of a number is answered with. The shop keeps no token: it signs them.
func (s *Shop) loginToken(user string, number int64) string {
	mac := hmac.New(sha256.New, []byte(s.cfg.Secret))
	mac.Write([]byte(strconv.FormatInt(number, 10) + "." + user))
	return loginToken + strconv.FormatInt(number, 10) + "." + hex.EncodeToString(mac.Sum(nil)) + "." + user
}

// loggedIn reads a token that a login gave.
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

// spend counts a request against its token and reports whether that still holds. A number of 0 is a token that was not
// given by a login: it holds always.
func (x *exchange) spend(number int64) bool {
	most := x.shop.weather.Load().faults.TokenRequests
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
