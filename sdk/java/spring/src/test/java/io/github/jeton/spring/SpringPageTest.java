package io.github.jeton.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.jeton.Issuer;
import io.github.jeton.RemoteKeySet;
import io.github.jeton.Verifier;
import java.io.StringWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.security.oauth2.core.DelegatingOAuth2TokenValidator;
import org.springframework.security.oauth2.jwt.BadJwtException;
import org.springframework.security.oauth2.jwt.JwtClaimValidator;
import org.springframework.security.oauth2.jwt.JwtDecoder;
import org.springframework.security.oauth2.jwt.JwtValidators;
import org.springframework.security.oauth2.jwt.NimbusJwtDecoder;
import org.springframework.security.oauth2.jose.jws.SignatureAlgorithm;

/** Checks the examples and the table of docs/spring.md. */
class SpringPageTest {
    private static final Pattern EXAMPLE = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);

    private static final String IMPORTS = """
            import io.github.jeton.*;
            import io.github.jeton.spring.*;
            import java.time.Duration;
            import java.util.List;
            import org.springframework.context.annotation.Bean;
            import org.springframework.security.config.annotation.web.builders.HttpSecurity;
            import org.springframework.security.oauth2.core.DelegatingOAuth2TokenValidator;
            import org.springframework.security.oauth2.jwt.*;
            import org.springframework.security.oauth2.server.resource.authentication.*;
            import org.springframework.security.web.SecurityFilterChain;
            """;

    private static final String FIELDS = """
              java.security.interfaces.ECPublicKey ecPublicKey;
              java.security.interfaces.ECPrivateKey ecPrivateKey;
            """;

    @TempDir
    Path out;

    private static final class Source extends SimpleJavaFileObject {
        private final String text;

        Source(String name, String text) {
            super(URI.create("string:///" + name + ".java"), Kind.SOURCE);
            this.text = text;
        }

        @Override
        public CharSequence getCharContent(boolean ignoreErrors) {
            return text;
        }
    }

    private static String page() throws Exception {
        return Files.readString(Path.of(System.getProperty("jeton.root"), "sdk/java/docs/spring.md"));
    }

    @Test
    void every_example_compiles() throws Exception {
        List<JavaFileObject> sources = new ArrayList<>();
        Matcher matcher = EXAMPLE.matcher(page());
        while (matcher.find()) {
            String name = "Example" + sources.size();
            // The encoder with a pair of keys is new in Spring Security 7.
            if (matcher.group(1).contains("NimbusJwtEncoder.withKeyPair") && !hasMethod("NimbusJwtEncoder", "withKeyPair")) {
                continue;
            }
            sources.add(new Source(name, IMPORTS + "class " + name + " {\n" + FIELDS + matcher.group(1) + "}\n"));
        }
        assertTrue(sources.size() >= 6, sources.size() + " examples");
        String path = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        var said = new StringWriter();
        var options = List.of("-d", out.toString(), "-proc:none", "-cp", path);
        boolean compiles = ToolProvider.getSystemJavaCompiler()
                .getTask(said, null, null, options, null, sources)
                .call();
        assertTrue(compiles, said::toString);
    }

    private static boolean hasMethod(String type, String name) throws Exception {
        Class<?> loaded = Class.forName("org.springframework.security.oauth2.jwt." + type);
        return List.of(loaded.getMethods()).stream().anyMatch(method -> method.getName().equals(name));
    }

    private static Map<String, String> tokens(IssuerServer server) {
        long now = Instant.now().getEpochSecond();
        // Spring refuses `exp` before `iat`.
        String usual = "{\"iss\":\"" + server.name() + "\",\"aud\":\"api\",\"iat\":" + (now - 120) + ",\"exp\":"
                + (now + 7200) + "}";
        Issuer issuer = Issuer.builder(server.key()).build();
        Issuer endless = Issuer.builder(server.key()).withoutExpiry().build();
        Map<String, String> claims = new LinkedHashMap<>();
        claims.put("as in the examples", usual);
        claims.put("`exp` was 30 s ago", usual.replaceFirst("\"exp\":\\d+", "\"exp\":" + (now - 30)));
        claims.put("`exp` was 90 s ago", usual.replaceFirst("\"exp\":\\d+", "\"exp\":" + (now - 90)));
        claims.put("`exp` is absent", usual.replaceFirst(",\"exp\":\\d+", ""));
        claims.put("`nbf` is in 30 s", usual.replace("}", ",\"nbf\":" + (now + 30) + "}"));
        claims.put("`iat` is in 1 hour", usual.replaceFirst("\"iat\":\\d+", "\"iat\":" + (now + 3600)));
        claims.put("`typ` is `at+jwt`", usual);
        claims.put("`iss` is another issuer", usual.replace(server.name(), "https://other.example"));
        claims.put("`aud` is absent", usual.replace("\"aud\":\"api\",", ""));
        Issuer access = Issuer.builder(server.key()).type("at+jwt").build();
        claims.replaceAll((name, json) ->
                (name.contains("typ") ? access : json.contains("exp") ? issuer : endless).issueJson(json));
        return claims;
    }

    /** The code of the page. */
    private static JwtDecoder ofSpring(IssuerServer server) {
        NimbusJwtDecoder decoder = NimbusJwtDecoder.withJwkSetUri(server.name() + "/jwks")
                .jwsAlgorithm(SignatureAlgorithm.ES256)
                .build();
        decoder.setJwtValidator(new DelegatingOAuth2TokenValidator<>(
                JwtValidators.createDefaultWithIssuer(server.name()),
                new JwtClaimValidator<List<String>>("aud", audiences -> audiences != null && audiences.contains("api"))));
        return decoder;
    }

    private static Verifier ofJeton(IssuerServer server) {
        RemoteKeySet keys = RemoteKeySet.discover(server.name()).build();
        return Verifier.builder(keys).issuer(server.name()).audience("api").build();
    }

    private static String outcome(JwtDecoder decoder, String token) {
        try {
            decoder.decode(token);
            return "accepted";
        } catch (BadJwtException rejected) {
            String message = rejected.getMessage();
            boolean isOfJeton = decoder instanceof JetonJwtDecoder;
            return isOfJeton ? "`" + message.substring(0, message.indexOf(':')) + "`" : "rejected";
        }
    }

    @Test
    void page_says_what_is_accepted() throws Exception {
        StringBuilder rows = new StringBuilder();
        try (IssuerServer server = new IssuerServer()) {
            JwtDecoder spring = ofSpring(server);
            JwtDecoder jeton = JetonJwtDecoder.of(ofJeton(server));
            tokens(server).forEach((name, token) -> rows.append("| ").append(name)
                    .append(" | ").append(outcome(spring, token))
                    .append(" | ").append(outcome(jeton, token)).append(" |\n"));
        }
        String page = page();
        assertTrue(page.contains(rows), () -> "the page does not have these rows:\n" + rows);
        assertEquals(9, rows.toString().lines().count());
    }
}
