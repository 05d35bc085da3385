package io.github.jeton.spring;

import io.github.jeton.Issuer;
import io.github.jeton.RemoteKeySet;
import io.github.jeton.TokenVerifier;
import io.github.jeton.Verifier;
import jakarta.servlet.Filter;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.core.io.ResourceLoader;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.security.oauth2.jwt.JwtDecoder;
import org.springframework.security.oauth2.jwt.JwtEncoder;
import org.springframework.security.oauth2.jwt.ReactiveJwtDecoder;
import org.springframework.web.server.WebFilter;

/** The classes of {@link JetonAutoConfiguration}, in the order in which it imports them. */
final class Configurations {
    private Configurations() {}

    /** The properties name keys. */
    static final class OnKeys implements Condition {
        @Override
        public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
            return JwtProperties.of(context.getEnvironment()).hasKeys();
        }
    }

    /** The properties name keys that are fetched. */
    static final class OnRemoteKeys implements Condition {
        @Override
        public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
            return JwtProperties.of(context.getEnvironment()).hasRemoteKeys();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Conditional(OnRemoteKeys.class)
    @ConditionalOnMissingBean({TokenVerifier.class, RemoteKeySet.class})
    static class Keys {
        @Bean
        RemoteKeySet jetonKeys(Environment environment, ObjectProvider<RemoteKeySetCustomizer> customizers) {
            RemoteKeySet.Builder builder = JwtProperties.of(environment).remoteKeys();
            customizers.orderedStream().forEach(customizer -> customizer.customize(builder));
            return builder.build();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Conditional(OnKeys.class)
    @ConditionalOnMissingBean(TokenVerifier.class)
    static class Verifiers {
        @Bean
        Verifier jetonVerifier(
                Environment environment,
                ResourceLoader loader,
                ObjectProvider<RemoteKeySet> keys,
                ObjectProvider<VerifierCustomizer> customizers) {
            JwtProperties properties = JwtProperties.of(environment);
            Verifier.Builder builder = properties.hasRemoteKeys()
                    ? Verifier.builder(keys.getObject())
                    : Verifier.builder(properties.publicKey(loader));
            boolean isWhole = customizers.stream().findAny().isPresent();
            if (properties.issuerUri() != null) {
                builder.issuer(properties.issuerUri());
            } else if (!isWhole) {
                throw absent("issuer-uri", "anyIssuer");
            }
            if (!properties.audiences().isEmpty()) {
                builder.audiences(properties.audiences());
            } else if (!isWhole) {
                throw absent("audiences", "anyAudience");
            }
            customizers.orderedStream().forEach(customizer -> customizer.customize(builder));
            return builder.build();
        }

        private static IllegalStateException absent(String property, String method) {
            return new IllegalStateException("`" + JwtProperties.PREFIX + "." + property + "` is not set: set it, or call `"
                    + method + "` in a bean of " + VerifierCustomizer.class.getName());
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(Filter.class)
    @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
    static class Servlet {
        @Bean
        @ConditionalOnBean(TokenVerifier.class)
        @ConditionalOnMissingBean(JwtDecoder.class)
        JetonJwtDecoder jetonJwtDecoder(TokenVerifier verifier, Environment environment) {
            return JetonJwtDecoder.of(verifier, JwtProperties.of(environment).algorithms());
        }

        @Bean
        @ConditionalOnMissingBean
        KeysUnavailableFilter jetonKeysUnavailableFilter() {
            return new KeysUnavailableFilter();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(WebFilter.class)
    @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.REACTIVE)
    static class Reactive {
        @Bean
        @ConditionalOnBean(TokenVerifier.class)
        @ConditionalOnMissingBean(ReactiveJwtDecoder.class)
        JetonReactiveJwtDecoder jetonReactiveJwtDecoder(TokenVerifier verifier, Environment environment) {
            return JetonReactiveJwtDecoder.of(verifier, JwtProperties.of(environment).algorithms());
        }

        @Bean
        @ConditionalOnMissingBean
        KeysUnavailableWebFilter jetonKeysUnavailableWebFilter() {
            return new KeysUnavailableWebFilter();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnBean(Issuer.class)
    @ConditionalOnMissingBean(JwtEncoder.class)
    static class Encoder {
        @Bean
        JetonJwtEncoder jetonJwtEncoder(Issuer issuer) {
            return JetonJwtEncoder.of(issuer);
        }
    }
}
