import java.io.IOException;
import java.security.Key;
import java.security.spec.ECParameterSpec;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import jeton.harness.Driver;
import jeton.harness.Prepare;
import jeton.harness.DriverException;
import jeton.harness.Rejection;
import jeton.harness.Session;
import jeton.harness.Standard;
import jeton.harness.Verified;
import org.jose4j.jwa.AlgorithmConstraints;
import org.jose4j.jwa.AlgorithmConstraints.ConstraintType;
import org.jose4j.jwe.JsonWebEncryption;
import org.jose4j.jwk.EcJwkGenerator;
import org.jose4j.jwk.JsonWebKey;
import org.jose4j.jwk.OctJwkGenerator;
import org.jose4j.jwk.OkpJwkGenerator;
import org.jose4j.jwk.PublicJsonWebKey;
import org.jose4j.jwk.RsaJwkGenerator;
import org.jose4j.jws.JsonWebSignature;
import org.jose4j.jwt.JwtClaims;
import org.jose4j.jwt.MalformedClaimException;
import org.jose4j.jwt.NumericDate;
import org.jose4j.jwt.consumer.JwtConsumer;
import org.jose4j.jwt.consumer.JwtConsumerBuilder;
import org.jose4j.keys.EllipticCurves;
import org.jose4j.keys.resolvers.JwksVerificationKeyResolver;
import org.jose4j.lang.JoseException;

/**
 * The driver of org.bitbucket.b_c:jose4j. The JwtConsumer is created once with every check that it
 * has: the one permitted algorithm, issuer, audience, a required expiry. For a key that is parsed
 * in each call, the library's key resolvers supply it, so that the consumer is created only once.
 *
 * With its defaults, the consumer has its key and the audience: without an audience it rejects
 * every token that has one. A JWE is decrypted with the algorithms of its header, unless the
 * library blocks them.
 */
public final class Jose4jDriver implements Driver {
  public static void main(String[] arguments) throws IOException {
    Session.serve(new Jose4jDriver());
  }

  @Override
  public String library() {
    return "jose4j";
  }

  @Override
  public String version() {
    return Driver.linkedVersion("org.bitbucket.b_c", "jose4j");
  }

  @Override
  public boolean knowsDefaults() {
    return true;
  }

  @Override
  public List<String> extras() {
    return List.of("issuers");
  }

  @Override
  public List<String> byDriver() {
    return List.of("jwt:issuers-other-audience");
  }

  @Override
  public List<Offer> offers() {
    Set<String> jwk = Set.of("jwk"); // it reads public keys as PEM, but not private keys
    List<Offer> offers = new ArrayList<>();
    offers.addAll(
        Offer.jwt(
            Set.of("sign", "verify", "verify-signature", "round-trip", "generate-key", "load-key"),
            jwk, "HS256", "HS384", "HS512", "RS256", "RS384", "RS512", "PS256", "PS384", "PS512",
            "ES256", "ES384", "ES512", "EdDSA"));
    offers.addAll(
        Offer.jwe(
            Set.of("encrypt", "decrypt", "round-trip", "generate-key", "load-key"),
            jwk,
            List.of(
                "dir", "A128KW", "A192KW", "A256KW", "A128GCMKW", "A192GCMKW", "A256GCMKW",
                "RSA1_5", "RSA-OAEP", "RSA-OAEP-256", "ECDH-ES", "ECDH-ES+A128KW",
                "ECDH-ES+A192KW", "ECDH-ES+A256KW"),
            List.of(
                "A128CBC-HS256", "A192CBC-HS384", "A256CBC-HS512", "A128GCM", "A192GCM",
                "A256GCM")));
    return offers;
  }

