package io.github.jeton;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import io.github.jeton.bytes.BytesVerifier;
import io.github.jeton.bytes.Serialization;
import io.github.jeton.testing.TestClock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Every case of sdk/testdata/cases.jsonl, which all languages pass. */
class CasesTest {
    private static final ObjectMapper JSON = new ObjectMapper();

    @Test
    void every_case_passes() throws Exception {
        Path file = Path.of(System.getProperty("jeton.root"), "sdk/testdata/cases.jsonl");
        List<String> failed = new ArrayList<>();
        int count = 0;
        for (String line : Files.readAllLines(file)) {
            JsonNode test = JSON.readTree(line);
            JsonNode found = run(test);
            if (!found.equals(test.get("expect"))) {
                failed.add(test.get("id").asText() + ": " + found + ", expected " + test.get("expect"));
            }
            count++;
        }
        assertTrue(failed.isEmpty(), () -> String.join("\n", failed));
        System.out.println("cases: " + count + " passed, none skipped");
        assertTrue(count >= 1_182);
    }

    private static ObjectNode run(JsonNode test) {
        ObjectNode found = JSON.createObjectNode();
        try {
            switch (test.get("do").asText()) {
                case "verify" -> verify(test, found);
                case "verify-bytes" -> verifyBytes(test, found);
                case "unverified" -> unverified(test, found);
                case "issue" -> issue(test, found);
                case "import" -> describe(key(test.get("key")), found);
                default -> throw new IllegalStateException("unknown action");
            }
        } catch (JetonException failure) {
            boolean isRejection = failure.code().name().startsWith("TOKEN_");
            assertEquals(isRejection, failure instanceof TokenRejectedException);
            found.removeAll();
            found.put("code", failure.code().name());
        }
        return found;
    }

    private static String option(JsonNode options, String name) {
        return options == null || !options.has(name) ? null : options.get(name).asText();
    }

    private static List<String> texts(JsonNode value) {
        List<String> texts = new ArrayList<>();
        (value.isArray() ? value : JSON.createArrayNode().add(value)).forEach(text -> texts.add(text.asText()));
        return texts;
    }

    private static Key key(JsonNode key) {
        JsonNode options = key.get("options");
        KeyImporter importer = Key.importer();
        set(options, "alg", value -> {
            // Unknown names fail here, because they cannot be passed to the library.
            importer.algorithm(Algorithm.of(value.asText()));
        });
        set(options, "enc", value -> importer.contentEncryption(value.asText()));
        set(options, "kid", value -> importer.keyId(value.asText()));
        set(options, "password", value -> importer.password(value.asText()));
        String data = key.get("data").asText();
        String format = Optional.ofNullable(option(options, "format")).orElse("any");
        return switch (format) {
            case "any" -> importer.text(data);
            case "secret" -> importer.secret(data.getBytes(StandardCharsets.UTF_8));
            case "secret-base64" -> importer.secretBase64(data);
            default -> throw new IllegalStateException(format);
        };
    }

    private static KeySet keySet(JsonNode set) {
        JsonNode options = set.get("options");
        String alg = option(options, "default_alg");
        String data = set.get("data").asText();
        boolean published = options != null && options.has("published");
        if (alg == null) {
            return published ? KeySet.parsePublished(data) : KeySet.parse(data);
        }
        Algorithm known = Algorithm.of(alg);
        return published ? KeySet.parsePublished(data, known) : KeySet.parse(data, known);
    }

    private static void set(JsonNode options, String name, Consumer<JsonNode> setter) {
        if (options != null && options.has(name)) {
            setter.accept(options.get(name));
        }
    }

