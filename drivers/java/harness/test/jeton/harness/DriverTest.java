package jeton.harness;

import static jeton.harness.Tests.require;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.json.JSONArray;
import org.json.JSONObject;

/** Tests that every driver does what it offers and rejects what it must. */
final class DriverTest {
  private static final long NOW = System.currentTimeMillis() / 1000;
  private static final Base64.Encoder BASE64URL = Base64.getUrlEncoder().withoutPadding();

  private final Driver driver;

  DriverTest(Driver driver) {
    this.driver = driver;
  }

  Map<String, Tests.Test> tests() {
    Map<String, Tests.Test> tests = new LinkedHashMap<>();
    tests.put(driver.library() + ": the linked version is known", this::version);
    for (Driver.Offer offer : driver.offers()) {
      if (offer.alg() != null && !TestKey.isPossible(offer.alg())) {
        continue;
      }
      String name = driver.library() + ": " + offer.format() + " " + offer.alg() + " " + offer.enc();
      tests.put(name + ": tokens", () -> tokens(offer));
      if (keysDiffer(offer)) {
        tests.put(name + ": keys", () -> keys(offer));
      }
    }
    return tests;
  }

  /** Only the key of `dir` depends on the content encryption. */
  private static boolean keysDiffer(Driver.Offer offer) {
    return offer.enc() == null || offer.alg().equals("dir") || offer.enc().equals("A256GCM");
  }

  /** One content encryption of each family represents the others where a test is slow. */
  private static boolean isPlain(Driver.Offer offer) {
    return offer.enc() == null || List.of("A256GCM", "A128CBC-HS256").contains(offer.enc());
  }

  private static boolean isPaseto(Driver.Offer offer) {
    return offer.alg() == null;
  }

  static JSONObject claims(Driver.Offer offer, boolean map) {
    JSONObject claims = new JSONObject().put("iss", "https://issuer.example").put("sub", "user");
    claims.put("aud", audience(offer, "api")).put("exp", time(offer, NOW + 7200));
    claims.put("iat", time(offer, NOW)).put("jti", "0123456789abcdeF").put("name", "John").put("admin", true);
    return map ? claims.put("deep", new JSONObject().put("numbers", new JSONArray().put(7))) : claims;
  }

  private static Object time(Driver.Offer offer, long seconds) {
    return isPaseto(offer) ? (Object) Instant.ofEpochSecond(seconds).toString() : (Object) seconds;
  }

  private static Object audience(Driver.Offer offer, String audience) {
    return isPaseto(offer) ? audience : new JSONArray().put(audience);
  }

  private void version() {
    require(driver.version().matches("\\d+\\.\\d+.*"), "the version is " + driver.version());
  }

  private void tokens(Driver.Offer offer) throws Exception {
    boolean seals = offer.format().equals("jwe");
    Subject subject = new Subject(offer, 1);
    for (String handling : offer.keyHandling()) {
      for (boolean map : new boolean[] {false, true}) {
        Exchange signer = subject.ready(seals ? "encrypt" : "sign", handling, claims(offer, map));
        String token = signer.token(0);
        if (isPaseto(offer)) {
          require(token.startsWith(offer.format() + "."), "the token is not a " + offer.format());
        } else {
          JSONObject header = new JSONObject(decoded(token.split("\\.")[0]));
          require(header.getString("alg").equals(offer.alg()), "the header is " + header);
        }
        Exchange checker = subject.ready(seals ? "decrypt" : "verify", handling, claims(offer, map), token);
        JSONObject answer = checker.verify(token);
        require(answer.getBoolean("accepted"), "rejects its own token: " + answer);
        requireSame(claims(offer, map), answer.getJSONObject("claims"));
        if (!map) {
          if (isPlain(offer)) {
            requireRejections(checker, signer, subject, token);
          }
          require(checker.run(3, 1, false).getInt("checksum") == 3 * 'F', "checksum of verify");
          JSONObject counted = checker.run(2, 2, true);
          require(counted.getInt("checksum") == 4 * 'F', "checksum of verify on threads");
          require(counted.getLong("bytes") > 0, "counted " + counted);
          requireRoundTrip(subject, handling, token.length());
        }
      }
    }
    if (offer.operations().contains("verify-signature")) {
      String token = subject.ready("sign", Driver.PREPARED, claims(offer, false)).token(0);
      Exchange checker = subject.ready("verify-signature", Driver.PREPARED, claims(offer, false), token);
      JSONObject answer = checker.verify(token);
      require(answer.getBoolean("accepted") && answer.isNull("claims"), "answered " + answer);
      for (String forged : forgeries(subject, token)) {
        require(!checker.verify(forged).getBoolean("accepted"), "its signature check accepts " + forged);
      }
      require(checker.run(3, 2, false).getInt("checksum") == 6, "checksum of verify-signature");
    }
  }

