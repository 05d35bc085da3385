/** Tokens: JWT, JWS, JWE and PASETO, verified strictly. */
module io.github.jeton {
    requires java.net.http;
    // Only where claims are objects of the program: JSON text needs nothing.
    requires static com.fasterxml.jackson.databind;

    exports io.github.jeton;
    exports io.github.jeton.bytes;
    exports io.github.jeton.claims;
    exports io.github.jeton.testing;
}