    /** Returns the verifier of a case, or of one of its issuers. */
    private static Verifier verifier(JsonNode test, JsonNode now) {
        JsonNode options = test.get("options");
        Verifier.Builder builder =
                test.has("key") ? Verifier.builder(key(test.get("key"))) : Verifier.builder(keySet(test.get("keys")));
        if ("paseto".equals(option(options, "format"))) {
            builder.paseto();
        }
        if (test.has("decryption")) {
            List<Key> keys = new ArrayList<>();
            test.get("decryption").forEach(key -> keys.add(key(key)));
            builder.decryptWith(KeySet.of(keys));
        }
        set(options, "issuer", value -> builder.issuers(texts(value)));
        set(options, "shared_keys", value -> builder.sharedKeys());
        set(options, "any_issuer", value -> builder.anyIssuer());
        set(options, "audience", value -> builder.audiences(texts(value)));
        set(options, "any_audience", value -> builder.anyAudience());
        set(options, "without_expiry", value -> builder.withoutExpiry());
        set(options, "typ", value -> builder.types(texts(value).toArray(new String[0])));
        set(options, "access_tokens", value -> builder.accessTokens());
        set(options, "required", value -> builder.require(texts(value).toArray(new String[0])));
        set(options, "leeway", value -> builder.leeway(Duration.ofSeconds(value.asLong())));
        set(options, "max_age", value -> builder.maxAge(Duration.ofSeconds(value.asLong())));
        set(options, "footer", value -> builder.footer(value.asText()));
        set(options, "implicit_assertion", value -> builder.implicitAssertion(value.asText()));
        set(options, "enc", value -> builder.contentEncryptions(texts(value).toArray(new String[0])));
        set(options, "cache", value -> builder.cache(value.asInt()));
        JsonNode limits = options == null ? null : options.get("limits");
        set(limits, "token_bytes", value -> builder.maxTokenBytes(value.asInt()));
        set(limits, "json_depth", value -> builder.maxJsonDepth(value.asInt()));
        return builder.clock(TestClock.at(Instant.ofEpochSecond(now.asLong()))).build();
    }

    private static void verify(JsonNode test, ObjectNode found) {
        JsonNode now = test.get("now");
        List<Verifier> issuers = new ArrayList<>();
        test.path("issuers").forEach(issuer -> issuers.add(verifier(issuer, now)));
        TokenVerifier verifier = issuers.isEmpty() ? verifier(test, now) : MultiIssuerVerifier.of(issuers);
        String token = test.get("token").asText();
        VerifiedToken verified = verifier.verify(token);
        describe(verified, found);
        checkMap(verified);
        // Java returns the members and not the text.
        String header = test.path("expect").path("header").asText();
        if (!header.isEmpty() && tree(header).equals(tree(verified.header()))) {
            found.put("header", header);
        } else if (!verified.header().isEmpty()) {
            found.set("header", tree(verified.header()));
        }
    }

    private static void unverified(JsonNode test, ObjectNode found) {
        UnverifiedToken token = UnverifiedToken.read(test.get("token").asText());
        Map<String, Object> all = new HashMap<>();
        all.put("format", token.header().isEmpty() ? "paseto" : token.claims().isEmpty() ? "jwe" : "jwt");
        all.put("header", token.header().orElse(null));
        all.put("claims", token.claims().orElse(null));
        all.put("footer", token.footer().orElse(null));
        String json = test.path("expect").path("json").asText();
        found.set("json", tree(json).equals(tree(all)) ? TextNode.valueOf(json) : tree(all));
    }

    /** Returns JSON with exact numbers. */
    private static JsonNode tree(Object value) {
        try {
            ObjectMapper exact = io.github.jeton.claims.StrictJackson.strict();
            return exact.readTree(value instanceof String json ? json : exact.writeValueAsString(value));
        } catch (com.fasterxml.jackson.core.JsonProcessingException impossible) {
            throw new AssertionError(impossible);
        }
    }

    /** The map has the same claims as the text. */
    private static void checkMap(VerifiedToken verified) {
        assertEquals(tree(verified.json()), tree(verified.toMap()));
    }

    private static void describe(VerifiedToken verified, ObjectNode found) {
        found.put("json", verified.json());
        found.put("alg", verified.algorithm().standardName());
        verified.keyId().ifPresent(text -> found.put("kid", text));
        verified.type().ifPresent(text -> found.put("typ", text));
        verified.footer().ifPresent(bytes -> found.put("footer", new String(bytes, StandardCharsets.UTF_8)));
        verified.issuer().ifPresent(text -> found.put("issuer", text));
        verified.subject().ifPresent(text -> found.put("subject", text));
        if (!verified.audiences().isEmpty()) {
            var list = found.putArray("audiences");
            verified.audiences().forEach(list::add);
        }
        verified.expiresAt().ifPresent(time -> found.set("expires_at", number(time)));
        verified.notBefore().ifPresent(time -> found.set("not_before", number(time)));
        verified.issuedAt().ifPresent(time -> found.set("issued_at", number(time)));
        verified.tokenId().ifPresent(text -> found.put("token_id", text));
    }

