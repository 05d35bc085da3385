import com.auth0.jwt.JWT;
import com.auth0.jwt.JWTCreator;
import com.auth0.jwt.algorithms.Algorithm;
import com.auth0.jwt.interfaces.Claim;
import com.auth0.jwt.interfaces.DecodedJWT;
import com.auth0.jwt.interfaces.JWTVerifier;
import com.auth0.jwt.interfaces.Verification;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.interfaces.ECPrivateKey;
import java.security.interfaces.ECPublicKey;
import java.security.interfaces.RSAPrivateKey;
import java.security.interfaces.RSAPublicKey;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import jeton.harness.Driver;
import jeton.harness.Jwks;
import jeton.harness.Prepare;
import jeton.harness.Session;
import jeton.harness.Standard;
import jeton.harness.Verified;

/**
 * The driver of com.auth0:java-jwt. The verifier is created once with every check that the library
 * has: the one algorithm, issuer, audience, and the presence of `exp`. An algorithm contains its key,
 * so a key that is parsed in each call makes a new verifier. The library reads no key text, so the
 * harness converts the keys.
 *
 * With its defaults, the verifier has only its algorithm.
 */
public final class JavaJwtDriver implements Driver {
  public static void main(String[] arguments) throws IOException {
    Session.serve(new JavaJwtDriver());
  }

  @Override
  public String library() {
    return "java-jwt";
  }

  @Override
  public String version() {
    // The jar contains no version, but its name does.
    String jar = JWT.class.getProtectionDomain().getCodeSource().getLocation().getPath();
    return jar.replaceAll(".*/java-jwt-(.*)\\.jar", "$1");
  }

  @Override
  public boolean knowsDefaults() {
    return true;
  }

  @Override
  public List<Offer> offers() {
    // It has no RSA-PSS and no EdDSA, and generates no keys. No verify-signature: a decoded token has
    // its claims.
    return Offer.jwt(
        Set.of("sign", "verify", "round-trip"),
        Set.of(),
        "HS256", "HS384", "HS512", "RS256", "RS384", "RS512", "ES256", "ES384", "ES512");
  }

  @Override
  public Signer sign(Prepare prepare) throws Exception {
    Callable<Algorithm> algorithm = prepare.keyed(() -> signing(prepare));
    return index -> claims(prepare, index).sign(algorithm.call());
  }

  private static JWTCreator.Builder claims(Prepare prepare, int index) {
    if (prepare.typed == null) {
      return JWT.create().withPayload(prepare.values.get(index));
    }
    Standard claims = prepare.typed.get(index);
    // Not withAudience: it turns a list of one into a string, which makes a shorter token.
    return JWT.create()
        .withIssuer(claims.iss())
        .withSubject(claims.sub())
        .withClaim("aud", claims.aud())
        .withExpiresAt(Instant.ofEpochSecond(claims.exp()))
        .withIssuedAt(Instant.ofEpochSecond(claims.iat()))
        .withJWTId(claims.jti())
        .withClaim("name", claims.name())
        .withClaim("admin", claims.admin());
  }

  @Override
  public Check check(Prepare prepare) throws Exception {
    Callable<JWTVerifier> verifier = prepare.keyed(() -> verifier(prepare));
    if (prepare.typed != null) {
      return token -> standard(verifier.call().verify(token));
    }
    return token -> new Claims(verifier.call().verify(token));
  }

  private static JWTVerifier verifier(Prepare prepare) throws GeneralSecurityException {
    Verification verification = JWT.require(verifying(prepare));
    if (prepare.issuer != null) {
      verification.withIssuer(prepare.issuer);
    }
    if (prepare.audience != null) {
      verification.withAudience(prepare.audience);
    }
    if (prepare.expiryRequired()) {
      verification.withClaimPresence("exp");
    }
    return verification.build();
  }

  private static Standard standard(DecodedJWT token) {
    return new Standard(
        token.getIssuer(),
        token.getSubject(),
        token.getAudience(),
        seconds(token.getExpiresAtAsInstant()),
        seconds(token.getIssuedAtAsInstant()),
        token.getId(),
        token.getClaim("name").asString(),
        token.getClaim("admin").asBoolean());
  }

  private static Long seconds(Instant time) {
    return time == null ? null : time.getEpochSecond();
  }

  /** The library's claims where they have no type. */
  private record Claims(DecodedJWT token) implements Verified {
    @Override
    public String jti() {
      return token.getId();
    }

    @Override
    public Map<String, Object> view() {
      Map<String, Object> view = new LinkedHashMap<>();
      for (Map.Entry<String, Claim> claim : token.getClaims().entrySet()) {
        view.put(claim.getKey(), claim.getValue().as(Object.class));
      }
      return view;
    }
  }

  private static Algorithm signing(Prepare prepare) throws GeneralSecurityException {
    String jwk = prepare.privateKey();
    return switch (prepare.alg) {
      case "RS256" -> Algorithm.RSA256(null, (RSAPrivateKey) Jwks.privateKey(jwk));
      case "RS384" -> Algorithm.RSA384(null, (RSAPrivateKey) Jwks.privateKey(jwk));
      case "RS512" -> Algorithm.RSA512(null, (RSAPrivateKey) Jwks.privateKey(jwk));
      case "ES256" -> Algorithm.ECDSA256(null, (ECPrivateKey) Jwks.privateKey(jwk));
      case "ES384" -> Algorithm.ECDSA384(null, (ECPrivateKey) Jwks.privateKey(jwk));
      case "ES512" -> Algorithm.ECDSA512(null, (ECPrivateKey) Jwks.privateKey(jwk));
      default -> secret(prepare.alg, jwk);
    };
  }

  private static Algorithm verifying(Prepare prepare) throws GeneralSecurityException {
    String jwk = prepare.publicKey();
    return switch (prepare.alg) {
      case "RS256" -> Algorithm.RSA256((RSAPublicKey) Jwks.publicKey(jwk), null);
      case "RS384" -> Algorithm.RSA384((RSAPublicKey) Jwks.publicKey(jwk), null);
      case "RS512" -> Algorithm.RSA512((RSAPublicKey) Jwks.publicKey(jwk), null);
      case "ES256" -> Algorithm.ECDSA256((ECPublicKey) Jwks.publicKey(jwk), null);
      case "ES384" -> Algorithm.ECDSA384((ECPublicKey) Jwks.publicKey(jwk), null);
      case "ES512" -> Algorithm.ECDSA512((ECPublicKey) Jwks.publicKey(jwk), null);
      default -> secret(prepare.alg, jwk);
    };
  }

  private static Algorithm secret(String alg, String jwk) {
    byte[] secret = Jwks.secret(jwk);
    return switch (alg) {
      case "HS256" -> Algorithm.HMAC256(secret);
      case "HS384" -> Algorithm.HMAC384(secret);
      default -> Algorithm.HMAC512(secret);
    };
  }
}