  private void requireRoundTrip(Subject subject, String handling, int length) throws Exception {
    Exchange exchange = subject.ready("round-trip", handling, claims(subject.offer, false));
    int last = exchange.run(1, 1, false).getInt("checksum") - length - 'F';
    // The last byte of a fresh token can be any base64url character.
    require(last >= '-' && last <= 'z', "checksum of round-trip is off by " + last);
    require(exchange.token(0).length() == length, "round-trip returns tokens");
  }

  private void requireRejections(Exchange checker, Exchange signer, Subject subject, String token)
      throws Exception {
    for (String forged : forgeries(subject, token)) {
      require(!checker.verify(forged).getBoolean("accepted"), "accepts " + forged);
    }
    Map<String, JSONObject> wrong = new LinkedHashMap<>();
    wrong.put("an expired token", claims(subject.offer, true).put("exp", time(subject.offer, NOW - 5)));
    wrong.put("a token not valid yet", claims(subject.offer, true).put("nbf", time(subject.offer, NOW + 3000)));
    wrong.put("another issuer", claims(subject.offer, true).put("iss", "https://impostor.example"));
    wrong.put("no issuer", without(subject.offer, "iss"));
    wrong.put("another audience", claims(subject.offer, true).put("aud", audience(subject.offer, "elsewhere")));
    wrong.put("no audience", without(subject.offer, "aud"));
    wrong.put("no expiry", without(subject.offer, "exp"));
    boolean seals = subject.offer.format().equals("jwe");
    for (var one : wrong.entrySet()) {
      Exchange impostor = subject.ready(seals ? "encrypt" : "sign", Driver.PREPARED, one.getValue());
      JSONObject answer = checker.verify(impostor.token(0));
      require(!answer.getBoolean("accepted"), "accepts " + one.getKey());
    }
    require(checker.verify(signer.token(0)).getBoolean("accepted"), "rejects a valid token after the negative controls");
  }

  private static JSONObject without(Driver.Offer offer, String claim) {
    JSONObject claims = claims(offer, true);
    claims.remove(claim);
    return claims;
  }

