package io.github.jeton.spring;

import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.springframework.core.Ordered;
import org.springframework.security.authentication.AuthenticationServiceException;

/**
 * Responds with 503 if the keys cannot be fetched or used, so that clients retry. Without it, Spring Boot responds with
 * 401, because its error page also needs a token.
 */
public final class KeysUnavailableFilter implements Filter, Ordered {
    /** Creates a filter. */
    public KeysUnavailableFilter() {}

    @Override
    public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        try {
            chain.doFilter(request, response);
        } catch (AuthenticationServiceException failed) {
            if (!KeysUnavailable.isCauseOf(failed) || response.isCommitted()) {
                throw failed;
            }
            ((HttpServletResponse) response).setStatus(HttpServletResponse.SC_SERVICE_UNAVAILABLE);
        }
    }

    /** Returns the first place, before the filters of Spring Security. */
    @Override
    public int getOrder() {
        return HIGHEST_PRECEDENCE;
    }
}
