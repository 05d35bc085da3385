package harness

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"
)

// signed are the tokens of the fake library. `jti` values end with the byte that a checksum must
// contain.
var signed = []string{"token-a", "token-bb"}

func fakeDriver() *Driver {
	return &Driver{
		Library: "fake",
		Module:  "example/fake",
		Offers: LoadingKeys(JWTOffers([]string{
			OperationSign, OperationVerify, OperationVerifySignature, OperationVerifyParsed, OperationRoundTrip,
			OperationGenerateKey,
		}, "HS256"), FormPEM),
		Sign: func(p *Prepare) (*Operation, error) {
			key, err := Key(p, p.PrivateKey)
			if err != nil {
				return nil, err
			}
			return Signing(p, func(index int) (string, error) {
				_, err := key()
				return signed[index], err
			})
		},
		Verify: func(p *Prepare) (*Operation, error) {
			return Verifying(p, func(token string) (map[string]any, error) {
				return map[string]any{"jti": token}, fakeCheck(token)
			}, JTI, func(claims map[string]any) any { return claims })
		},
		VerifySignature: func(p *Prepare) (*Operation, error) {
			return VerifyingSignature(p, func(token []byte) error { return fakeCheck(string(token)) })
		},
		VerifyParsed: func(p *Prepare) (*Operation, error) {
			parse := func(token string) (string, error) { return token, nil }
			return VerifyingParsed(p, parse, fakeCheck)
		},
		GenerateKey: func(*Prepare) (*Operation, error) {
			return MakingKeys(func() ([]byte, error) { return make([]byte, 32), nil })
		},
		LoadKey: func(p *Prepare) (*Operation, error) {
			return MakingKeys(func() (string, error) { return p.KeyText.Private, fakeCheck(p.KeyText.Private) })
		},
	}
}

func fakeCheck(token string) error {
	switch token {
	case "panic":
		panic("out of\nrange")
	case "bad":
		return errors.New("bad token")
	}
	return nil
}

func prepareLine(operation string, tokens ...string) string {
	line, _ := json.Marshal(map[string]any{
		"op": "prepare", "contract": operation, "format": "jwt", "alg": "HS256", "enc": nil,
		"key_handling": "prepared",
		"keys":         map[string]any{"private": map[string]any{"kty": "oct", "k": "AAAA"}, "public": nil, "paserk": nil},
		"claims":       map[string]any{"name": "standard", "values": []any{map[string]any{}, map[string]any{}}},
		"tokens":       tokens,
	})
	return string(line)
}

// exchange sends the lines to a new session and gives its answers.
func exchange(t *testing.T, lines ...string) []map[string]any {
	t.Helper()
	var output bytes.Buffer
	input := strings.NewReader(strings.Join(lines, "\n"))
	if err := (&session{driver: fakeDriver()}).serve(input, &output); err != nil {
		t.Fatal(err)
	}
	var answers []map[string]any
	for line := range strings.Lines(output.String()) {
		var answer map[string]any
		if err := json.Unmarshal([]byte(line), &answer); err != nil {
			t.Fatalf("answered %q: %v", line, err)
		}
		answers = append(answers, answer)
	}
	return answers
}

func last(t *testing.T, lines ...string) map[string]any {
	t.Helper()
	answers := exchange(t, lines...)
	if len(answers) != len(lines) {
		t.Fatalf("%d answers to %d requests", len(answers), len(lines))
	}
	return answers[len(answers)-1]
}

func TestHelloReportsVersionAndOffers(t *testing.T) {
	answer := last(t, `{"op":"hello","protocol":1}`)
	if answer["ok"] != true || answer["library"] != "fake" || answer["protocol"] != 1.0 {
		t.Errorf("answered %v", answer)
	}
	offer := answer["offers"].([]any)[0].(map[string]any)
	if enc, ok := offer["enc"]; offer["alg"] != "HS256" || !ok || enc != nil {
		t.Errorf("offers %v", offer)
	}
}

