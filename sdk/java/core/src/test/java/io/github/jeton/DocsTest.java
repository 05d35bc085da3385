package io.github.jeton;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.StringWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Every example of the pages and of the API reference compiles. */
class DocsTest {
    private static final Pattern IN_PAGE = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);
    private static final Pattern IN_COMMENT = Pattern.compile("<pre>\\{@code\n(.*?) \\* }</pre>", Pattern.DOTALL);

    /** Names that the examples use without a declaration. A variable of an example hides a field. */
    private static final String FIELDS = """
              record Visit(String page) {}
              interface Kms { byte[] sign(byte[] digest); }
              io.github.jeton.Key key, publicKey;
              io.github.jeton.Issuer issuer;
              io.github.jeton.Verifier verifier;
              Kms kms;
              String token, pem;
              byte[] webhookBody, secretBytes;
              java.security.interfaces.ECPrivateKey ecPrivateKey;
              java.security.interfaces.ECPublicKey ecPublicKey;
              java.security.cert.X509Certificate certificate;
              java.security.KeyStore keyStore;
              char[] password;
            """;

    private static final String IMPORTS = """
            import io.github.jeton.*;
            import io.github.jeton.bytes.*;
            import io.github.jeton.claims.*;
            import io.github.jeton.testing.*;
            import java.security.PublicKey;
            import java.time.*;
            import java.util.Date;
            import java.util.Map;
            import java.util.Set;
            """;

    private static final String OTHERS = """
            import com.nimbusds.jose.*;
            import com.nimbusds.jose.crypto.*;
            import com.nimbusds.jose.proc.SecurityContext;
            import com.nimbusds.jwt.*;
            import com.nimbusds.jwt.proc.*;
            import io.jsonwebtoken.Claims;
            import io.jsonwebtoken.Jwts;
            import com.auth0.jwt.JWT;
            import com.auth0.jwt.interfaces.DecodedJWT;
            import java.time.Instant;
            import java.util.Date;
            import java.util.Set;
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

    private static List<String> examples(Pattern pattern, Path file) throws Exception {
        List<String> found = new ArrayList<>();
        Matcher matcher = pattern.matcher(Files.readString(file));
        while (matcher.find()) {
            found.add(matcher.group(1).lines().map(line -> line.replaceFirst("^ *\\* ?", "")).collect(Collectors.joining("\n")));
        }
        return found;
    }

    @Test
    void every_example_compiles() throws Exception {
        Path root = Path.of(System.getProperty("jeton.root"), "sdk/java");
        List<String> examples = new ArrayList<>();
        for (String page : List.of("README.md", "docs/migrate.md")) {
            examples.addAll(examples(IN_PAGE, root.resolve(page)));
        }
        int ofPages = examples.size();
        try (Stream<Path> sources = Files.walk(root.resolve("core/src/main/java"))) {
            for (Path source : sources.filter(path -> path.toString().endsWith(".java")).sorted().toList()) {
                examples.addAll(examples(IN_COMMENT, source));
            }
        }
        assertTrue(ofPages >= 19 && examples.size() >= ofPages + 8, examples.size() + " examples");
        // The examples for Spring are compiled in the tests of that module.
        examples.removeIf(example -> example.contains("@Bean"));
        List<JavaFileObject> sources = new ArrayList<>();
        for (String example : examples) {
            String name = "Example" + sources.size();
            boolean isOfOther = example.startsWith("// ") && !example.startsWith("// jeton");
            sources.add(new Source(name, (isOfOther ? OTHERS : IMPORTS)
                    + "class " + name + " {\n" + FIELDS + "  void run() throws Exception {\n" + example + "\n  }\n}\n"));
        }
        var said = new StringWriter();
        var options = List.of("-d", out.toString(), "-proc:none", "-cp", classPath());
        boolean compiles = ToolProvider.getSystemJavaCompiler()
                .getTask(said, null, null, options, null, sources)
                .call();
        assertTrue(compiles, said::toString);
    }

    private static String classPath() {
        String path = System.getProperty("surefire.test.class.path");
        return path != null ? path : System.getProperty("java.class.path");
    }
}
