package io.github.jeton.spring;

import io.github.jeton.Issuer;
import io.github.jeton.Key;
import java.time.Duration;
import java.util.Map;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.security.oauth2.jwt.JwtClaimsSet;
import org.springframework.security.oauth2.jwt.JwtEncoder;
import org.springframework.security.oauth2.jwt.JwtEncoderParameters;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** A resource server that also issues tokens. */
@Configuration(proxyBeanMethods = false)
@Import(PropertiesApp.class)
class IssuingApp {
    static Key key;

    @Bean
    Issuer issuer() {
        return Issuer.builder(key)
                .audience("api")
                .lifetime(Duration.ofMinutes(5))
                .build();
    }

    @RestController
    static class Tokens {
        private final JwtEncoder encoder;
        private final Issuer issuer;

        Tokens(JwtEncoder encoder, Issuer issuer) {
            this.encoder = encoder;
            this.issuer = issuer;
        }

        @GetMapping("/encoded")
        String encoded(@Value("${id}") String id) {
            JwtClaimsSet claims = JwtClaimsSet.builder().issuer(id).subject("encoded").build();
            return encoder.encode(JwtEncoderParameters.from(claims)).getTokenValue();
        }

        @GetMapping("/map")
        String map(@Value("${id}") String id) {
            return issuer.issue(Map.of("iss", id, "sub", "map"));
        }
    }
}