  /** Returns tokens that were changed or made without the key. */
  private List<String> forgeries(Subject subject, String token) throws Exception {
    List<String> forged = new ArrayList<>();
    String[] parts = token.split("\\.", -1);
    for (int part = 0; part < parts.length; part++) {
      if (!parts[part].isEmpty()) {
        String[] changed = parts.clone();
        int middle = changed[part].length() / 2;
        char other = changed[part].charAt(middle) == 'A' ? 'B' : 'A';
        changed[part] = changed[part].substring(0, middle) + other + changed[part].substring(middle + 1);
        forged.add(String.join(".", changed));
      }
    }
    forged.addAll(List.of("", ".", "..", "....", token + ".", token.substring(0, token.length() - 9)));
    boolean seals = subject.offer.format().equals("jwe");
    Subject stranger = new Subject(subject.offer, 2);
    forged.add(stranger.ready(seals ? "encrypt" : "sign", Driver.PREPARED, claims(subject.offer, false)).token(0));
    String payload = encoded(claims(subject.offer, false).toString());
    for (String none : new String[] {"none", "None", "NONE"}) {
      String header = encoded("{\"alg\":\"" + none + "\"}");
      forged.add(header + "." + payload + ".");
      forged.add(header + "." + payload + "." + parts[parts.length - 1]);
    }
    String header = encoded("{\"alg\":\"HS256\"}");
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(new byte[1], "HmacSHA256")); // HMAC pads a key with zeros: the empty key
    byte[] signed = (header + "." + payload).getBytes(StandardCharsets.US_ASCII);
    forged.add(header + "." + payload + "." + BASE64URL.encodeToString(mac.doFinal(signed)));
    return forged;
  }

  private void keys(Driver.Offer offer) throws Exception {
    Subject subject = new Subject(offer, 1);
    if (offer.operations().contains("generate-key")) {
      Exchange exchange = subject.ready("generate-key", Driver.PREPARED, claims(offer, false));
      require(exchange.run(1, 2, false).getInt("checksum") == 2, "checksum of generate-key");
    }
    for (String form : offer.keyText()) {
      Exchange exchange = subject.ready("load-key", form, claims(offer, false));
      require(exchange.run(3, 1, false).getInt("checksum") == 3, "checksum of load-key");
    }
  }

  private static void requireSame(JSONObject signed, JSONObject seen) {
    if (signed.opt("aud") instanceof JSONArray && seen.opt("aud") instanceof String one) {
      seen.put("aud", new JSONArray().put(one));
    }
    require(signed.similar(seen), "returned " + seen);
  }

  private static String encoded(String text) {
    return BASE64URL.encodeToString(text.getBytes(StandardCharsets.UTF_8));
  }

  private static String decoded(String text) {
    return new String(Base64.getUrlDecoder().decode(text), StandardCharsets.UTF_8);
  }

  /** An offer and a key. */
  private final class Subject {
    final Driver.Offer offer;
    private final TestKey key;
    private final TestPaserk paserk;

    Subject(Driver.Offer offer, int number) throws Exception {
      this.offer = offer;
      key = isPaseto(offer) ? null : TestKey.of(offer.alg(), offer.enc(), number);
      paserk = isPaseto(offer) ? TestPaserk.of(offer.format(), number) : null;
    }

    /** A session that is ready for an operation, with one claims value. */
    Exchange ready(String operation, String handling, JSONObject value, String... tokens)
        throws Exception {
      boolean standard = value.similar(claims(offer, false));
      JSONObject request = new JSONObject().put("op", "prepare").put("contract", operation);
      request.put("format", offer.format()).put("alg", orNull(offer.alg())).put("enc", orNull(offer.enc()));
      request.put("key_handling", handling).put("keys", keys(operation));
      if (operation.equals("load-key")) {
        request.put("key_text", text(handling));
      }
      JSONObject pool = new JSONObject().put("name", standard ? "standard" : "other");
      request.put("claims", pool.put("values", new JSONArray().put(value)));
      JSONObject policy = new JSONObject().put("issuer", "https://issuer.example");
      request.put("policy", policy.put("audience", "api"));
      request.put("tokens", tokens);
      Exchange exchange = new Exchange(driver);
      exchange.require(request);
      return exchange;
    }

    private JSONObject keys(String operation) {
      if (paserk != null) {
        JSONObject keys = new JSONObject().put("private", JSONObject.NULL).put("public", JSONObject.NULL);
        return keys.put("paserk", paserk.json(!opens(operation)));
      }
      boolean secret = key.open() == null || !opens(operation);
      boolean open = !operation.equals("decrypt");
      JSONObject keys = new JSONObject().put("private", orNull(secret ? key.secret() : null));
      return keys.put("public", orNull(open ? key.open() : null)).put("paserk", JSONObject.NULL);
    }

    /** Returns whether an operation gets public keys only. */
    private static boolean opens(String operation) {
      return List.of("encrypt", "verify", "verify-signature").contains(operation);
    }

    private JSONObject text(String form) {
      if (paserk != null) {
        JSONObject text = new JSONObject().put("form", form).put("private", paserk.secret());
        return text.put("public", orNull(paserk.open()));
      }
      boolean pem = form.equals("pem");
      JSONObject text = new JSONObject().put("form", form);
      text.put("private", pem ? key.secretPem() : key.secret().toString());
      String open = pem || key.open() == null ? key.openPem() : key.open().toString();
      return text.put("public", orNull(open));
    }

    private Object orNull(Object value) {
      return value == null ? JSONObject.NULL : value;
    }
  }
}
