package jeton.harness;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.json.JSONArray;
import org.json.JSONObject;

/** What a `prepare` request asks for. */
public final class Prepare {
  public final String operation;
  public final String format;

  /** Null for PASETO, where the format decides. */
  public final String alg;

  /** Null but for a JWE. */
  public final String enc;

  /** `prepared` or `parsed-per-call`; for `load-key` the form of {@link #keyText}. */
  public final String keyHandling;

  /** The claims values, whatever their name. Whole numbers are Long. */
  public final List<Map<String, Object>> values;

  /** The same as typed claims, or null if the claims set has no type and stays a map. */
  public final List<Standard> typed;

  /**
   * Whether the library is to be called as its documentation begins, with no demand beyond that: for
   * `lab attack`, and never for a figure of time.
   */
  public final boolean defaults;

  /** Null: not checked. */
  public final String issuer;

  /** Null: not checked. */
  public final String audience;

  /** The audience that tokens have, demanded or not; null if they have none. */
  public final String knownAudience;

  final List<String> tokens;

  private final String privateJwk;
  private final String publicJwk;
  private final JSONObject keyText;

  Prepare(JSONObject request) {
    operation = text(request, "contract");
    format = text(request, "format");
    alg = text(request, "alg");
    enc = text(request, "enc");
    keyHandling = text(request, "key_handling");
    JSONObject keys = request.optJSONObject("keys", new JSONObject());
    privateJwk = jwk(keys, "private");
    publicJwk = jwk(keys, keys.isNull("public") ? "private" : "public");
    keyText = request.optJSONObject("key_text");
    JSONObject claims = request.optJSONObject("claims", new JSONObject());
    values = objects(claims.optJSONArray("values", new JSONArray()));
    boolean isTyped = "standard".equals(text(claims, "name"));
    typed = isTyped ? values.stream().map(Standard::of).toList() : null;
    JSONObject policy = request.optJSONObject("policy", new JSONObject());
    defaults = "defaults".equals(text(request, "practice"));
    knownAudience = nonEmpty(text(policy, "audience"));
    issuer = defaults ? null : nonEmpty(text(policy, "issuer"));
    audience = defaults ? null : knownAudience;
    tokens = new ArrayList<>();
    for (Object token : request.optJSONArray("tokens", new JSONArray())) {
      tokens.add(token.toString());
    }
  }

  /** The private or symmetric JWK as JSON text. */
  public String privateJwk() {
    return demand(privateJwk);
  }

  /** The public JWK as JSON text; a symmetric key comes from `private`, where the protocol has it. */
  public String publicJwk() {
    return demand(publicJwk);
  }

  /** The text to load a key from, if there is one. */
  public KeyText keyText() {
    if (keyText == null) {
      throw DriverException.invalid("load-key needs a key_text");
    }
    return new KeyText(text(keyText, "form"), text(keyText, "private"), text(keyText, "public"));
  }

  /** A key as text. What is not needed is null. */
  public record KeyText(String form, String secret, String open) {}

  /**
   * What an operation calls for what `load` makes of the key: made once for `prepared`, and again in
   * every call for `parsed-per-call`.
   */
  public <K> Callable<K> keyed(Callable<K> load) throws Exception {
    K made = load.call();
    return keyHandling.equals(Driver.PARSED_PER_CALL) ? load : () -> made;
  }

  /**
   * Whether a token without `exp` must be refused. A careful user demands it, so it is false only
   * when the user's own claims are known to go without.
   */
  public boolean expiryRequired() {
    return !defaults && values.stream().allMatch(value -> value.containsKey("exp"));
  }

  private static String jwk(JSONObject keys, String half) {
    JSONObject jwk = keys.optJSONObject(half);
    return jwk == null ? null : jwk.toString();
  }

  private static String demand(String jwk) {
    if (jwk == null) {
      throw DriverException.invalid("a key is missing");
    }
    return jwk;
  }

  private static String text(JSONObject object, String member) {
    Object value = object.opt(member);
    return value instanceof String text ? text : null;
  }

  private static String nonEmpty(String text) {
    return text == null || text.isEmpty() ? null : text;
  }

  private static List<Map<String, Object>> objects(JSONArray array) {
    List<Map<String, Object>> objects = new ArrayList<>();
    for (Object value : array) {
      if (!(value instanceof JSONObject object)) {
        throw DriverException.invalid("a claims value is not a JSON object");
      }
      objects.add(mapOf(object));
    }
    return objects;
  }

  private static Map<String, Object> mapOf(JSONObject object) {
    Map<String, Object> map = new LinkedHashMap<>();
    for (String name : object.keySet()) {
      map.put(name, plain(object.get(name)));
    }
    return map;
  }

  /** The value as a Java program would have it, so that no library meets a JSON type of another. */
  private static Object plain(Object value) {
    if (value instanceof JSONObject object) {
      return mapOf(object);
    }
    if (value instanceof JSONArray array) {
      List<Object> list = new ArrayList<>();
      array.forEach(item -> list.add(plain(item)));
      return list;
    }
    if (value instanceof Integer || value instanceof Long) {
      return ((Number) value).longValue();
    }
    if (value instanceof BigDecimal number) {
      return number.doubleValue();
    }
    if (value == JSONObject.NULL) {
      return null;
    }
    return value;
  }
}
