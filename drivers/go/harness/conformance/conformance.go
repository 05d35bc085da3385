// Package conformance tests that a driver does what it offers and rejects what it must. It speaks
// the protocol with the driver, as the lab does.
package conformance

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"jeton/harness"
)

// FlawedES512 names a known flaw: one of 512 ES512 signatures is wrong, because r is below 2^512 and its leading
// zeros are not written. Such a signature is made again.
const FlawedES512 = "flawed ES512 signatures"

// attempts makes a flawed signature unlikely: one of 512^4.
const attempts = 4

// Test tests a driver. known lists the negative controls that its library is known to accept, by
// their names in [subject.negativeControls], and [FlawedES512].
func Test(t *testing.T, driver *harness.Driver, known ...string) {
	for _, offer := range driver.Offers {
		name := []string{offer.Format}
		for _, part := range []*string{offer.Alg, offer.Enc} {
			if part != nil {
				name = append(name, *part)
			}
		}
		t.Run(strings.Join(name, " "), func(t *testing.T) {
			s := &subject{t: t, driver: driver, offer: offer, key: newKey(t, offer, 1), known: known}
			for _, pair := range [][2]string{
				{harness.OperationSign, harness.OperationVerify}, {harness.OperationEncrypt, harness.OperationDecrypt},
			} {
				if slices.Contains(offer.Operations, pair[0]) {
					s.tokens(pair[0], pair[1])
				}
			}
			s.signatures()
			s.keys()
		})
	}
}

type object = map[string]any

// subject is an offer and a key.
type subject struct {
	t      *testing.T
	driver *harness.Driver
	offer  harness.Offer
	key    key
	known  []string
}

// attempts returns how often a token may be made.
func (s *subject) attempts() int {
	if s.offer.Alg != nil && *s.offer.Alg == "ES512" && slices.Contains(s.known, FlawedES512) {
		return attempts
	}
	return 1
}

func (s *subject) isPaseto() bool { return s.offer.Alg == nil }

// isPlain reports whether this content encryption represents its family where a test is slow.
func (s *subject) isPlain() bool {
	return s.offer.Enc == nil || *s.offer.Enc == "A256GCM" || *s.offer.Enc == "A128CBC-HS256"
}

func (s *subject) tokens(sign, check string) {
	for _, handling := range s.offer.KeyHandling {
		for _, name := range []string{"standard", "other"} {
			claims := s.claims()
			if name == "other" {
				claims["deep"] = object{"numbers": []any{7.0}}
			}
			signer := s.prepare(sign, handling, name, claims)
			token := signer.token()
			checker := s.prepare(check, handling, name, claims, token)
			seen := checker.verify(token)
			if seen["accepted"] != true {
				s.t.Fatalf("%s rejects its own token: %v", check, seen)
			}
			if !sameClaims(claims, seen["claims"]) {
				s.t.Errorf("signed %v, returned %v", claims, seen["claims"])
			}
			if got := checker.run(3, 2); got != 6*'F' {
				s.t.Errorf("the checksum of %s is %v", check, got)
			}
			if handling == harness.Prepared && s.isPlain() {
				s.rejections(sign, name, checker, token)
			}
			s.roundTrip(handling, name, claims, len(token))
		}
	}
}

func (s *subject) roundTrip(handling, name string, claims object, length int) {
	if !slices.Contains(s.offer.Operations, harness.OperationRoundTrip) {
		return
	}
	// The last byte of a fresh token can be any base64url character.
	last := s.prepare(harness.OperationRoundTrip, handling, name, claims).runFresh() - float64(length) - 'F'
	if last < '-' || last > 'z' {
		s.t.Errorf("the checksum of round-trip is off by %v", last)
	}
}

func (s *subject) rejections(sign, name string, checker *exchange, token string) {
	for what, forged := range s.negativeControls(sign, token) {
		if answer := checker.verify(forged); answer["accepted"] != slices.Contains(s.known, what) {
			s.t.Errorf("accepted %v: %s: %s", answer["accepted"], what, forged)
		}
	}
	for what, claims := range map[string]object{
		"an expired token":      s.with("exp", s.at(-5*time.Second)),
		"a token not valid yet": s.with("nbf", s.at(5*time.Minute)),
		"another issuer":        s.with("iss", "https://impostor.example"),
		"no issuer":             s.with("iss", nil),
		"another audience":      s.with("aud", s.audience("elsewhere")),
		"no audience":           s.with("aud", nil),
		"no expiry":             s.with("exp", nil),
	} {
		wrong := s.prepare(sign, harness.Prepared, "other", claims).token()
		if answer := checker.verify(wrong); answer["accepted"] != false {
			s.t.Errorf("%s claims: accepts %s", name, what)
		}
	}
	if checker.verify(token)["accepted"] != true {
		s.t.Error("rejects a valid token after the negative controls")
	}
}

