// Verifies tokens like a service in Go, with golang-jwt and keyfunc.
//
// Arguments: key set URL, issuer, audience, cache time of the key set in seconds.
// Reads one token per line. Prints "ok SUBJECT" or "error REASON" for each.
package main

import (
	"bufio"
	"context"
	"fmt"
	"log"
	"os"
	"strconv"
	"time"

	"github.com/MicahParks/keyfunc/v3"
	"github.com/golang-jwt/jwt/v5"
	"golang.org/x/time/rate"
)

func main() {
	url, issuer, audience := os.Args[1], os.Args[2], os.Args[3]
	seconds, err := strconv.Atoi(os.Args[4])
	if err != nil {
		log.Fatal(err)
	}
	keys, err := keyfunc.NewDefaultOverrideCtx(context.Background(), []string{url}, keyfunc.Override{
		RefreshInterval: time.Duration(seconds) * time.Second,
		// Never fetch the set for an unknown key id: only the interval refreshes it, as behind a proxy.
		RefreshUnknownKID: rate.NewLimiter(0, 0),
	})
	if err != nil {
		log.Fatal(err)
	}
	parser := jwt.NewParser(
		jwt.WithIssuer(issuer),
		jwt.WithAudience(audience),
		jwt.WithValidMethods([]string{"ES256"}),
		jwt.WithExpirationRequired(),
	)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var claims jwt.RegisteredClaims
		if _, err := parser.ParseWithClaims(lines.Text(), &claims, keys.Keyfunc); err != nil {
			fmt.Println("error", err)
		} else {
			fmt.Println("ok", claims.Subject)
		}
	}
}
