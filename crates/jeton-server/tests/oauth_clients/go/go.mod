// Gets a token with golang.org/x/oauth2.
module jeton/oauth-client

go 1.26.0

require golang.org/x/oauth2 v0.38.0
