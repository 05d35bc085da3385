package jeton.harness;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The claims set `standard`, as a user's own type would be. Times are seconds since 1970. Only
 * members that a verified token may lack can be null.
 */
public record Standard(
    String iss,
    String sub,
    List<String> aud,
    Long exp,
    Long iat,
    String jti,
    String name,
    Boolean admin)
    implements Verified {

  private static final Set<String> MEMBERS =
      Set.of("iss", "sub", "aud", "exp", "iat", "jti", "name", "admin");

  /** Reads a value to sign, which must have exactly these claims. */
  static Standard of(Map<String, Object> value) {
    if (!value.keySet().equals(MEMBERS)
        || !(value.get("aud") instanceof List<?> audience)
        || !(value.get("exp") instanceof Long)
        || !(value.get("iat") instanceof Long)
        || !(value.get("admin") instanceof Boolean)) {
      throw DriverException.invalid("a claims value named standard does not have exactly the standard claims");
    }
    return new Standard(
        value.get("iss").toString(),
        value.get("sub").toString(),
        audience.stream().map(Object::toString).toList(),
        (Long) value.get("exp"),
        (Long) value.get("iat"),
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
