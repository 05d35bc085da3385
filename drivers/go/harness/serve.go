package harness

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	protocolVersion  = 1
	lineBytesMax     = 8 << 20
	reasonBytesMax   = 300
	threadsMax       = 1024
	checksumNumbered = 1 << 53 // a JSON number is exact below it
)

// Serve speaks the protocol on standard input and output until `bye` or the end of the input.
func Serve(driver *Driver) {
	if err := driver.ServeOn(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, driver.Library+":", err)
		os.Exit(1)
	}
}

// ServeOn speaks the protocol on any pair of streams, for tests.
func (d *Driver) ServeOn(input io.Reader, output io.Writer) error {
	return (&session{driver: d}).serve(input, output)
}

// session is the state between requests: at most one prepared operation.
type session struct {
	driver   *Driver
	prepared *Operation
	// The verifiers of a `prepare` with `cached`.
	verifiers []*Operation
}

type request struct {
	Op string `json:"op"`
	Prepare

	Protocol   int    `json:"protocol"`
	Index      int    `json:"index"`
	Token      string `json:"token"`
	Verifier   int    `json:"verifier"`
	Iterations int    `json:"iterations"`
	Threads    int    `json:"threads"`
	Lead       int    `json:"lead"`
	Count      bool   `json:"count"`
}

// answer is a JSON object. A map, because the members differ from request to request.
type answer map[string]any

func (s *session) serve(input io.Reader, output io.Writer) error {
	lines := bufio.NewReaderSize(input, 64<<10)
	encoder := json.NewEncoder(output)
	encoder.SetEscapeHTML(false)
	for {
		line, err := readLine(lines)
		if err == io.EOF {
			return nil
		}
		reply, last := answer(nil), false
		if err == nil {
			reply, last, err = s.answer(line)
		}
		if err != nil {
			var failure *driverError
			if !errors.As(err, &failure) {
				failure = &driverError{kind: "failed", reason: err.Error()}
			}
			reply = answer{"ok": false, "error": failure.kind, "reason": oneLine(failure.reason)}
		}
		if err := encoder.Encode(reply); err != nil {
			return err
		}
		if last {
			return nil
		}
	}
}

func (s *session) answer(line []byte) (reply answer, last bool, err error) {
	var r request
	if json.Unmarshal(line, &r) != nil {
		return nil, false, invalid("the line is not a request")
	}
	switch r.Op {
	case "hello":
		reply, err = s.hello(&r)
	case "prepare":
		reply, err = s.prepare(&r.Prepare)
	case "token":
		reply, err = s.token(&r)
	case "verify":
		reply, err = s.verify(&r)
	case "run":
		reply, err = s.run(&r)
	case "bye":
		return answer{"ok": true}, true, nil
	default:
		err = invalid("the op is unknown")
	}
	return reply, false, err
}

func (s *session) hello(r *request) (answer, error) {
	if r.Protocol != protocolVersion {
		return nil, Unsupported("this driver speaks protocol %d only", protocolVersion)
	}
	practices := []string{}
	if s.driver.KnowsDefaults {
		practices = []string{"defaults", "documented"}
	}
	return answer{
		"practices": practices, "by_driver": append([]string{}, s.driver.ByDriver...),
		"extras": append([]string{}, s.driver.Extras...),
		"ok":     true, "protocol": protocolVersion, "library": s.driver.Library,
		"version": linkedVersion(s.driver.Module), "language": "go", "runtime": runtime.Version(),
		"counts": []string{"bytes", "allocs"}, "leads": true, "offers": s.driver.Offers,
	}, nil
}

func (s *session) prepare(p *Prepare) (_ answer, err error) {
	s.prepared, s.verifiers = nil, nil
	if p.Defaults() {
		// A caller that uses a library's defaults requires no issuer and no audience.
		p.Policy.Issuer, p.Policy.Audience = "", ""
	}
	if !s.offered(p) {
		return nil, Unsupported("%s does not offer %s %s with %s keys for %s",
			s.driver.Library, p.Format, p.Alg, p.KeyHandling, p.Operation)
	}
	defer recovered(&err)
	switch p.Operation {
	case OperationSign, OperationEncrypt:
		s.prepared, err = s.driver.Sign(p)
	case OperationVerify, OperationDecrypt:
		s.prepared, err = s.driver.Verify(p)
	case OperationVerifySignature:
		s.prepared, err = s.driver.VerifySignature(p)
	case OperationVerifyParsed:
		s.prepared, err = s.driver.VerifyParsed(p)
	case OperationRoundTrip:
		s.prepared, err = s.roundTrip(p)
	case OperationGenerateKey:
		s.prepared, err = s.driver.GenerateKey(p)
	case OperationLoadKey:
		s.prepared, err = s.driver.LoadKey(p)
	}
	for _, one := range p.each(p.Cached) {
		if err == nil {
			s.prepared, err = s.driver.Verify(one)
			s.verifiers = append(s.verifiers, s.prepared)
		}
	}
	return answer{"ok": true}, err
}

func (s *session) roundTrip(p *Prepare) (*Operation, error) {
	sign, err := s.driver.Sign(p)
	if err != nil {
		return nil, err
	}
	verify, err := s.driver.Verify(p)
	if err != nil {
		return nil, err
	}
	run, ok := sign.opens(verify.check)
	if !ok {
		return nil, errors.New("the driver signs and verifies tokens of different types")
	}
	return &Operation{run: run, token: sign.token}, nil
}