func TestInvalidRequestGetsAnErrorAnswer(t *testing.T) {
	for line, kind := range map[string]string{
		"":                            "invalid",
		"nonsense":                    "invalid",
		"[]":                          "invalid",
		`{"op":"dance"}`:              "invalid",
		`{"op":7}`:                    "invalid",
		`{"op":"hello","protocol":2}`: "unsupported",
		`{"op":"prepare"}`:            "unsupported",
		`{"op":"token","index":0}`:    "invalid",
		`{"op":"verify","token":"x"}`: "invalid",
		`{"op":"run","iterations":1,"threads":1}`:                                       "invalid",
		strings.Repeat("x", lineBytesMax+1):                                             "invalid",
		strings.Replace(prepareLine(OperationSign), "HS256", "ES256", 1):                "unsupported",
		strings.Replace(prepareLine(OperationSign), `"enc":null`, `"enc":"A128GCM"`, 1): "unsupported",
		strings.Replace(prepareLine(OperationSign), `"kty":"oct"`, `"kty":"odd"`, 1):    "invalid",
	} {
		answers := exchange(t, line, `{"op":"hello","protocol":1}`)
		if len(answers) != 2 || answers[0]["ok"] != false || answers[0]["error"] != kind || answers[1]["ok"] != true {
			t.Errorf("%.80q: answered %v, want %s", line, answers[0], kind)
		}
	}
}

func TestLineAtTheLimitIsRead(t *testing.T) {
	const start, end = `{"op":"hello","protocol":1,"padding":"`, `"}`
	full := start + strings.Repeat("x", lineBytesMax-len(start)-len(end)-1) + end // 1 for the line's end
	answers := exchange(t, full, full+" ", full)
	if len(answers) != 3 || answers[0]["ok"] != true || answers[1]["error"] != "invalid" || answers[2]["ok"] != true {
		t.Errorf("answered %v", answers)
	}
}

func TestByeEndsTheSession(t *testing.T) {
	answers := exchange(t, `{"op":"bye"}`, `{"op":"hello","protocol":1}`)
	if len(answers) != 1 || answers[0]["ok"] != true {
		t.Errorf("answered %v", answers)
	}
}

func TestTokenUsesTheClaimsAtItsIndex(t *testing.T) {
	if answer := last(t, prepareLine(OperationSign), `{"op":"token","index":1}`); answer["token"] != signed[1] {
		t.Errorf("answered %v", answer)
	}
	for _, index := range []string{"-1", "2"} {
		if answer := last(t, prepareLine(OperationSign), `{"op":"token","index":`+index+`}`); answer["error"] != "invalid" {
			t.Errorf("index %s: answered %v", index, answer)
		}
	}
}

func TestVerifyReturnsClaimsOrReason(t *testing.T) {
	answer := last(t, prepareLine(OperationVerify), `{"op":"verify","token":"good"}`)
	if claims, _ := answer["claims"].(map[string]any); answer["accepted"] != true || claims["jti"] != "good" {
		t.Errorf("answered %v", answer)
	}
	answer = last(t, prepareLine(OperationVerify), `{"op":"verify","token":"bad"}`)
	if answer["ok"] != true || answer["accepted"] != false || answer["reason"] != "bad token" {
		t.Errorf("answered %v", answer)
	}
	answer = last(t, prepareLine(OperationVerify), `{"op":"verify","token":"panic"}`)
	if answer["ok"] != true || answer["accepted"] != false || answer["reason"] != "panic: out of range" {
		t.Errorf("answered %v", answer)
	}
	answer = last(t, prepareLine(OperationVerifySignature), `{"op":"verify","token":"good"}`)
	if claims, ok := answer["claims"]; answer["accepted"] != true || !ok || claims != nil {
		t.Errorf("answered %v", answer)
	}
}

func TestClaimsThatJSONCannotExpressAreNull(t *testing.T) {
	for _, claims := range []string{
		`{"a":"\ud800"}`, `{"a":"\ud800\u0041"}`, `{"a":"\udc00\ud800"}`, `{"a":"x\\\udfff"}`, "{\"a\":\"\xff\"}",
		`{"a":NaN}`, strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000), "",
	} {
		if written(json.RawMessage(claims)) != nil {
			t.Errorf("%.40s is written", claims)
		}
	}
	for _, claims := range []string{`{"a":"\ud83d\ude00"}`, `{"a":"\\ud800"}`, `{"a":"\u0041😀"}`, "null"} {
		if string(written(json.RawMessage(claims))) != claims {
			t.Errorf("%s is not written", claims)
		}
	}
}

