/** JWT, JWS, JWE and PASETO with strict verification. */
module io.github.jeton {
    requires java.net.http;
    // For claims as objects: one of them. Maps and JSON text need none.
    requires static com.fasterxml.jackson.databind;
    requires static tools.jackson.databind;
    // For constraints of claims.
    requires static jakarta.validation;

    exports io.github.jeton;
    exports io.github.jeton.bytes;
    exports io.github.jeton.claims;
    exports io.github.jeton.testing;
}