func (s *session) offered(p *Prepare) bool {
	return slices.ContainsFunc(s.driver.Offers, func(o Offer) bool {
		handled := slices.Contains(o.KeyHandling, p.KeyHandling)
		switch p.Operation {
		case OperationGenerateKey:
			handled = true
		case OperationLoadKey:
			handled = slices.Contains(o.KeyText, p.KeyText.Form)
		}
		return handled && o.Format == p.Format && orEmpty(o.Alg) == p.Alg && orEmpty(o.Enc) == p.Enc &&
			slices.Contains(o.Operations, p.Operation)
	})
}

func orEmpty(name *string) string {
	if name == nil {
		return ""
	}
	return *name
}

func (s *session) token(r *request) (_ answer, err error) {
	if s.prepared == nil || s.prepared.token == nil {
		return nil, invalid("token needs a prepared sign, encrypt or round-trip")
	}
	defer recovered(&err)
	token, err := s.prepared.token(r.Index)
	return answer{"ok": true, "token": token}, err
}

func (s *session) verify(r *request) (answer, error) {
	if s.prepared == nil || s.prepared.verify == nil {
		return nil, invalid("verify needs a prepared verify, decrypt, verify-signature or verify-parsed")
	}
	verify := s.prepared.verify
	if s.verifiers != nil {
		verify = s.verifiers[r.Verifier].verify
	}
	claims, err := func() (_ json.RawMessage, err error) {
		defer recovered(&err)
		return verify(r.Token)
	}()
	if err != nil {
		return answer{"ok": true, "accepted": false, "reason": oneLine(err.Error())}, nil
	}
	return answer{"ok": true, "accepted": true, "claims": written(claims)}, nil
}

func (s *session) run(r *request) (answer, error) {
	if s.prepared == nil {
		return nil, invalid("run needs a prepared operation")
	}
	if r.Iterations < 1 || r.Lead < 0 || r.Threads < 1 || r.Threads > threadsMax {
		return nil, invalid("run needs 1 or more iterations, a lead of 0 or more, and 1 to %d threads", threadsMax)
	}
	done, err := measure(s.prepared.run, r.Lead, r.Iterations, r.Threads, r.Count)
	if err != nil {
		return nil, err
	}
	if done.checksum >= checksumNumbered {
		return nil, invalid("the checksum does not fit a JSON number; ask for fewer iterations")
	}
	return answer{
		"ok": true, "elapsed_ns": done.elapsed.Nanoseconds(), "checksum": done.checksum,
		"bytes": done.bytes, "allocs": done.allocs, "collects_after": done.collectsAfter,
	}, nil
}

// readLine reads one line without its end. A line beyond the limit is discarded and rejected, so
// that the next one is still understood.
func readLine(lines *bufio.Reader) ([]byte, error) {
	var line []byte
	tooLong := false
	for {
		part, err := lines.ReadSlice('\n')
		if tooLong = tooLong || len(line)+len(part) > lineBytesMax; !tooLong {
			line = append(line, part...)
		}
		if err == bufio.ErrBufferFull {
			continue
		}
		if err != nil && (err != io.EOF || len(line) == 0 && !tooLong) {
			return nil, err
		}
		if tooLong {
			return nil, invalid("the line is longer than %d bytes", lineBytesMax)
		}
		return bytes.TrimSuffix(line, []byte("\n")), nil
	}
}

// written returns the claims, or null where JSON cannot express them: invalid UTF-8, an unpaired
// surrogate, nesting that no reader accepts.
func written(claims json.RawMessage) json.RawMessage {
	if !json.Valid(claims) || !utf8.Valid(claims) || hasHalfCharacter(claims) {
		return nil
	}
	return claims
}

// hasHalfCharacter reports whether valid JSON escapes an unpaired surrogate.
func hasHalfCharacter(text []byte) bool {
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		i++ // The escaped character, or the `u`; valid JSON always has one.
		unit, escaped := surrogate(text[i-1:])
		if !escaped {
			continue
		}
		next, follows := surrogate(text[i+5:])
		if utf16.DecodeRune(unit, next) == utf8.RuneError || !follows {
			return true
		}
		i += 10
	}
	return false
}

// surrogate reads an escape at the beginning of a text, if it is a surrogate.
func surrogate(text []byte) (rune, bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	unit, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	return rune(unit), err == nil && utf16.IsSurrogate(rune(unit))
}

// recovered turns a panic of the library into an error.
func recovered(err *error) {
	if value := recover(); value != nil {
		*err = fmt.Errorf("panic: %v", value)
	}
}

func oneLine(reason string) string {
	reason = strings.Join(strings.Fields(reason), " ")
	if len(reason) > reasonBytesMax {
		reason = strings.ToValidUTF8(reason[:reasonBytesMax], "") + "…"
	}
	return reason
}

func linkedVersion(module string) string {
	// The version is that of the runtime, which `hello` reports separately.
	if module == StandardLibrary {
		return module
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, dependency := range info.Deps {
		if dependency.Path == module {
			// A folder has no version: then that which is required.
			if replace := dependency.Replace; replace != nil && strings.HasPrefix(replace.Version, "v") {
				dependency = replace
			}
			return strings.TrimPrefix(dependency.Version, "v")
		}
	}
	return "unknown"
}
