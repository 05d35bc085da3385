package io.github.jeton;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.auth0.jwt.JWT;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.ECDSASigner;
import com.nimbusds.jose.crypto.ECDSAVerifier;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import io.jsonwebtoken.Jwts;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import org.junit.jupiter.api.Test;

/** Tokens and keys are interoperable with other libraries. */
class OtherLibrariesTest {
    private final Key key = Key.generator(Algorithm.ES256).keyId("a").generate();
    private final Issuer issuer = Issuer.builder(key)
            .issuer("https://id.example")
            .audience("api")
            .lifetime(Duration.ofMinutes(1))
            .build();
    private final Verifier verifier =
            Verifier.builder(key.publicKey()).issuer("https://id.example").audience("api").build();
    private final String token = issuer.issueJson("{\"sub\":\"user-7\"}");
    private final Instant later = Instant.now().plusSeconds(60);

    /** The key as nimbus reads it. */
    private ECKey ecKey() throws Exception {
        return ECKey.parse(new String(key.insecureExport(Key.Form.JWK), StandardCharsets.UTF_8));
    }

    @Test
    void nimbus() throws Exception {
        SignedJWT parsed = SignedJWT.parse(token);
        assertTrue(parsed.verify(new ECDSAVerifier(ECKey.parse(key.toJwk()))));
        assertEquals("user-7", parsed.getJWTClaimsSet().getSubject());
        SignedJWT made = new SignedJWT(
                new JWSHeader(JWSAlgorithm.ES256),
                new JWTClaimsSet.Builder()
                        .issuer("https://id.example")
                        .audience("api")
                        .subject("s")
                        .expirationTime(Date.from(later))
                        .build());
        made.sign(new ECDSASigner(ecKey()));
        assertEquals("s", verifier.verify(made.serialize()).subject().orElseThrow());
        assertEquals("a", JWKSet.parse(KeySet.of(key).toJwks()).getKeys().get(0).getKeyID());
        assertEquals(key.thumbprint(), ecKey().computeThumbprint().toString());
    }

    @Test
    void jjwt() throws Exception {
        var claims = Jwts.parser()
                .requireIssuer("https://id.example")
                .verifyWith(ecKey().toECPublicKey())
                .build()
                .parseSignedClaims(token)
                .getPayload();
        assertEquals("user-7", claims.getSubject());
        String made = Jwts.builder()
                .issuer("https://id.example")
                .audience()
                .add("api")
                .and()
                .subject("s")
                .expiration(Date.from(later))
                .signWith(ecKey().toECPrivateKey())
                .compact();
        assertEquals("s", verifier.verify(made).subject().orElseThrow());
    }

    @Test
    void java_jwt() throws Exception {
        var algorithm = com.auth0.jwt.algorithms.Algorithm.ECDSA256(ecKey().toECPublicKey(), ecKey().toECPrivateKey());
        assertEquals("user-7", JWT.require(algorithm).withAudience("api").build().verify(token).getSubject());
        String made = JWT.create()
                .withIssuer("https://id.example")
                .withAudience("api")
                .withSubject("s")
                .withExpiresAt(later)
                .sign(algorithm);
        assertEquals("s", verifier.verify(made).subject().orElseThrow());
    }
}