// signatures tests `verify-signature` and `verify-parsed`, which ignore the claims.
func (s *subject) signatures() {
	for _, operation := range []string{harness.OperationVerifySignature, harness.OperationVerifyParsed} {
		if slices.Contains(s.offer.Operations, operation) {
			s.signature(operation)
		}
	}
}

func (s *subject) signature(operation string) {
	token := s.prepare(harness.OperationSign, harness.Prepared, "standard", s.claims()).token()
	checker := s.prepare(operation, harness.Prepared, "standard", s.claims(), token)
	if answer := checker.verify(token); answer["accepted"] != true || answer["claims"] != nil {
		s.t.Errorf("%s answered %v", operation, answer)
	}
	for what, forged := range s.negativeControls(harness.OperationSign, token) {
		if answer := checker.verify(forged); answer["accepted"] != false {
			s.t.Errorf("%s accepts %s: %s", operation, what, forged)
		}
	}
	if got := checker.run(3, 2); got != 6 {
		s.t.Errorf("the checksum of %s is %v", operation, got)
	}
}

// keys tests key generation and loading.
func (s *subject) keys() {
	if slices.Contains(s.offer.Operations, harness.OperationGenerateKey) {
		if got := s.prepare(harness.OperationGenerateKey, harness.Prepared, "standard", s.claims()).run(1, 2); got != 2 {
			s.t.Errorf("the checksum of generate-key is %v", got)
		}
	}
	for _, form := range s.offer.KeyText {
		if got := s.prepare(harness.OperationLoadKey, form, "standard", s.claims()).run(3, 1); got != 3 {
			s.t.Errorf("the checksum of load-key is %v", got)
		}
	}
}

// negativeControls returns tokens that were changed or made without the key.
func (s *subject) negativeControls(sign, token string) map[string]string {
	forged := map[string]string{
		"nothing": "", "a dot": ".", "two dots": "..", "four dots": "....", "a cut token": token[:len(token)-9],
	}
	if !s.isPaseto() { // whose optional footer may be there and be empty
		forged["an extra dot"] = token + "."
	}
	parts := strings.Split(token, ".")
	for i, part := range parts {
		if part == "" {
			continue
		}
		middle, other := len(part)/2, byte('A')
		if part[middle] == other {
			other = 'B'
		}
		changed := slices.Clone(parts)
		changed[i] = part[:middle] + string(other) + part[middle+1:]
		forged["changed part "+strconv.Itoa(i)] = strings.Join(changed, ".")
	}
	stranger := *s
	stranger.key = newKey(s.t, s.offer, 2)
	forged["another key's token"] = stranger.prepare(sign, harness.Prepared, "standard", s.claims()).token()

	payload, _ := json.Marshal(s.claims())
	for _, none := range []string{"none", "None", "NONE"} {
		unsigned := encoded(`{"alg":"`+none+`"}`) + "." + encoded(string(payload)) + "."
		forged["alg "+none] = unsigned
		forged["alg "+none+" with a signature"] = unsigned + parts[len(parts)-1]
	}
	input := encoded(`{"alg":"HS256"}`) + "." + encoded(string(payload))
	mac := hmac.New(sha256.New, nil)
	mac.Write([]byte(input))
	forged["an empty key's token"] = input + "." + encoded(string(mac.Sum(nil)))
	return forged
}

func (s *subject) claims() object {
	return object{
		"iss": "https://issuer.example", "sub": "user", "aud": s.audience("api"), "exp": s.at(time.Hour),
		"iat": s.at(0), "jti": "0123456789abcdeF", "name": "John", "admin": true,
	}
}

// with changes a claim, or removes it.
func (s *subject) with(claim string, value any) object {
	claims := s.claims()
	claims[claim] = value
	maps.DeleteFunc(claims, func(_ string, value any) bool { return value == nil })
	return claims
}

