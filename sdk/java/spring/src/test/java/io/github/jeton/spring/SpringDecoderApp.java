package io.github.jeton.spring;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.security.oauth2.jwt.JwtDecoder;
import org.springframework.security.oauth2.jwt.JwtDecoders;

/** A resource server with Spring's own decoder. */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
@Import(Visits.class)
class SpringDecoderApp {
    @Bean
    JwtDecoder decoder(@Value("${id}") String id) {
        return JwtDecoders.fromIssuerLocation(id);
    }
}