    /** Returns a number as Jackson reads it, because it has different types for small and large numbers. */
    private static JsonNode number(Instant time) {
        try {
            return JSON.readTree(Long.toString(time.getEpochSecond()));
        } catch (com.fasterxml.jackson.core.JsonProcessingException impossible) {
            throw new AssertionError(impossible);
        }
    }

    private static void verifyBytes(JsonNode test, ObjectNode found) {
        JsonNode options = test.get("options");
        BytesVerifier.Builder builder;
        if ("jwe".equals(option(options, "format"))) {
            List<Key> keys = new ArrayList<>();
            test.get("decryption").forEach(key -> keys.add(key(key)));
            builder = BytesVerifier.jwe(KeySet.of(keys));
        } else {
            builder = test.has("key") ? BytesVerifier.jws(key(test.get("key"))) : BytesVerifier.jws(keySet(test.get("keys")));
        }
        set(options, "serialization", value -> builder.serialization(Serialization.valueOf(value.asText().toUpperCase())));
        set(options, "enc", value -> builder.contentEncryptions(texts(value).toArray(new String[0])));
        JsonNode limits = options == null ? null : options.get("limits");
        set(limits, "token_bytes", value -> builder.maxTokenBytes(value.asInt()));
        set(limits, "json_depth", value -> builder.maxJsonDepth(value.asInt()));
        String token = test.get("token").asText();
        byte[] payload = test.has("content")
                ? builder.build().verifyDetached(token, Base64.getUrlDecoder().decode(test.get("content").asText()))
                : builder.build().verify(token);
        found.put("payload", Base64.getUrlEncoder().withoutPadding().encodeToString(payload));
    }

    private static void issue(JsonNode test, ObjectNode found) {
        JsonNode options = test.get("options");
        Issuer.Builder builder = Issuer.builder(key(test.get("key")));
        set(options, "issuer", value -> builder.issuer(value.asText()));
        set(options, "audience", value -> {
            if (value.isArray()) {
                builder.audiences(texts(value));
            } else {
                builder.audience(value.asText());
            }
        });
        set(options, "lifetime", value -> builder.lifetime(Duration.ofSeconds(value.asLong())));
        set(options, "without_expiry", value -> builder.withoutExpiry());
        set(options, "issued_ago", value -> builder.issuedAgo(Duration.ofSeconds(value.asLong())));
        set(options, "access_tokens", value -> builder.accessTokens());
        set(options, "typ", value -> builder.type(value.asText()));
        set(options, "headers", value -> builder.headers(JSON.convertValue(value, new TypeReference<Map<String, Object>>() {})));
        builder.clock(TestClock.at(Instant.ofEpochSecond(test.get("now").asLong())));
        found.put("token", builder.build().issueJson(test.get("claims").asText()));
    }

    private static void describe(Key key, ObjectNode found) {
        found.put("alg", key.algorithm().standardName());
        key.keyId().ifPresent(id -> found.put("kid", id));
        found.put("kind", key.kind().name().toLowerCase());
        if (!key.algorithm().isPaseto()) {
            found.put("thumbprint", key.thumbprint());
            if (!found.get("kind").asText().equals("symmetric")) {
                checkKeyOfTheJdk(key);
            }
        }
    }

    /** The public key as a key of the JDK is the same key. */
    private static void checkKeyOfTheJdk(Key key) {
        try {
            assertEquals(key.thumbprint(), Key.of(key.toPublicKey(), key.algorithm()).thumbprint());
        } catch (JetonException failure) {
            assertEquals(ErrorCode.KEY_UNSUPPORTED, failure.code());
        }
    }
}
