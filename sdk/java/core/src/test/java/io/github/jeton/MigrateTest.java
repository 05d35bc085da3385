package io.github.jeton;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.auth0.jwt.JWT;
import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.ECDSASigner;
import com.nimbusds.jose.crypto.ECDSAVerifier;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.source.ImmutableJWKSet;
import com.nimbusds.jose.proc.BadJOSEException;
import com.nimbusds.jose.proc.JWSVerificationKeySelector;
import com.nimbusds.jose.proc.SecurityContext;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import com.nimbusds.jwt.proc.DefaultJWTClaimsVerifier;
import com.nimbusds.jwt.proc.DefaultJWTProcessor;
import io.jsonwebtoken.Jwts;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Checks which tokens the examples of docs/migrate.md accept, before and after. */
class MigrateTest {
    private interface Check {
        void run(String token) throws Exception;
    }

    private final Key key = Key.generator(Algorithm.ES256).keyId("a").generate();
    private final ECKey ecKey = ecKey();

    private ECKey ecKey() {
        try {
            return ECKey.parse(new String(key.insecureExport(Key.Form.JWK), StandardCharsets.UTF_8));
        } catch (java.text.ParseException impossible) {
            throw new AssertionError(impossible);
        }
    }

    private String token(String type, Consumer<JWTClaimsSet.Builder> change) throws Exception {
        JWTClaimsSet.Builder claims = new JWTClaimsSet.Builder()
                .subject("user-7")
                .issuer("https://id.example")
                .audience("api")
                .expirationTime(in(Duration.ofHours(2)));
        change.accept(claims);
        JWSHeader.Builder header = new JWSHeader.Builder(JWSAlgorithm.ES256);
        if (type != null) {
            header.type(new JOSEObjectType(type));
        }
        SignedJWT made = new SignedJWT(header.build(), claims.build());
        made.sign(new ECDSASigner(ecKey));
        return made.serialize();
    }

    private static Date in(Duration time) {
        return Date.from(Instant.now().plus(time));
    }

    private Map<String, String> tokens() throws Exception {
        Map<String, String> tokens = new LinkedHashMap<>();
        tokens.put("as in the examples", token(null, claims -> {}));
        tokens.put("`typ` is `at+jwt`", token("at+jwt", claims -> {}));
        tokens.put("`exp` was 30 s ago", token(null, claims -> claims.expirationTime(in(Duration.ofSeconds(-30)))));
        tokens.put("`exp` was 90 s ago", token(null, claims -> claims.expirationTime(in(Duration.ofSeconds(-90)))));
        tokens.put("`nbf` is in 30 s", token(null, claims -> claims.notBeforeTime(in(Duration.ofSeconds(30)))));
        tokens.put("`iat` is in 1 hour", token(null, claims -> claims.issueTime(in(Duration.ofHours(1)))));
        tokens.put("`exp` is absent", token(null, claims -> claims.expirationTime(null)));
        return tokens;
    }

    /** The code of the page. */
    private List<Check> before() throws Exception {
        var ecPublicKey = ecKey.toECPublicKey();
        return List.of(
                token -> {
                    SignedJWT jwt = SignedJWT.parse(token);
                    assertTrue(jwt.verify(new ECDSAVerifier(ecPublicKey)));
                    new DefaultJWTClaimsVerifier<SecurityContext>(
                                    "api", new JWTClaimsSet.Builder().issuer("https://id.example").build(), Set.of("exp"))
                            .verify(jwt.getJWTClaimsSet(), null);
                },
                token -> Jwts.parser()
                        .requireIssuer("https://id.example")
                        .requireAudience("api")
                        .verifyWith(ecPublicKey)
                        .build()
                        .parseSignedClaims(token),
                token -> JWT.require(com.auth0.jwt.algorithms.Algorithm.ECDSA256(ecPublicKey, null))
                        .withIssuer("https://id.example")
                        .withAudience("api")
                        .build()
                        .verify(token));
    }

    private Verifier.Builder after() {
        return Verifier.builder(key.publicKey()).issuer("https://id.example").audience("api");
    }

    private static String outcome(Check check, String token) {
        try {
            check.run(token);
            return "accepted";
        } catch (JetonException rejected) {
            return "`" + rejected.code() + "`";
        } catch (Exception rejected) {
            return "rejected";
        }
    }

    @Test
    void page_says_what_is_accepted() throws Exception {
        String page = Files.readString(Path.of(System.getProperty("jeton.root"), "sdk/java/docs/migrate.md"));
        Verifier verifier = after().build();
        StringBuilder rows = new StringBuilder();
        for (var token : tokens().entrySet()) {
            rows.append("| ").append(token.getKey());
            for (Check check : before()) {
                rows.append(" | ").append(outcome(check, token.getValue()));
            }
            rows.append(" | ").append(outcome(verifier::verify, token.getValue())).append(" |\n");
        }
        assertTrue(page.contains(rows), () -> "the page does not have these rows:\n" + rows);
    }

    /** The settings that the page names. */
    @Test
    void settings_of_the_page_accept_what_was_accepted() throws Exception {
        Map<String, String> tokens = tokens();
        Map<String, Verifier> settings = Map.of(
                "`typ` is `at+jwt`", after().types("JWT", "at+jwt").build(),
                "`exp` was 30 s ago", after().leeway(Duration.ofSeconds(60)).build(),
                "`nbf` is in 30 s", after().leeway(Duration.ofSeconds(60)).build(),
                "`iat` is in 1 hour", after().leeway(Duration.ofHours(1)).build(),
                "`exp` is absent", after().withoutExpiry().build());
        settings.forEach((name, verifier) -> {
            assertEquals("accepted", outcome(verifier::verify, tokens.get(name)), name);
            String usual = name.contains("typ") ? "`TOKEN_TYPE_MISMATCH`" : "accepted";
            assertEquals(usual, outcome(verifier::verify, tokens.get("as in the examples")), name);
        });
    }

    @Test
    void processor_of_nimbus_checks_the_type() throws Exception {
        var processor = new DefaultJWTProcessor<SecurityContext>();
        processor.setJWSKeySelector(
                new JWSVerificationKeySelector<>(JWSAlgorithm.ES256, new ImmutableJWKSet<>(new JWKSet(ecKey))));
        processor.process(token("JWT", claims -> {}), null);
        processor.process(token(null, claims -> claims.expirationTime(in(Duration.ofSeconds(-30)))), null);
        String other = token("at+jwt", claims -> {});
        assertThrows(BadJOSEException.class, () -> processor.process(other, null));
    }
}
