package io.github.jeton.spring;

import io.github.jeton.Issuer;
import io.github.jeton.JetonException;
import io.github.jeton.UnverifiedToken;
import java.net.URL;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.springframework.security.oauth2.jose.JwaAlgorithm;
import org.springframework.security.oauth2.jwt.Jwt;
import org.springframework.security.oauth2.jwt.JwtEncoder;
import org.springframework.security.oauth2.jwt.JwtEncoderParameters;
import org.springframework.security.oauth2.jwt.JwtEncodingException;

/**
 * Issues tokens with jeton:
 *
 * <pre>{@code
 * @Bean
 * JwtEncoder encoder(Key key) {
 *     return JetonJwtEncoder.of(Issuer.builder(key).build());
 * }
 * }</pre>
 *
 * <p>The claims of Spring are added to the claims that the issuer sets, and must not repeat them. The key decides the
 * header: a header of Spring must have the same values.
 */
public final class JetonJwtEncoder implements JwtEncoder {
    private final Issuer issuer;

    private JetonJwtEncoder(Issuer issuer) {
        this.issuer = issuer;
    }

    /** Creates an encoder from an issuer of signed JWTs. */
    public static JetonJwtEncoder of(Issuer issuer) {
        return new JetonJwtEncoder(Objects.requireNonNull(issuer, "issuer"));
    }

    /**
     * Issues a token.
     *
     * @throws JwtEncodingException if the claims cannot be issued, if the header is not the header of the key, or if the
     *     issuer encrypts tokens
     */
    @Override
    public Jwt encode(JwtEncoderParameters parameters) {
        Map<String, Object> claims = new LinkedHashMap<>(parameters.getClaims().getClaims());
        claims.replaceAll((name, value) -> inJson(value));
        try {
            String token = issuer.issue(claims);
            UnverifiedToken own = UnverifiedToken.read(token);
            if (parameters.getJwsHeader() != null) {
                check(parameters.getJwsHeader().getHeaders(), own.header().orElseThrow());
            }
            return SpringJwt.of(token, own.header().orElseThrow(), own.claims().orElseThrow(() ->
                    new JwtEncodingException("the issuer encrypts tokens: an encoder needs an issuer of signed JWTs")));
        } catch (JetonException failed) {
            throw new JwtEncodingException(JetonJwtDecoder.text(failed), failed);
        } catch (IllegalArgumentException refused) {
            throw new JwtEncodingException(refused.getMessage(), refused);
        }
    }

    /** Converts the types of Spring. */
    private static Object inJson(Object value) {
        if (value instanceof Instant time) {
            return time.getEpochSecond();
        }
        return value instanceof URL url ? url.toString() : value;
    }

    private static void check(Map<String, Object> expected, Map<String, Object> found) {
        expected.forEach((name, value) -> {
            Object inJson = value instanceof JwaAlgorithm algorithm ? algorithm.getName() : inJson(value);
            if (!inJson.equals(found.get(name))) {
                throw new JwtEncodingException("the header `" + name + "` is not the header of the issuer: set it there with `headers`");
            }
        });
    }
}
