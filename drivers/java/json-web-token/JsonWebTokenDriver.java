import java.io.IOException;
import java.math.BigInteger;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.KeyFactory;
import java.security.interfaces.ECPrivateKey;
import java.security.interfaces.ECPublicKey;
import java.security.spec.ECParameterSpec;
import java.security.spec.ECPoint;
import java.security.spec.ECPrivateKeySpec;
import java.security.spec.ECPublicKeySpec;
import java.util.ArrayList;
import java.util.Date;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import javax.crypto.spec.SecretKeySpec;
import jeton.harness.ClaimsCheck;
import jeton.harness.Driver;
import jeton.harness.Prepare;
import jeton.harness.Rejection;
import jeton.harness.Session;
import jeton.harness.Standard;
import jeton.harness.Verified;
import org.forgerock.json.jose.builders.JwtBuilderFactory;
import org.forgerock.json.jose.jwe.EncryptedJwt;
import org.forgerock.json.jose.jwe.EncryptionMethod;
import org.forgerock.json.jose.jwe.JweAlgorithm;
import org.forgerock.json.jose.jwe.JweHeader;
import org.forgerock.json.jose.jwk.EcJWK;
import org.forgerock.json.jose.jwk.OctJWK;
import org.forgerock.json.jose.jwk.RsaJWK;
import org.forgerock.json.jose.jws.JwsAlgorithm;
import org.forgerock.json.jose.jws.SignedJwt;
import org.forgerock.json.jose.jws.SigningManager;
import org.forgerock.json.jose.jws.SupportedEllipticCurve;
import org.forgerock.json.jose.jws.handlers.SigningHandler;
import org.forgerock.json.jose.jwt.JwtClaimsSet;
import org.forgerock.util.encode.Base64url;

/**
 * The driver of org.openidentityplatform.commons:json-web-token (CDDL 1.0), the library of report 2
 * as its successor maintains it. The library checks no claims, so the driver compares `exp`, `nbf`,
 * `iss` and `aud` by hand. It takes the algorithm from the header, so the driver compares that too.
 *
 * The library reads the numbers of an EC JWK as signed. A key of P-256 or P-384 is therefore wrong
 * if one of them begins with the bit 1, as most do. The driver makes these keys itself, and offers no
 * loading of them. P-521 is not affected.
 *
 * With its defaults, a token is parsed and its signature verified with the algorithm of its header.
 */
public final class JsonWebTokenDriver implements Driver {
  private final JwtBuilderFactory factory = new JwtBuilderFactory();
  private final SigningManager signing = new SigningManager();

  public static void main(String[] arguments) throws IOException {
    Session.serve(new JsonWebTokenDriver());
  }

  @Override
  public String library() {
    return "json-web-token";
  }

  @Override
  public String version() {
    return Driver.linkedVersion("org.openidentityplatform.commons", "json-web-token");
  }

  @Override
  public List<String> byDriver() {
    return List.of(
        "jwt:exp", "jwt:nbf", "jwt:iss", "jwt:aud", "jwe:exp", "jwe:nbf", "jwe:iss", "jwe:aud",
        "jwt:jwk-off-curve", "jwt:jwk-short-coordinate");
  }

  @Override
  public boolean knowsDefaults() {
    return true;
  }

  @Override
  public List<Offer> offers() {
    // No verify-signature: the library decodes the claims of every token. It generates no keys.
    Set<String> signs = Set.of("sign", "verify", "round-trip", "load-key");
    Set<String> signsWithGiven = Set.of("sign", "verify", "round-trip");
    Set<String> jwk = Set.of("jwk");
    List<Offer> offers =
        new ArrayList<>(
            Offer.jwt(
                signs, jwk, "HS256", "HS384", "HS512", "RS256", "RS384", "RS512", "ES512"));
    for (String alg : List.of("ES256", "ES384")) {
      offers.add(new Offer("jwt", alg, null, signsWithGiven, Set.of(PREPARED), Set.of()));
    }
    offers.addAll(
        Offer.jwe(
            Set.of("encrypt", "decrypt", "round-trip", "load-key"),
            jwk,
            List.of("dir", "A128KW", "A192KW", "A256KW", "RSA1_5", "RSA-OAEP", "RSA-OAEP-256"),
            List.of(
                "A128CBC-HS256", "A192CBC-HS384", "A256CBC-HS512", "A128GCM", "A192GCM",
                "A256GCM")));
    return offers;
  }