  @Override
  public Signer sign(Prepare prepare) throws Exception {
    if (prepare.format.equals("jwe")) {
      Callable<Key> key = prepare.keyed(() -> open(parse(prepare.publicKey())));
      return index -> {
        JsonWebEncryption token = new JsonWebEncryption();
        token.setAlgorithmHeaderValue(prepare.alg);
        token.setEncryptionMethodHeaderParameter(prepare.enc);
        token.setAlgorithmConstraints(permit(prepare.alg));
        token.setKey(key.call());
        token.setPayload(claims(prepare, index).toJson());
        return token.getCompactSerialization();
      };
    }
    Callable<Key> key = prepare.keyed(() -> secret(parse(prepare.privateKey())));
    return index -> {
      JsonWebSignature token = new JsonWebSignature();
      token.setAlgorithmHeaderValue(prepare.alg);
      token.setKey(key.call());
      token.setPayload(claims(prepare, index).toJson());
      return token.getCompactSerialization();
    };
  }

  private static JwtClaims claims(Prepare prepare, int index) {
    JwtClaims claims = new JwtClaims();
    if (prepare.typed == null) {
      prepare.values.get(index).forEach(claims::setClaim);
      return claims;
    }
    Standard standard = prepare.typed.get(index);
    claims.setIssuer(standard.iss());
    claims.setSubject(standard.sub());
    // Not setAudience: it turns a list of one into a string, which makes a shorter token.
    claims.setStringListClaim("aud", standard.aud());
    claims.setExpirationTime(NumericDate.fromSeconds(standard.exp()));
    claims.setIssuedAt(NumericDate.fromSeconds(standard.iat()));
    claims.setJwtId(standard.jti());
    claims.setStringClaim("name", standard.name());
    claims.setClaim("admin", standard.admin());
    return claims;
  }

  @Override
  public Check check(Prepare prepare) throws Exception {
    if (!prepare.issuers.isEmpty()) {
      return checkIssuers(prepare);
    }
    JwtConsumerBuilder builder = new JwtConsumerBuilder();
    if (prepare.format.equals("jwe")) {
      builder.setDisableRequireSignature().setEnableRequireEncryption();
      if (!prepare.defaults) {
        builder
            .setJweAlgorithmConstraints(ConstraintType.PERMIT, prepare.alg)
            .setJweContentEncryptionAlgorithmConstraints(ConstraintType.PERMIT, prepare.enc);
      }
      Callable<Key> key = prepare.keyed(() -> secret(parse(prepare.privateKey())));
      if (prepare.keyHandling.equals(PARSED_PER_CALL)) {
        builder.setDecryptionKeyResolver((token, nesting) -> fresh(key));
      } else {
        builder.setDecryptionKey(key.call());
      }
    } else {
      if (!prepare.defaults) {
        builder.setJwsAlgorithmConstraints(ConstraintType.PERMIT, prepare.alg);
      }
      Callable<Key> key = prepare.keyed(() -> open(parse(prepare.publicKey())));
      if (prepare.keyHandling.equals(PARSED_PER_CALL)) {
        builder.setVerificationKeyResolver((token, nesting) -> fresh(key));
      } else {
        builder.setVerificationKey(key.call());
      }
    }
    JwtConsumer consumer = policy(builder, prepare).build();
    boolean typed = prepare.typed != null;
    return text -> {
      JwtClaims claims = consumer.processToClaims(text);
      return typed ? standard(claims) : new Verified.OfMap(claims.getClaimsMap());
    };
  }

  /** One key set and a list of issuers, which the library has; it does not bind a key to an issuer. */
  private static Check checkIssuers(Prepare prepare) throws Exception {
    List<JsonWebKey> keys = new ArrayList<>();
    for (Prepare one : prepare.issuers) {
      keys.add(parse(one.publicKey()));
    }
    JwtConsumer consumer =
        new JwtConsumerBuilder()
            .setJwsAlgorithmConstraints(ConstraintType.PERMIT, prepare.alg)
            .setVerificationKeyResolver(new JwksVerificationKeyResolver(keys))
            .setRequireExpirationTime()
            .setExpectedIssuers(true, prepare.issuers.stream().map(one -> one.issuer).toArray(String[]::new))
            .setExpectedAudience(prepare.issuers.stream().map(one -> one.audience).toArray(String[]::new))
            .build();
    return text -> new Verified.OfMap(consumer.processToClaims(text).getClaimsMap());
  }