func TestChecksumCoversAllOperationsOfAllThreads(t *testing.T) {
	pair := len(signed[0]) + 'a' + len(signed[1]) + 'b'
	for _, test := range []struct {
		prepare             string
		iterations, threads int
		want                int
	}{
		{prepareLine(OperationSign), 5, 1, 2*pair + len(signed[0]) + 'a'},
		{prepareLine(OperationSign), 4, 3, 3 * 2 * pair},
		{prepareLine(OperationVerify, "x", "y", ""), 4, 1, 'x' + 'y' + 1 + 'x'},
		{prepareLine(OperationVerify, "x"), 4, 2, 2 * 4 * 'x'},
		{prepareLine(OperationVerifySignature, "x"), 7, 2, 14},
		{prepareLine(OperationVerifyParsed, "x", "y"), 7, 2, 14},
	} {
		run := fmt.Sprintf(`{"op":"run","iterations":%d,"threads":%d}`, test.iterations, test.threads)
		answer := last(t, test.prepare, run)
		if answer["checksum"] != float64(test.want) || answer["bytes"] != nil || answer["elapsed_ns"].(float64) <= 0 {
			t.Errorf("%s: answered %v, want %d", run, answer, test.want)
		}
	}
}

func TestLeadIsNeitherTimedNorCounted(t *testing.T) {
	var calls []int
	var leadEnd time.Time
	run := func(iterations int) (uint64, error) {
		calls = append(calls, iterations)
		time.Sleep(time.Duration(iterations) * time.Millisecond)
		if len(calls) == 1 {
			leadEnd = time.Now()
		}
		return uint64(iterations), nil
	}
	done, err := measure(run, 30, 1, 1, false)
	afterLead := time.Since(leadEnd)
	if err != nil || done.checksum != 1 || done.elapsed > afterLead {
		t.Errorf("took %v of %v after the lead, with checksum %d: %v", done.elapsed, afterLead, done.checksum, err)
	}
	if want := []int{30, 1}; !slices.Equal(calls, want) {
		t.Errorf("did %v, want %v", calls, want)
	}
	bad := func(int) (uint64, error) { panic("bad") }
	if _, err := measure(bad, 1, 1, 1, false); err == nil {
		t.Error("a panic in the lead is not reported")
	}
}

func TestFailingOperationEndsTheRun(t *testing.T) {
	for _, token := range []string{"bad", "panic"} {
		for _, threads := range []string{"1", "2"} {
			run := `{"op":"run","iterations":3,"threads":` + threads + `}`
			if answer := last(t, prepareLine(OperationVerify, "x", token), run); answer["error"] != "failed" {
				t.Errorf("%s on %s threads: answered %v", token, threads, answer)
			}
		}
	}
	for _, run := range []string{
		`{"op":"run","iterations":0,"threads":1}`,
		`{"op":"run","iterations":1,"threads":0}`,
		`{"op":"run","iterations":1,"lead":-1,"threads":1}`,
		`{"op":"run","iterations":1,"threads":1000000}`,
	} {
		if answer := last(t, prepareLine(OperationSign), run); answer["error"] != "invalid" {
			t.Errorf("%s: answered %v", run, answer)
		}
	}
	if answer := last(t, prepareLine(OperationVerify), `{"op":"run","iterations":1,"threads":1}`); answer["error"] != "invalid" {
		t.Errorf("without tokens: answered %v", answer)
	}
}

var sink []byte

func TestCountIsExact(t *testing.T) {
	run := func(iterations int) (uint64, error) {
		for range iterations {
			sink = make([]byte, 64)
		}
		return 0, nil
	}
	// Allocations of the runtime, for example when it starts a thread, are counted as well.
	var allocs, bytes uint64 = math.MaxUint64, math.MaxUint64
	for range 3 {
		done, err := measure(run, 0, 1000, 1, true)
		if err != nil {
			t.Fatal(err)
		}
		allocs, bytes = min(allocs, *done.allocs), min(bytes, *done.bytes)
	}
	if allocs != 1000 || bytes != 64000 {
		t.Errorf("counted %d allocations of %d bytes", allocs, bytes)
	}
}

