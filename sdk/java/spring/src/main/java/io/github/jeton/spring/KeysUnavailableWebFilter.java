package io.github.jeton.spring;

import org.springframework.core.Ordered;
import org.springframework.http.HttpStatus;
import org.springframework.security.authentication.AuthenticationServiceException;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;
import reactor.core.publisher.Mono;

/**
 * Responds with 503 if the keys cannot be fetched or used, so that clients retry. Without it, Spring Boot responds with
 * 500.
 */
public final class KeysUnavailableWebFilter implements WebFilter, Ordered {
    /** Creates a filter. */
    public KeysUnavailableWebFilter() {}

    @Override
    public Mono<Void> filter(ServerWebExchange exchange, WebFilterChain chain) {
        return chain.filter(exchange).onErrorResume(AuthenticationServiceException.class, failed -> {
            boolean isUnavailable = KeysUnavailable.isCauseOf(failed)
                    && exchange.getResponse().setStatusCode(HttpStatus.SERVICE_UNAVAILABLE);
            return isUnavailable ? exchange.getResponse().setComplete() : Mono.error(failed);
        });
    }

    /** Returns the first place, before the filters of Spring Security. */
    @Override
    public int getOrder() {
        return HIGHEST_PRECEDENCE;
    }
}