  private static JwtConsumerBuilder policy(JwtConsumerBuilder builder, Prepare prepare) {
    if (prepare.expiryRequired()) {
      builder.setRequireExpirationTime();
    }
    if (prepare.issuer != null) {
      builder.setExpectedIssuer(prepare.issuer);
    }
    // Without an audience the consumer rejects every token that has one, also with its defaults.
    return prepare.knownAudience == null
        ? builder.setSkipDefaultAudienceValidation()
        : builder.setExpectedAudience(prepare.knownAudience);
  }

  private static Standard standard(JwtClaims claims) throws MalformedClaimException {
    return new Standard(
        claims.getIssuer(),
        claims.getSubject(),
        claims.getAudience(),
        seconds(claims.getExpirationTime()),
        seconds(claims.getIssuedAt()),
        claims.getJwtId(),
        claims.getStringClaimValue("name"),
        claims.getClaimValue("admin", Boolean.class));
  }

  private static Long seconds(NumericDate date) {
    return date == null ? null : date.getValue();
  }

  @Override
  public SignatureCheck signatureCheck(Prepare prepare) throws Exception {
    Callable<Key> key = prepare.keyed(() -> open(parse(prepare.publicKey())));
    AlgorithmConstraints permitted = permit(prepare.alg);
    return text -> {
      JsonWebSignature token = new JsonWebSignature();
      token.setAlgorithmConstraints(permitted);
      token.setCompactSerialization(text);
      token.setKey(key.call());
      if (!token.verifySignature()) {
        throw Rejection.signature();
      }
    };
  }

  @Override
  public KeyMaker generate(Prepare prepare) {
    String alg = prepare.alg;
    return switch (alg.substring(0, 2)) {
      case "HS" -> () -> OctJwkGenerator.generateJwk(Integer.parseInt(alg.substring(2)));
      case "RS", "PS" -> () -> RsaJwkGenerator.generateJwk(2048);
      case "ES", "EC" -> {
        ECParameterSpec curve = curve(alg);
        yield () -> EcJwkGenerator.generateJwk(curve);
      }
      case "Ed" -> () -> OkpJwkGenerator.generateJwk("Ed25519");
      case "di" -> () -> OctJwkGenerator.generateJwk(contentKeyBits(prepare.enc));
      default -> () -> OctJwkGenerator.generateJwk(Integer.parseInt(alg.substring(1, 4)));
    };
  }

  @Override
  public KeyMaker load(Prepare prepare) {
    var text = prepare.keyText();
    if (text.open() == null) {
      return () -> secret(parse(text.secret()));
    }
    return () -> new Key[] {secret(parse(text.secret())), open(parse(text.open()))};
  }

  private static JsonWebKey parse(String text) throws JoseException {
    return JsonWebKey.Factory.newJwk(text);
  }

  /** Returns the private half of a pair, or the symmetric key. */
  private static Key secret(JsonWebKey key) {
    return key instanceof PublicJsonWebKey pair ? pair.getPrivateKey() : key.getKey();
  }

  /** Returns the public half of a pair, or the symmetric key. */
  private static Key open(JsonWebKey key) {
    return key.getKey();
  }

  private static Key fresh(Callable<Key> key) {
    try {
      return key.call();
    } catch (Exception unreadable) {
      throw DriverException.invalid("the key cannot be read");
    }
  }

  private static AlgorithmConstraints permit(String alg) {
    return new AlgorithmConstraints(ConstraintType.PERMIT, alg);
  }

  private static ECParameterSpec curve(String alg) {
    return switch (alg) {
      case "ES384" -> EllipticCurves.P384;
      case "ES512" -> EllipticCurves.P521;
      default -> EllipticCurves.P256;
    };
  }

  private static int contentKeyBits(String enc) {
    int bits = Integer.parseInt(enc.substring(1, 4));
    return enc.contains("CBC") ? 2 * bits : bits;
  }
}