func TestCollectionsComeAfterReportedOperations(t *testing.T) {
	const size = 4096
	run := func(iterations int) (uint64, error) {
		for range iterations {
			sink = make([]byte, size)
		}
		return 0, nil
	}
	done, err := measure(run, 0, 1, 1, true)
	if err != nil {
		t.Fatal(err)
	}
	// In steps with pauses: one collection finishes before the next begins, even on a busy machine.
	// Allocations during a collection count as live and delay the next one.
	const steps = 8
	step := int(*done.collectsAfter) / steps
	came := func() (eighths [2]int, onTime bool) {
		collect()
		onTime = true
		for nth := range eighths {
			for before := collections(); collections() == before && eighths[nth] <= 2*steps; eighths[nth]++ {
				_, _ = run(step)
				time.Sleep(10 * time.Millisecond)
			}
			onTime = onTime && eighths[nth] > steps/2 && eighths[nth] <= steps+steps/2
		}
		return eighths, onTime
	}
	// The slower a collection was, the sooner the next one begins; on a busy machine it can be too
	// soon.
	var all [][2]int
	for range 20 {
		eighths, onTime := came()
		if onTime {
			return
		}
		all = append(all, eighths)
	}
	t.Errorf("collections came after %v eighths, want %d each", all, steps)
}

func TestRunBeginsAfterACollection(t *testing.T) {
	before := collections()
	if _, err := measure(func(int) (uint64, error) { return 0, nil }, 0, 1, 1, false); err != nil {
		t.Fatal(err)
	}
	if collections() == before {
		t.Error("no collection before the run")
	}
}

func TestCollectWithGCOffForcesACollection(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	collect()
	runtime.ReadMemStats(&after)
	if asked := after.NumForcedGC - before.NumForcedGC; asked != 1 {
		t.Errorf("forced %d collections, want 1", asked)
	}
}

func TestKeyIsLoadedOnceOrInEveryCall(t *testing.T) {
	for handling, want := range map[string]int{Prepared: 1, ParsedPerCall: 4} {
		loads := 0
		key, err := Key(&Prepare{KeyHandling: handling}, func() (int, error) { loads++; return loads, nil })
		for range 3 {
			_, _ = key()
		}
		if err != nil || loads != want {
			t.Errorf("%s: loaded %d times, want %d: %v", handling, loads, want, err)
		}
	}
}

func TestExpiryIsRequiredUnlessClaimsHaveNone(t *testing.T) {
	for values, want := range map[string]bool{
		`[]`: true, `[{"exp":1}]`: true, `[{"exp":1},{"iat":1}]`: false, `[{}]`: false,
	} {
		var p Prepare
		if err := json.Unmarshal([]byte(values), &p.Claims.Values); err != nil {
			t.Fatal(err)
		}
		if got := p.ExpiryRequired(); got != want {
			t.Errorf("%s: %v", values, got)
		}
	}
}

func TestTypedClaimsMustMatchTheValue(t *testing.T) {
	type claims struct {
		Aud  Audience `json:"aud"`
		Name string   `json:"name,omitempty"`
	}
	for value, fits := range map[string]bool{
		`{"aud":["a","b"],"name":"x"}`: true,
		`{"name":"x","aud":"a"}`:       true,
		`{"aud":["a"],"other":1}`:      false,
		`{"aud":["a"],"name":1}`:       false,
		`{"name":"x"}`:                 false,
	} {
		var p Prepare
		p.Claims.Values = []json.RawMessage{json.RawMessage(value)}
		if _, err := Issued[claims](&p); (err == nil) != fits {
			t.Errorf("%s: %v", value, err)
		}
	}
}

func TestMapClaimsKeepTheirNumbers(t *testing.T) {
	const value = `{"big":9007199254740993,"half":0.5,"list":[1,{"n":2}]}`
	var p Prepare
	p.Claims.Values = []json.RawMessage{json.RawMessage(value)}
	maps, err := IssuedMaps(&p)
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := json.Marshal(maps[0]); string(again) != value {
		t.Errorf("became %s", again)
	}
	p.Claims.Values = []json.RawMessage{json.RawMessage("null")}
	if _, err := IssuedMaps(&p); err == nil {
		t.Error("accepted null as claims")
	}
}

