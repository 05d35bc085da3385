// Command oauth-client gets a token with golang.org/x/oauth2 and uses it.
package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"
	"time"

	"golang.org/x/oauth2/clientcredentials"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	config := clientcredentials.Config{
		ClientID:     os.Getenv("CLIENT_ID"),
		ClientSecret: os.Getenv("CLIENT_SECRET"),
		TokenURL:     os.Getenv("TOKEN_URL"),
		Scopes:       []string{"read"},
	}
	token, err := config.Token(ctx)
	if err != nil {
		log.Fatal(err)
	}
	if token.TokenType != "Bearer" || time.Until(token.Expiry) <= 0 {
		log.Fatalf("type %q, expiry %v", token.TokenType, token.Expiry)
	}
	response, err := config.Client(ctx).Get(os.Getenv("API_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		log.Fatal(response.Status)
	}
	fmt.Println("used")
}