  @Override
  public Signer sign(Prepare prepare) throws Exception {
    if (prepare.format.equals("jwe")) {
      JweAlgorithm alg = JweAlgorithm.parseAlgorithm(prepare.alg);
      EncryptionMethod enc = EncryptionMethod.parseMethod(prepare.enc);
      Callable<Key> key = prepare.keyed(() -> encryptionKey(prepare, prepare.publicKey()));
      return index ->
          factory
              .jwe(key.call())
              .headers()
              .alg(alg)
              .enc(enc)
              .done()
              .claims(claims(prepare, index))
              .build();
    }
    JwsAlgorithm alg = JwsAlgorithm.valueOf(prepare.alg);
    Callable<SigningHandler> key = prepare.keyed(() -> signer(alg, prepare.privateKey()));
    return index ->
        factory.jws(key.call()).headers().alg(alg).done().claims(claims(prepare, index)).build();
  }

  private static JwtClaimsSet claims(Prepare prepare, int index) {
    JwtClaimsSet claims = new JwtClaimsSet();
    if (prepare.typed == null) {
      prepare.values.get(index).forEach(claims::put);
      return claims;
    }
    Standard standard = prepare.typed.get(index);
    claims.setIssuer(standard.iss());
    claims.setSubject(standard.sub());
    // Not addAudience: it turns a list of one into a string, which makes a shorter token.
    claims.put("aud", standard.aud());
    claims.setExpirationTime(new Date(standard.exp() * 1000));
    claims.setIssuedAtTime(new Date(standard.iat() * 1000));
    claims.setJwtId(standard.jti());
    claims.setClaim("name", standard.name());
    claims.setClaim("admin", standard.admin());
    return claims;
  }

  @Override
  public Check check(Prepare prepare) throws Exception {
    ClaimsCheck claims = new ClaimsCheck(prepare);
    boolean typed = prepare.typed != null;
    if (prepare.format.equals("jwe")) {
      JweAlgorithm alg = JweAlgorithm.parseAlgorithm(prepare.alg);
      EncryptionMethod enc = EncryptionMethod.parseMethod(prepare.enc);
      Callable<Key> key = prepare.keyed(() -> decryptionKey(prepare, prepare.privateKey()));
      return text -> {
        EncryptedJwt token = factory.reconstruct(text, EncryptedJwt.class);
        JweHeader header = (JweHeader) token.getHeader();
        boolean named = header.getAlgorithm() == alg && header.getEncryptionMethod() == enc;
        if (!named && !prepare.defaults) {
          throw Rejection.algorithm();
        }
        token.decrypt(key.call());
        return verified(token.getClaimsSet(), prepare, claims, typed);
      };
    }
    JwsAlgorithm alg = JwsAlgorithm.valueOf(prepare.alg);
    Callable<SigningHandler> key = prepare.keyed(() -> verifier(alg, prepare.publicKey()));
    return text -> {
      SignedJwt token = factory.reconstruct(text, SignedJwt.class);
      if (token.getHeader().getAlgorithm() != alg && !prepare.defaults) {
        throw Rejection.algorithm();
      }
      if (!token.verify(key.call())) {
        throw Rejection.signature();
      }
      return verified(token.getClaimsSet(), prepare, claims, typed);
    };
  }

  private static Verified verified(
      JwtClaimsSet claims, Prepare prepare, ClaimsCheck check, boolean typed)
      throws Rejection {
    if (!prepare.defaults) {
      check(claims, check);
    }
    if (!typed) {
      return new Claims(claims);
    }
    return new Standard(
        claims.getIssuer(),
        claims.getSubject(),
        claims.getAudience(),
        seconds(claims.getExpirationTime()),
        seconds(claims.getIssuedAtTime()),
        claims.getJwtId(),
        claims.get("name").asString(),
        claims.get("admin").asBoolean());
  }

  private static void check(JwtClaimsSet claims, ClaimsCheck check) throws Rejection {
    List<String> audience = claims.getAudience();
    check.check(
        time(claims.getExpirationTime()),
        time(claims.getNotBeforeTime()),
        claims.getIssuer(),
        expected -> audience != null && audience.contains(expected));
  }

