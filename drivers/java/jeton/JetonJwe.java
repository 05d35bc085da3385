import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.github.jeton.Algorithm;
import io.github.jeton.Key;
import io.github.jeton.KeyImporter;
import io.github.jeton.bytes.BytesIssuer;
import io.github.jeton.bytes.BytesVerifier;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import jeton.harness.ClaimsCheck;
import jeton.harness.Driver;
import jeton.harness.Prepare;
import jeton.harness.Rejection;
import jeton.harness.Standard;
import jeton.harness.Verified;

/**
 * Claims in a JWE. Except with a key for `dir`, a JWE does not authenticate its sender, so the library has no verified claims for it.
 * They are written and read with Jackson, and checked by hand inside the timed loop.
 */
final class JetonJwe {
  private static final ObjectMapper JSON =
      JsonMapper.builder()
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          // An audience may be one text (RFC 7519, section 4.1.3).
          .enable(DeserializationFeature.ACCEPT_SINGLE_VALUE_AS_ARRAY)
          .build();

  private JetonJwe() {}

  static List<Driver.Offer> offers() {
    Set<String> operations = Set.of("encrypt", "decrypt", "round-trip", "generate-key", "load-key");
    List<String> encs =
        List.of(
            "A128CBC-HS256", "A192CBC-HS384", "A256CBC-HS512", "A128GCM", "A192GCM", "A256GCM");
    List<Driver.Offer> offers =
        new ArrayList<>(
            Driver.Offer.jwe(
                operations,
                Set.of("jwk"),
                List.of(
                    // begin: secrets for JWE, written by `cargo xtask sdk algorithms`
                    "dir", "A128KW", "A192KW", "A256KW", "A128GCMKW", "A192GCMKW", "A256GCMKW"
                    // end: secrets for JWE
                    ),
                encs));
    offers.addAll(
        Driver.Offer.jwe(
            operations,
            Set.of("jwk", "pem"),
            List.of(
                // begin: key pairs for JWE, written by `cargo xtask sdk algorithms`
                "RSA-OAEP", "RSA-OAEP-256", "RSA-OAEP-384", "RSA-OAEP-512", "ECDH-ES",
                "ECDH-ES+A128KW", "ECDH-ES+A192KW", "ECDH-ES+A256KW"
                // end: key pairs for JWE
                ),
            encs));
    return offers;
  }

  static Key key(Prepare prepare, String text) {
    KeyImporter importer = Key.importer().algorithm(Algorithm.of(prepare.alg));
    return (prepare.alg.equals("dir") ? importer.contentEncryption(prepare.enc) : importer).text(text);
  }

  static Driver.Signer sign(Prepare prepare) throws Exception {
    String jwk = prepare.publicKey();
    Callable<BytesIssuer> issuer =
        prepare.keyed(
            () -> BytesIssuer.jwe(key(prepare, jwk)).contentEncryption(prepare.enc).build());
    List<?> claims = prepare.typed == null ? prepare.values : prepare.typed;
    return index -> issuer.call().issue(json(claims.get(index)));
  }

  static byte[] json(Object claims) throws JsonProcessingException {
    return JSON.writeValueAsBytes(claims);
  }

  static Driver.Check check(Prepare prepare) throws Exception {
    String jwk = prepare.privateKey();
    Callable<BytesVerifier> verifier =
        prepare.keyed(
            () ->
                BytesVerifier.jwe(key(prepare, jwk)).contentEncryptions(prepare.enc).build());
    boolean typed = prepare.typed != null;
    ClaimsCheck check = new ClaimsCheck(prepare);
    return token -> {
      JsonNode claims = JSON.readTree(verifier.call().verify(token));
      check(claims, check);
      return typed
          ? JSON.treeToValue(claims, Standard.class)
          : new Verified.OfMap(JSON.convertValue(claims, new TypeReference<Map<String, Object>>() {}));
    };
  }

  private static void check(JsonNode claims, ClaimsCheck check) throws Rejection {
    if (!claims.isObject()) {
      throw new Rejection("the claims are not an object");
    }
    time(claims, "iat");
    check.check(
        time(claims, "exp"),
        time(claims, "nbf"),
        claims.path("iss").textValue(),
        expected -> contains(claims.path("aud"), expected));
  }

  /** Returns a time in seconds, or NaN without one. */
  private static double time(JsonNode claims, String name) throws Rejection {
    JsonNode time = claims.get(name);
    if (time != null && !time.isNumber()) {
      throw new Rejection("a time is not a number");
    }
    return time == null ? Double.NaN : time.doubleValue();
  }

  private static boolean contains(JsonNode audience, String expected) {
    if (audience.isTextual()) {
      return audience.textValue().equals(expected);
    }
    boolean found = false;
    for (JsonNode one : audience) {
      if (!one.isTextual()) {
        return false;
      }
      found |= one.textValue().equals(expected);
    }
    return audience.isArray() && found;
  }
}
