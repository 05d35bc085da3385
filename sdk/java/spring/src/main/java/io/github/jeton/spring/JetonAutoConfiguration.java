package io.github.jeton.spring;

import io.github.jeton.Issuer;
import io.github.jeton.TokenVerifier;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Import;
import org.springframework.security.oauth2.jwt.JwtDecoder;
import org.springframework.security.oauth2.jwt.JwtEncoder;

/**
 * Configures a resource server of Spring Boot 3 or 4 from the properties {@code
 * spring.security.oauth2.resourceserver.jwt}: {@code issuer-uri}, {@code jwk-set-uri}, {@code public-key-location},
 * {@code jws-algorithms} and {@code audiences}. Issuer and audience are required.
 *
 * <p>Beans of {@link VerifierCustomizer} and {@link RemoteKeySetCustomizer} change the settings. A bean of {@link
 * TokenVerifier} replaces the properties. A bean of {@link Issuer} becomes a {@code JwtEncoder}. If the keys cannot be
 * fetched or used, the server responds with 503.
 */
@AutoConfiguration(
        beforeName = {
            "org.springframework.boot.autoconfigure.security.oauth2.resource.servlet.OAuth2ResourceServerAutoConfiguration",
            "org.springframework.boot.autoconfigure.security.oauth2.resource.reactive.ReactiveOAuth2ResourceServerAutoConfiguration",
            "org.springframework.boot.security.oauth2.server.resource.autoconfigure.servlet.OAuth2ResourceServerAutoConfiguration",
            "org.springframework.boot.security.oauth2.server.resource.autoconfigure.reactive.ReactiveOAuth2ResourceServerAutoConfiguration"
        })
@ConditionalOnClass(JwtDecoder.class)
// A condition on beans sees those of the classes before it.
@Import({
    Configurations.Keys.class,
    Configurations.Verifiers.class,
    Configurations.Servlet.class,
    Configurations.Reactive.class,
    Configurations.Encoder.class
})
public class JetonAutoConfiguration {
    /** Used by Spring. */
    public JetonAutoConfiguration() {}
}
