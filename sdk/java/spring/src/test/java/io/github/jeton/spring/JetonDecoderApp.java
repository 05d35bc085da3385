package io.github.jeton.spring;

import io.github.jeton.RemoteKeySet;
import io.github.jeton.Verifier;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.security.oauth2.jwt.JwtDecoder;

/** The same server with the decoder of jeton. Only two lines and the imports differ. */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
@Import(Visits.class)
class JetonDecoderApp {
    @Bean
    JwtDecoder decoder(@Value("${id}") String id) {
        var keys = RemoteKeySet.discover(id).allowPrivateAddresses().build();
        return JetonJwtDecoder.of(Verifier.builder(keys).issuer(id).audience("api").build());
    }
}
