package jeton_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jeton/jeton/sdk/go"
)

const fetchData = "../testdata/fetch.json"

// keyServer is the program with the habits of ../testdata/fetch.json.
type keyServer struct {
	HTTP      string `json:"http"`
	HTTPS     string `json:"https"`
	Proxy     string `json:"proxy"`
	Authority string `json:"authority"`
}

type habits struct {
	Token  string `json:"token"`
	Habits []struct {
		Name     string `json:"name"`
		Via      string `json:"via"`
		Expect   string `json:"expect"`
		Requests int    `json:"requests_after_a_second"`
	} `json:"habits"`
}

func startKeyServer(t *testing.T) (*keyServer, *habits) {
	program := os.Getenv("JETON_KEY_SERVER")
	if program == "" {
		t.Skip("JETON_KEY_SERVER does not name the key server: cargo xtask sdk go builds it")
	}
	table := new(habits)
	if err := json.Unmarshal(must(os.ReadFile(fetchData)), table); err != nil {
		t.Fatal(err)
	}
	command := exec.Command(program, fetchData, filepath.Join(t.TempDir(), "authority.pem"))
	input, output := must(command.StdinPipe()), must(command.StdoutPipe())
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = input.Close()
		_ = command.Wait()
	})
	server := new(keyServer)
	if err := json.Unmarshal([]byte(must(bufio.NewReader(output).ReadString('\n'))), server); err != nil {
		t.Fatal(err)
	}
	return server, table
}

func (s *keyServer) read(path string) string {
	response := must(http.Get(s.HTTP + path))
	defer func() { _ = response.Body.Close() }()
	return string(must(io.ReadAll(response.Body)))
}

// result verifies the token of the table. It returns "ok" or the name of the code.
func (h *habits) result(keys *jeton.RemoteKeySet) string {
	verifier := must(jeton.NewVerifier(keys, jeton.WithIssuer("https://id.example"), jeton.WithAudience("api")))
	if _, err := jeton.Verify[map[string]any](verifier, h.Token); err != nil {
		return jeton.CodeOf(err).String()
	}
	return "ok"
}

func TestHabitsOfKeyServers(t *testing.T) {
	server, table := startKeyServer(t)
	if len(table.Habits) < 30 {
		t.Errorf("%d habits", len(table.Habits))
	}
	for _, habit := range table.Habits {
		base := server.HTTP + "/" + habit.Name
		keys := must(jeton.NewRemoteKeySet(base + "/keys"))
		if habit.Via == "issuer" {
			keys = must(jeton.DiscoverKeySet(base))
		}
		if found := table.result(keys); found != habit.Expect {
			t.Errorf("%s: %s", habit.Name, found)
		}
		if habit.Requests == 0 {
			continue
		}
		time.Sleep(1200 * time.Millisecond)
		found := table.result(keys)
		if count := server.read("/" + habit.Name + "/count"); found != habit.Expect || count != string(rune('0'+habit.Requests)) {
			t.Errorf("%s: %s, %s requests", habit.Name, found, count)
		}
	}
	if head := strings.ToLower(server.read("/plain/head")); !strings.Contains(head, "\r\nuser-agent: jeton-go/0.") {
		t.Error(head)
	}
}

func TestProxyOfTheTransport(t *testing.T) {
	server, table := startKeyServer(t)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(must(os.ReadFile(server.Authority)))
	through := func(proxy, host string) string {
		transport := &http.Transport{
			Proxy:           http.ProxyURL(must(url.Parse(proxy))),
			TLSClientConfig: &tls.Config{RootCAs: roots},
		}
		client := jeton.WithHTTPClient(&http.Client{Transport: transport})
		return table.result(must(jeton.NewRemoteKeySet("https://"+host+"/plain/keys", client)))
	}
	if found := through(strings.Replace(server.Proxy, "http://", "http://user:p%40ss@", 1), "keys.example"); found != "ok" {
		t.Error(found)
	}
	head := server.read("/proxy/head")
	if !strings.HasPrefix(head, "CONNECT keys.example:443 ") || !strings.Contains(head, "Basic dXNlcjpwQHNz") {
		t.Error(head)
	}
	if found := through(server.Proxy, "refused.example"); found != "KEY_SET_UNREACHABLE" {
		t.Error(found)
	}
	// Loopback hosts need no proxy. Nothing listens on this port.
	if found := through("http://127.0.0.1:1", strings.TrimPrefix(server.HTTPS, "https://")); found != "ok" {
		t.Error(found)
	}
	if found := through("http://127.0.0.1:1", "keys.example"); found != "KEY_SET_UNREACHABLE" {
		t.Error(found)
	}
}

func TestHTTPToAnotherHostNeedsAnOption(t *testing.T) {
	if _, err := jeton.NewRemoteKeySet("http://keys.invalid/keys"); jeton.CodeOf(err) != jeton.CodeKeySetAddress {
		t.Error(err)
	}
	// The address is allowed, and the name does not exist.
	keys := must(jeton.NewRemoteKeySet("http://keys.invalid/keys", jeton.WithPlainHTTP()))
	if err := keys.Fetch(context.Background()); jeton.CodeOf(err) != jeton.CodeKeySetUnreachable {
		t.Error(err)
	}
}