  /** Returns a time in seconds, or NaN without one. */
  private static double time(Date date) {
    return date == null ? Double.NaN : date.getTime() / 1000.0;
  }

  private static Long seconds(Date date) {
    return date == null ? null : date.getTime() / 1000;
  }

  /** The library's claims where they have no type. */
  private record Claims(JwtClaimsSet claims) implements Verified {
    @Override
    public String jti() {
      return claims.getJwtId();
    }

    @Override
    public Map<String, Object> view() {
      Map<String, Object> view = new LinkedHashMap<>();
      claims.keys().forEach(name -> view.put(name, claims.get(name).getObject()));
      return view;
    }
  }

  @Override
  public KeyMaker load(Prepare prepare) {
    var text = prepare.keyText();
    if (prepare.format.equals("jwe")) {
      if (text.open() == null) {
        return () -> decryptionKey(prepare, text.secret());
      }
      return () ->
          new Key[] {decryptionKey(prepare, text.secret()), encryptionKey(prepare, text.open())};
    }
    JwsAlgorithm alg = JwsAlgorithm.valueOf(prepare.alg);
    if (text.open() == null) {
      return () -> signer(alg, text.secret());
    }
    return () -> new SigningHandler[] {signer(alg, text.secret()), verifier(alg, text.open())};
  }

  private SigningHandler signer(JwsAlgorithm alg, String jwk) throws GeneralSecurityException {
    return switch (alg.getAlgorithmType()) {
      case HMAC -> signing.newHmacSigningHandler(secret(jwk));
      case RSA -> signing.newRsaSigningHandler(RsaJWK.parse(jwk).toRSAPrivateKey());
      default -> signing.newEcdsaSigningHandler(privateCurveKey(alg, EcJWK.parse(jwk)));
    };
  }

  private SigningHandler verifier(JwsAlgorithm alg, String jwk) throws GeneralSecurityException {
    return switch (alg.getAlgorithmType()) {
      case HMAC -> signing.newHmacSigningHandler(secret(jwk));
      case RSA -> signing.newRsaSigningHandler(RsaJWK.parse(jwk).toRSAPublicKey());
      default -> signing.newEcdsaVerificationHandler(publicCurveKey(alg, EcJWK.parse(jwk)));
    };
  }

  /** Returns the private key, made without the library's error where it can occur. */
  private static ECPrivateKey privateCurveKey(JwsAlgorithm alg, EcJWK jwk)
      throws GeneralSecurityException {
    if (alg == JwsAlgorithm.ES512) {
      return jwk.toECPrivateKey();
    }
    var spec = new ECPrivateKeySpec(number(jwk.getD()), curve(jwk));
    return (ECPrivateKey) KeyFactory.getInstance("EC").generatePrivate(spec);
  }

  /** Returns the public key, made without the library's error where it can occur. */
  private static ECPublicKey publicCurveKey(JwsAlgorithm alg, EcJWK jwk)
      throws GeneralSecurityException {
    if (alg == JwsAlgorithm.ES512) {
      return jwk.toECPublicKey();
    }
    var point = new ECPoint(number(jwk.getX()), number(jwk.getY()));
    var spec = new ECPublicKeySpec(point, curve(jwk));
    return (ECPublicKey) KeyFactory.getInstance("EC").generatePublic(spec);
  }

  private static ECParameterSpec curve(EcJWK jwk) {
    return SupportedEllipticCurve.forName(jwk.getCurve()).getParameters();
  }

  private static BigInteger number(String text) {
    return new BigInteger(1, Base64url.decode(text));
  }

  private static Key encryptionKey(Prepare prepare, String jwk) {
    return prepare.alg.startsWith("RSA")
        ? RsaJWK.parse(jwk).toRSAPublicKey()
        : new SecretKeySpec(secret(jwk), "AES");
  }

  private static Key decryptionKey(Prepare prepare, String jwk) {
    return prepare.alg.startsWith("RSA")
        ? RsaJWK.parse(jwk).toRSAPrivateKey()
        : new SecretKeySpec(secret(jwk), "AES");
  }

  private static byte[] secret(String jwk) {
    return Base64url.decode(OctJWK.parse(jwk).getKey());
  }
}
