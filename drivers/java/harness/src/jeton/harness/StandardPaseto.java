package jeton.harness;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/**
 * The claims set `standard` in a PASETO, as a user's own type would be. Times are RFC 3339 text. Only
 * members that a verified token may lack can be null.
 */
public record StandardPaseto(
    String iss,
    String sub,
    String aud,
    String exp,
    String iat,
    String jti,
    String name,
    Boolean admin)
    implements Verified {

  private static final Set<String> MEMBERS =
      Set.of("iss", "sub", "aud", "exp", "iat", "jti", "name", "admin");

  /** Reads a value to sign, which must have exactly these claims. */
  static StandardPaseto of(Map<String, Object> value) {
    boolean isText =
        value.entrySet().stream()
            .allMatch(one -> one.getKey().equals("admin") || one.getValue() instanceof String);
    if (!value.keySet().equals(MEMBERS) || !isText || !(value.get("admin") instanceof Boolean)) {
      throw DriverException.invalid("a claims value named standard does not have exactly the standard claims");
    }
    return new StandardPaseto(
        value.get("iss").toString(),
        value.get("sub").toString(),
        value.get("aud").toString(),
        value.get("exp").toString(),
        value.get("iat").toString(),
        value.get("jti").toString(),
        value.get("name").toString(),
        (Boolean) value.get("admin"));
  }

  @Override
  public Map<String, Object> view() {
    Map<String, Object> claims = new LinkedHashMap<>();
    claims.put("iss", iss);
    claims.put("sub", sub);
    claims.put("aud", aud);
    claims.put("exp", exp);
    claims.put("iat", iat);
    claims.put("jti", jti);
    claims.put("name", name);
    claims.put("admin", admin);
    claims.values().removeIf(value -> value == null);
    return claims;
  }
}
