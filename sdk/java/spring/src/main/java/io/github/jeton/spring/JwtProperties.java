package io.github.jeton.spring;

import io.github.jeton.Algorithm;
import io.github.jeton.JetonException;
import io.github.jeton.Key;
import io.github.jeton.RemoteKeySet;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.Environment;
import org.springframework.core.io.ResourceLoader;

/**
 * The properties of Spring Boot for a resource server. The class of Spring Boot has different names in its versions 3 and
 * 4.
 */
record JwtProperties(
        String issuerUri, String jwkSetUri, String publicKeyLocation, List<String> jwsAlgorithms, List<String> audiences) {
    static final String PREFIX = "spring.security.oauth2.resourceserver.jwt";

    /** The default of Spring Boot for {@code jws-algorithms}, for keys that do not name their algorithm. */
    private static final Algorithm DEFAULT = Algorithm.RS256;

    JwtProperties {
        jwsAlgorithms = jwsAlgorithms == null ? List.of() : jwsAlgorithms;
        audiences = audiences == null ? List.of() : audiences;
    }

    static JwtProperties of(Environment environment) {
        return Binder.get(environment)
                .bind(PREFIX, JwtProperties.class)
                .orElseGet(() -> new JwtProperties(null, null, null, null, null));
    }

    /** Returns whether the properties name keys. */
    boolean hasKeys() {
        return hasRemoteKeys() || publicKeyLocation != null;
    }

    /** Returns whether the keys are fetched. As in Spring Boot, {@code public-key-location} precedes discovery. */
    boolean hasRemoteKeys() {
        return jwkSetUri != null || issuerUri != null && publicKeyLocation == null;
    }

    /** Returns the algorithms that the property names, or an empty set. */
    Set<Algorithm> algorithms() {
        Set<Algorithm> all = EnumSet.noneOf(Algorithm.class);
        for (String name : jwsAlgorithms) {
            try {
                all.add(Algorithm.of(name));
            } catch (JetonException unknown) {
                throw new IllegalStateException("`" + PREFIX + ".jws-algorithms` has an unsupported algorithm: " + name);
            }
        }
        return all;
    }

    private Algorithm defaultAlgorithm() {
        return jwsAlgorithms.size() == 1 ? algorithms().iterator().next() : DEFAULT;
    }

    RemoteKeySet.Builder remoteKeys() {
        RemoteKeySet.Builder builder = jwkSetUri != null ? RemoteKeySet.at(jwkSetUri) : RemoteKeySet.discover(issuerUri);
        return builder.defaultAlgorithm(defaultAlgorithm());
    }

    Key publicKey(ResourceLoader loader) {
        try (var file = loader.getResource(publicKeyLocation).getInputStream()) {
            return Key.importer().algorithm(defaultAlgorithm()).bytes(file.readAllBytes());
        } catch (IOException unreadable) {
            throw new UncheckedIOException("`" + PREFIX + ".public-key-location` cannot be read", unreadable);
        } catch (JetonException invalid) {
            throw new IllegalStateException(
                    "`" + PREFIX + ".public-key-location`: " + JetonJwtDecoder.text(invalid), invalid);
        }
    }
}
