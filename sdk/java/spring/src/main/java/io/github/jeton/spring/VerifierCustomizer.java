package io.github.jeton.spring;

import io.github.jeton.Verifier;

/** Changes the verifier of {@link JetonAutoConfiguration}. Beans of this type are called before it is built. */
@FunctionalInterface
public interface VerifierCustomizer {
    /** Changes the verifier. The properties have already set issuer and audience. */
    void customize(Verifier.Builder builder);
}
