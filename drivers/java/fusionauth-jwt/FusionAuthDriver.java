import io.fusionauth.jwt.JWTDecoder;
import io.fusionauth.jwt.JWTEncoder;
import io.fusionauth.jwt.Verifier;
import io.fusionauth.jwt.domain.JWT;
import io.fusionauth.jwt.ec.ECSigner;
import io.fusionauth.jwt.ec.ECVerifier;
import io.fusionauth.jwt.ed.EdDSASigner;
import io.fusionauth.jwt.ed.EdDSAVerifier;
import io.fusionauth.jwt.hmac.HMACSigner;
import io.fusionauth.jwt.hmac.HMACVerifier;
import io.fusionauth.jwt.rsa.RSAPSSSigner;
import io.fusionauth.jwt.rsa.RSAPSSVerifier;
import io.fusionauth.jwt.rsa.RSASigner;
import io.fusionauth.jwt.rsa.RSAVerifier;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import jeton.harness.ClaimsCheck;
import jeton.harness.Driver;
import jeton.harness.Jwks;
import jeton.harness.Prepare;
import jeton.harness.Session;
import jeton.harness.Standard;
import jeton.harness.Verified;

/**
 * The driver of io.fusionauth:fusionauth-jwt. The verifier is chosen by the algorithm of the header,
 * with one algorithm to choose from. The library checks `exp` and `nbf` where a token has them. The
 * driver checks by hand that `exp` is present, and the issuer and the audience. The harness converts
 * the keys.
 *
 * With its defaults, the decoder has one verifier, and no claims are checked besides the times.
 */
public final class FusionAuthDriver implements Driver {
  private final JWTEncoder encoder = JWT.getEncoder();
  private final JWTDecoder decoder = JWT.getDecoder();

  public static void main(String[] arguments) throws IOException {
    Session.serve(new FusionAuthDriver());
  }

  @Override
  public String library() {
    return "fusionauth-jwt";
  }

  @Override
  public String version() {
    return Driver.linkedVersion("io.fusionauth", "fusionauth-jwt");
  }

  @Override
  public List<String> byDriver() {
    return List.of("jwt:exp", "jwt:iss", "jwt:aud");
  }

  @Override
  public boolean knowsDefaults() {
    return true;
  }

  @Override
  public List<Offer> offers() {
    // It has Ed25519 by the name of RFC 9864, and no EdDSA. No verify-signature: a decoded token has its
    // claims.
    return Offer.jwt(
        Set.of("sign", "verify", "round-trip"),
        Set.of(),
        "HS256", "HS384", "HS512", "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256",
        "ES384", "ES512", "Ed25519");
  }

  @Override
  public Signer sign(Prepare prepare) throws Exception {
    Callable<io.fusionauth.jwt.Signer> signer = prepare.keyed(() -> signer(prepare));
    return index -> encoder.encode(claims(prepare, index), signer.call());
  }

  private static JWT claims(Prepare prepare, int index) {
    JWT token = new JWT();
    if (prepare.typed == null) {
      prepare.values.get(index).forEach(token::addClaim);
      return token;
    }
    Standard claims = prepare.typed.get(index);
    return token
        .setIssuer(claims.iss())
        .setSubject(claims.sub())
        .setAudience(claims.aud())
        .setExpiration(time(claims.exp()))
        .setIssuedAt(time(claims.iat()))
        .setUniqueId(claims.jti())
        .addClaim("name", claims.name())
        .addClaim("admin", claims.admin());
  }

  private static ZonedDateTime time(long seconds) {
    return Instant.ofEpochSecond(seconds).atZone(ZoneOffset.UTC);
  }

  @Override
  public Check check(Prepare prepare) throws Exception {
    Callable<Map<String, Verifier>> verifiers =
        prepare.keyed(() -> Map.of(prepare.alg, verifier(prepare)));
    ClaimsCheck check = new ClaimsCheck(prepare);
    boolean typed = prepare.typed != null;
    return text -> {
      JWT token =
          prepare.defaults
              ? decoder.decode(text, verifiers.call().get(prepare.alg))
              : decoder.decode(text, verifiers.call(), header -> header.algorithm.name());
      check.check(
          token.expiration == null ? Double.NaN : token.expiration.toEpochSecond(),
          Double.NaN,
          token.issuer,
          expected -> has(token.audience, expected));
      return typed ? standard(token) : new Claims(token);
    };
  }

  private static boolean has(Object audience, String expected) {
    return expected.equals(audience)
        || audience instanceof List<?> several && several.contains(expected);
  }

  private static Standard standard(JWT token) {
    List<String> audience =
        token.audience instanceof List<?> several
            ? several.stream().map(Object::toString).toList()
            : List.of(token.audience.toString());
    return new Standard(
        token.issuer,
        token.subject,
        audience,
        seconds(token.expiration),
        seconds(token.issuedAt),
        token.uniqueId,
        token.getString("name"),
        token.getBoolean("admin"));
  }

  private static Long seconds(ZonedDateTime time) {
    return time == null ? null : time.toEpochSecond();
  }

  /** The library's claims where they have no type. */
  private record Claims(JWT token) implements Verified {
    @Override
    public String jti() {
      return token.uniqueId;
    }

    @Override
    public Map<String, Object> view() {
      return token.getRawClaims();
    }
  }

  private static io.fusionauth.jwt.Signer signer(Prepare prepare) throws GeneralSecurityException {
    String jwk = prepare.privateKey();
    if (prepare.alg.startsWith("HS")) {
      byte[] secret = Jwks.secret(jwk);
      return switch (prepare.alg) {
        case "HS256" -> HMACSigner.newSHA256Signer(secret);
        case "HS384" -> HMACSigner.newSHA384Signer(secret);
        default -> HMACSigner.newSHA512Signer(secret);
      };
    }
    PrivateKey key = Jwks.privateKey(jwk);
    return switch (prepare.alg) {
      case "RS256" -> RSASigner.newSHA256Signer(key);
      case "RS384" -> RSASigner.newSHA384Signer(key);
      case "RS512" -> RSASigner.newSHA512Signer(key);
      case "PS256" -> RSAPSSSigner.newSHA256Signer(key);
      case "PS384" -> RSAPSSSigner.newSHA384Signer(key);
      case "PS512" -> RSAPSSSigner.newSHA512Signer(key);
      case "ES256" -> ECSigner.newSHA256Signer(key);
      case "ES384" -> ECSigner.newSHA384Signer(key);
      case "ES512" -> ECSigner.newSHA512Signer(key);
      default -> EdDSASigner.newSigner(key);
    };
  }

  private static Verifier verifier(Prepare prepare) throws GeneralSecurityException {
    String jwk = prepare.publicKey();
    if (prepare.alg.startsWith("HS")) {
      return HMACVerifier.newVerifier(Jwks.secret(jwk));
    }
    PublicKey key = Jwks.publicKey(jwk);
    return switch (prepare.alg.substring(0, 2)) {
      case "RS" -> RSAVerifier.newVerifier(key);
      case "PS" -> RSAPSSVerifier.newVerifier(key);
      case "ES" -> ECVerifier.newVerifier(key);
      default -> EdDSAVerifier.newVerifier(key);
    };
  }
}