func (s *subject) at(later time.Duration) any {
	moment := time.Now().Add(later).UTC().Truncate(time.Second)
	if s.isPaseto() {
		return moment.Format(time.RFC3339)
	}
	return float64(moment.Unix())
}

func (s *subject) audience(one string) any {
	if s.isPaseto() {
		return one
	}
	return []any{one}
}

// exchange is a session that is ready for one operation.
type exchange struct {
	t        *testing.T
	driver   *harness.Driver
	prepare  []byte
	attempts int
}

func (s *subject) prepare(operation, handling, name string, claims object, tokens ...string) *exchange {
	s.t.Helper()
	request := object{
		"op": "prepare", "contract": operation, "format": s.offer.Format, "alg": s.offer.Alg, "enc": s.offer.Enc,
		"key_handling": handling, "keys": s.key.sent(operation), "tokens": tokens,
		"claims": object{"name": name, "values": []object{claims}},
		"policy": object{"issuer": "https://issuer.example", "audience": "api"},
	}
	if operation == harness.OperationLoadKey {
		request["key_text"] = s.key.text(handling)
	}
	line, err := json.Marshal(request)
	if err != nil {
		s.t.Fatal(err)
	}
	ready := &exchange{s.t, s.driver, line, s.attempts()}
	ready.ask(nil)
	return ready
}

// ask sends `prepare` and one request in a new session. The answer must be ok.
func (t *exchange) ask(request object) object {
	t.t.Helper()
	answer, line := t.once(request)
	if line != "" {
		t.t.Fatalf("%.200s answered %s", t.prepare, line)
	}
	return answer
}

// once returns the last answer, and the line that is not ok.
func (t *exchange) once(request object) (object, string) {
	t.t.Helper()
	input := bytes.NewBuffer(append(slices.Clone(t.prepare), '\n'))
	if request != nil {
		if err := json.NewEncoder(input).Encode(request); err != nil {
			t.t.Fatal(err)
		}
	}
	var output bytes.Buffer
	if err := t.driver.ServeOn(input, &output); err != nil {
		t.t.Fatal(err)
	}
	var answer object
	for line := range strings.Lines(output.String()) {
		answer = nil
		err := json.Unmarshal([]byte(line), &answer)
		if answer["error"] == "unsupported" {
			// The library does not offer this key or claims set, and the driver's reason says so.
			t.t.Skip(answer["reason"])
		}
		if err != nil || answer["ok"] != true {
			return nil, line
		}
	}
	return answer, ""
}

func (t *exchange) token() string {
	t.t.Helper()
	for range t.attempts - 1 {
		token := t.ask(object{"op": "token", "index": 0})["token"].(string)
		if !isFlawedES512(token) {
			return token
		}
	}
	return t.ask(object{"op": "token", "index": 0})["token"].(string)
}

// isFlawedES512 reports whether r is longer than the 521 bits of the field. A flawed signature has a byte of the
// digest there.
func isFlawedES512(token string) bool {
	signature, err := base64.RawURLEncoding.DecodeString(token[strings.LastIndexByte(token, '.')+1:])
	return err == nil && signature[0] > 1
}

func (t *exchange) verify(token string) object {
	t.t.Helper()
	return t.ask(object{"op": "verify", "token": token})
}

func (t *exchange) run(iterations, threads int) float64 {
	t.t.Helper()
	return t.ask(object{"op": "run", "iterations": iterations, "threads": threads})["checksum"].(float64)
}

// runFresh runs once with a fresh token. It stays in the driver, so a flawed one is known by the answer.
func (t *exchange) runFresh() float64 {
	t.t.Helper()
	for range t.attempts - 1 {
		answer, line := t.once(object{"op": "run", "iterations": 1, "threads": 1})
		if line == "" {
			return answer["checksum"].(float64)
		}
		if !strings.Contains(line, "signature mismatch") {
			break
		}
	}
	return t.run(1, 1)
}

func sameClaims(signed object, seen any) bool {
	claims, ok := seen.(object)
	if !ok {
		return false
	}
	claims = maps.Clone(claims)
	if one, ok := claims["aud"].(string); ok && one != signed["aud"] {
		claims["aud"] = []any{one}
	}
	if many, ok := claims["aud"].([]any); ok && len(many) == 1 && many[0] == signed["aud"] {
		claims["aud"] = many[0]
	}
	return reflect.DeepEqual(signed, claims)
}

func encoded(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