func b64(raw []byte) string { return base64.RawURLEncoding.EncodeToString(raw) }

func keysOf(private, public map[string]string) *Prepare {
	var p Prepare
	if private != nil {
		p.Keys.Private, _ = json.Marshal(private)
	}
	if public != nil {
		p.Keys.Public, _ = json.Marshal(public)
	}
	return &p
}

func TestSymmetricJWK(t *testing.T) {
	p := keysOf(map[string]string{"kty": "oct", "k": b64([]byte("secret"))}, nil)
	expectInvalidPrivate(t, map[string]string{"kty": "oct", "k": "AB"}) // not canonical: bits after the end
	for _, get := range []func() (any, error){p.PrivateKey, p.PublicKey} {
		if key, err := get(); err != nil || string(key.([]byte)) != "secret" {
			t.Errorf("%v %v", key, err)
		}
	}
}

func TestECJWK(t *testing.T) {
	for name, curve := range map[string]elliptic.Curve{
		"P-256": elliptic.P256(), "P-384": elliptic.P384(), "P-521": elliptic.P521(),
	} {
		key, _ := ecdsa.GenerateKey(curve, rand.Reader)
		point, _ := key.PublicKey.Bytes()
		scalar, _ := key.Bytes()
		size := (len(point) - 1) / 2
		public := map[string]string{"kty": "EC", "crv": name, "x": b64(point[1 : 1+size]), "y": b64(point[1+size:])}
		private := with(public, "d", b64(scalar))
		gotPrivate, err := keysOf(private, nil).PrivateKey()
		if err != nil || !key.Equal(gotPrivate.(*ecdsa.PrivateKey)) {
			t.Errorf("%s private: %v", name, err)
		}
		gotPublic, err := keysOf(nil, public).PublicKey()
		if err != nil || !key.PublicKey.Equal(gotPublic.(*ecdsa.PublicKey)) {
			t.Errorf("%s public: %v", name, err)
		}
		other, _ := ecdsa.GenerateKey(curve, rand.Reader)
		otherScalar, _ := other.Bytes()
		expectInvalidPrivate(t, with(private, "d", b64(otherScalar)))
		expectInvalidPrivate(t, with(private, "x", b64(point[2:1+size])))
		expectInvalidPrivate(t, with(private, "y", private["x"]))
		expectInvalidPrivate(t, with(private, "crv", "P-257"))
		expectInvalidPrivate(t, with(private, "d", private["d"]+"="))
	}
}

func TestRSAJWK(t *testing.T) {
	key, _ := rsa.GenerateKey(rand.Reader, 2048)
	public := map[string]string{
		"kty": "RSA", "n": b64(key.N.Bytes()), "e": b64(big.NewInt(int64(key.E)).Bytes()),
	}
	private := with(with(with(public, "d", b64(key.D.Bytes())), "p", b64(key.Primes[0].Bytes())), "q", b64(key.Primes[1].Bytes()))
	got, err := keysOf(private, nil).PrivateKey()
	if err != nil || !key.Equal(got.(*rsa.PrivateKey)) {
		t.Fatalf("private: %v", err)
	}
	if made := got.(*rsa.PrivateKey).Precomputed; made.Dp == nil || made.Qinv == nil {
		t.Error("the CRT values were not computed")
	}
	if got, err := keysOf(nil, public).PublicKey(); err != nil || !key.PublicKey.Equal(got.(*rsa.PublicKey)) {
		t.Errorf("public: %v", err)
	}
	expectInvalidPrivate(t, public)
	expectInvalidPrivate(t, with(private, "q", private["p"]))
	expectInvalidPrivate(t, with(private, "e", "AQ"))
	expectInvalidPrivate(t, with(private, "n", ""))
}

func TestEd25519JWK(t *testing.T) {
	public, private, _ := ed25519.GenerateKey(rand.Reader)
	publicJWK := map[string]string{"kty": "OKP", "crv": "Ed25519", "x": b64(public)}
	privateJWK := with(publicJWK, "d", b64(private.Seed()))
	if key, err := keysOf(privateJWK, nil).PrivateKey(); err != nil || !private.Equal(key.(ed25519.PrivateKey)) {
		t.Errorf("private: %v", err)
	}
	if key, err := keysOf(nil, publicJWK).PublicKey(); err != nil || !public.Equal(key.(ed25519.PublicKey)) {
		t.Errorf("public: %v", err)
	}
	expectInvalidPrivate(t, with(privateJWK, "crv", "Ed448"))
	expectInvalidPrivate(t, with(privateJWK, "d", b64(private)))
	expectInvalidPrivate(t, with(privateJWK, "d", b64(make([]byte, 32))))
}

