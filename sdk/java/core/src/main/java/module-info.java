/** JWT, JWS, JWE and PASETO with strict verification. */
module io.github.jeton {
    requires java.net.http;
    // For claims as objects. Claims as JSON text do not need it.
    requires static com.fasterxml.jackson.databind;

    exports io.github.jeton;
    exports io.github.jeton.bytes;
    exports io.github.jeton.claims;
    exports io.github.jeton.testing;
}
