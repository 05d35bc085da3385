package io.github.jeton.spring;

import org.springframework.security.core.annotation.AuthenticationPrincipal;
import org.springframework.security.oauth2.jwt.Jwt;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** Returns the contents of the token. */
@RestController
class Visits {
    @GetMapping("/who")
    String who(@AuthenticationPrincipal Jwt token) {
        return token.getSubject() + " " + token.getIssuer() + " " + token.getAudience() + " " + token.getExpiresAt()
                + " " + token.getIssuedAt() + " " + token.getHeaders().get("alg");
    }
}
