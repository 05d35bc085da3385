package io.github.jeton.spring;

import io.github.jeton.KeySetException;
import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServletResponse;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.Ordered;
import org.springframework.security.authentication.AuthenticationServiceException;
import org.springframework.security.oauth2.jwt.JwtException;

/** The same server with the filter of the README. */
@Configuration(proxyBeanMethods = false)
@Import(JetonDecoderApp.class)
class KeysUnavailableApp {
    @Bean
    FilterRegistrationBean<Filter> keysUnavailable() {
        var filter = new FilterRegistrationBean<Filter>((request, response, chain) -> {
            try {
                chain.doFilter(request, response);
            } catch (AuthenticationServiceException failed) {
                if (!(failed.getCause() instanceof JwtException wrong && wrong.getCause() instanceof KeySetException)) {
                    throw failed;
                }
                ((HttpServletResponse) response).setStatus(503);
            }
        });
        filter.setOrder(Ordered.HIGHEST_PRECEDENCE);
        return filter;
    }
}