func TestPrivateKeyIsNotUsedAsPublicKey(t *testing.T) {
	public, private, _ := ed25519.GenerateKey(rand.Reader)
	jwk := map[string]string{"kty": "OKP", "crv": "Ed25519", "x": b64(public), "d": b64(private.Seed())}
	if _, err := keysOf(jwk, nil).PublicKey(); err == nil {
		t.Error("accepted the private key")
	}
	if _, err := keysOf(nil, nil).PrivateKey(); err == nil {
		t.Error("accepted a missing key")
	}
}

func TestRoundTripAddsBothHalves(t *testing.T) {
	var want float64
	for i := range 5 {
		token := signed[i%2]
		want += float64(len(token)) + 2*float64(token[len(token)-1])
	}
	answer := last(t, prepareLine(OperationRoundTrip), `{"op":"run","iterations":5,"threads":2}`)
	if answer["checksum"] != 2*want {
		t.Errorf("answered %v, want %v", answer, 2*want)
	}
	if answer := last(t, prepareLine(OperationRoundTrip), `{"op":"token","index":1}`); answer["token"] != signed[1] {
		t.Errorf("answered %v", answer)
	}
}

func TestRoundTripOfDifferentTokenTypesFails(t *testing.T) {
	driver := fakeDriver()
	driver.Sign = func(p *Prepare) (*Operation, error) {
		return Signing(p, func(int) ([]byte, error) { return []byte("x"), nil })
	}
	var output bytes.Buffer
	err := driver.ServeOn(strings.NewReader(prepareLine(OperationRoundTrip)), &output)
	if err != nil || !strings.Contains(output.String(), "different types") {
		t.Errorf("%v %s", err, output.String())
	}
}

func TestChecksumOfKeyOperationsCountsKeys(t *testing.T) {
	loading := func(form, text string) string {
		with := `"key_text":{"form":"` + form + `","private":"` + text + `","public":null},"key_handling":"` + form + `"`
		return strings.Replace(prepareLine(OperationLoadKey), `"key_handling":"prepared"`, with, 1)
	}
	for _, line := range []string{prepareLine(OperationGenerateKey), loading(FormPEM, "good")} {
		if answer := last(t, line, `{"op":"run","iterations":7,"threads":2}`); answer["checksum"] != 14.0 {
			t.Errorf("answered %v", answer)
		}
	}
	if answer := last(t, loading(FormPEM, "bad")); answer["error"] != "failed" {
		t.Errorf("a bad key: answered %v", answer)
	}
	if answer := last(t, loading(FormJWK, "good")); answer["error"] != "unsupported" {
		t.Errorf("a form that is not offered: answered %v", answer)
	}
}

func TestPaserk(t *testing.T) {
	p := Prepare{Format: "v4.local"}
	p.Keys.Paserk = map[string]string{"local": "k4.local." + b64([]byte("raw")), "public": "k3.public.AAAA"}
	if raw, err := p.PaserkBytes("local"); err != nil || string(raw) != "raw" {
		t.Errorf("%q %v", raw, err)
	}
	for _, kind := range []string{"public", "secret"} {
		if _, err := p.PaserkBytes(kind); err == nil {
			t.Errorf("accepted a wrong or missing %s", kind)
		}
	}
}

func with(jwk map[string]string, member, value string) map[string]string {
	changed := map[string]string{member: value}
	for name, value := range jwk {
		if name != member {
			changed[name] = value
		}
	}
	return changed
}

func expectInvalidPrivate(t *testing.T, jwk map[string]string) {
	t.Helper()
	_, err := keysOf(jwk, nil).PrivateKey()
	var failure *driverError
	if !errors.As(err, &failure) || failure.kind != "invalid" {
		t.Errorf("expected an invalid request, got %v", err)
	}
}
