import io.jsonwebtoken.Claims;
import io.jsonwebtoken.JwtBuilder;
import io.jsonwebtoken.JwtParser;
import io.jsonwebtoken.JwtParserBuilder;
import io.jsonwebtoken.Jwts;
import io.jsonwebtoken.io.Parser;
import io.jsonwebtoken.security.AeadAlgorithm;
import io.jsonwebtoken.security.Jwk;
import io.jsonwebtoken.security.Jwks;
import io.jsonwebtoken.security.KeyAlgorithm;
import io.jsonwebtoken.security.KeyBuilderSupplier;
import io.jsonwebtoken.security.KeyPairBuilderSupplier;
import io.jsonwebtoken.security.MacAlgorithm;
import io.jsonwebtoken.security.SecureDigestAlgorithm;
import java.io.IOException;
import java.security.Key;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import javax.crypto.SecretKey;
import org.json.JSONObject;
import jeton.harness.Driver;
import jeton.harness.Prepare;
import jeton.harness.DriverException;
import jeton.harness.Rejection;
import jeton.harness.Session;
import jeton.harness.Standard;
import jeton.harness.Verified;

/**
 * The driver of io.jsonwebtoken:jjwt with Jackson, its documented default for JSON. The parser is
 * created once with the one allowed algorithm, issuer and audience. The library cannot require
 * `exp`, so the driver checks by hand that it is present. For a key that is parsed in each call,
 * the library's key locator supplies it, so that the parser is created only once.
 *
 * With its defaults, the parser has only its key.
 */
public final class JjwtDriver implements Driver {
  private static final Parser<Jwk<?>> JWKS = Jwks.parser().build();

  public static void main(String[] arguments) throws IOException {
    Session.serve(new JjwtDriver());
  }

  @Override
  public String library() {
    return "jjwt";
  }

  @Override
  public String version() {
    return Driver.linkedVersion("io.jsonwebtoken", "jjwt-impl");
  }

  @Override
  public List<String> byDriver() {
    return List.of("jwt:exp", "jwe:exp");
  }

  @Override
  public boolean knowsDefaults() {
    return true;
  }

  @Override
  public List<Offer> offers() {
    // No verify-signature: the parser returns claims, or the raw bytes of a token without claims.
    Set<String> signs = Set.of("sign", "verify", "round-trip", "generate-key", "load-key");
    // For these the library generates RSA keys of 3,072 and 4,096 bits, which do not compare with
    // others.
    Set<String> signsWithGiven = Set.of("sign", "verify", "round-trip", "load-key");
    Set<String> seals = Set.of("encrypt", "decrypt", "round-trip", "generate-key", "load-key");
    Set<String> jwk = Set.of("jwk");
    List<Offer> offers = new ArrayList<>();
    offers.addAll(
        Offer.jwt(
            signs, jwk, "HS256", "HS384", "HS512", "RS256", "PS256", "ES256", "ES384", "ES512",
            "EdDSA"));
    offers.addAll(Offer.jwt(signsWithGiven, jwk, "RS384", "RS512", "PS384", "PS512"));
    offers.addAll(
        Offer.jwe(
            seals,
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
      KeyAlgorithm<Key, Key> alg = keyAlgorithm(prepare.alg);
      AeadAlgorithm enc = Jwts.ENC.get().forKey(prepare.enc);
      String jwk = readable(prepare, prepare.publicKey());
      Callable<Key> key = prepare.keyed(() -> parse(jwk));
      return index -> claims(prepare, index).encryptWith(key.call(), alg, enc).compact();
    }
    SecureDigestAlgorithm<Key, ?> alg = signatureAlgorithm(prepare.alg);
    String jwk = prepare.privateKey();
    Callable<Key> key = prepare.keyed(() -> parse(jwk));
    return index -> claims(prepare, index).signWith(key.call(), alg).compact();
  }

  private static JwtBuilder claims(Prepare prepare, int index) {
    if (prepare.typed == null) {
      return Jwts.builder().claims(prepare.values.get(index));
    }
    Standard claims = prepare.typed.get(index);
    return Jwts.builder()
        .issuer(claims.iss())
        .subject(claims.sub())
        .audience()
        .add(claims.aud())
        .and()
        .expiration(new Date(claims.exp() * 1000))
        .issuedAt(new Date(claims.iat() * 1000))
        .id(claims.jti())
        .claim("name", claims.name())
        .claim("admin", claims.admin());
  }

  @Override
  public Check check(Prepare prepare) throws Exception {
    boolean seals = prepare.format.equals("jwe");
    JwtParserBuilder builder = Jwts.parser();
    if (!prepare.defaults) {
      allowOne(builder, prepare);
    }
    if (prepare.issuer != null) {
      builder.requireIssuer(prepare.issuer);
    }
    if (prepare.audience != null) {
      builder.requireAudience(prepare.audience);
    }
    String jwk = readable(prepare, seals ? prepare.privateKey() : prepare.publicKey());
    Callable<Key> key = prepare.keyed(() -> parse(jwk));
    pinKey(builder, prepare, key);
    JwtParser parser = builder.build();
    boolean expiryRequired = prepare.expiryRequired();
    boolean typed = prepare.typed != null;
    return token -> {
      Claims claims =
          seals
              ? parser.parseEncryptedClaims(token).getPayload()
              : parser.parseSignedClaims(token).getPayload();
      if (expiryRequired && claims.getExpiration() == null) {
        throw Rejection.expiryMissing();
      }
      return typed ? standard(claims) : new Verified.OfMap(claims);
    };
  }

  /** Allows one of the library's algorithms. */
  private static void allowOne(JwtParserBuilder builder, Prepare prepare) {
    if (prepare.format.equals("jwe")) {
      builder.key().clear().add(keyAlgorithm(prepare.alg)).and();
      builder.enc().clear().add(Jwts.ENC.get().forKey(prepare.enc)).and();
    } else {
      builder.sig().clear().add(signatureAlgorithm(prepare.alg)).and();
    }
  }

  private static void pinKey(JwtParserBuilder builder, Prepare prepare, Callable<Key> load)
      throws Exception {
    if (prepare.keyHandling.equals(PARSED_PER_CALL)) {
      builder.keyLocator(
          header -> {
            try {
              return load.call();
            } catch (Exception unreadable) {
              throw DriverException.invalid("the key cannot be read");
            }
          });
      return;
    }
    Key key = load.call();
    boolean seals = prepare.format.equals("jwe");
    if (key instanceof SecretKey secret) {
      if (seals) {
        builder.decryptWith(secret);
      } else {
        builder.verifyWith(secret);
      }
    } else if (seals) {
      builder.decryptWith((PrivateKey) key);
    } else {
      builder.verifyWith((PublicKey) key);
    }
  }

  private static Standard standard(Claims claims) {
    Set<String> audience = claims.getAudience();
    return new Standard(
        claims.getIssuer(),
        claims.getSubject(),
        audience == null ? null : List.copyOf(audience),
        seconds(claims.getExpiration()),
        seconds(claims.getIssuedAt()),
        claims.getId(),
        claims.get("name", String.class),
        claims.get("admin", Boolean.class));
  }

  private static Long seconds(Date date) {
    return date == null ? null : date.getTime() / 1000;
  }

  @Override
  public KeyMaker generate(Prepare prepare) {
    String alg = prepare.alg;
    if (alg.equals("EdDSA")) {
      return () -> Jwks.CRV.Ed25519.keyPair().build(); // the algorithm's own builder generates Ed448
    }
    if (alg.startsWith("ECDH")) {
      return () -> Jwks.CRV.P256.keyPair().build();
    }
    if (alg.startsWith("RSA")) {
      return () -> Jwts.SIG.RS256.keyPair().build(); // as the library's examples for RSA-OAEP do
    }
    if (alg.equals("dir")) {
      AeadAlgorithm enc = Jwts.ENC.get().forKey(prepare.enc);
      return () -> enc.key().build();
    }
    Object algorithm =
        prepare.format.equals("jwe") ? keyAlgorithm(alg) : signatureAlgorithm(alg);
    if (algorithm instanceof MacAlgorithm mac) {
      return () -> mac.key().build();
    }
    if (algorithm instanceof KeyPairBuilderSupplier pairs) {
      return () -> pairs.keyPair().build();
    }
    KeyBuilderSupplier<?, ?> secrets = (KeyBuilderSupplier<?, ?>) algorithm;
    return () -> secrets.key().build();
  }

  @Override
  public KeyMaker load(Prepare prepare) {
    var text = prepare.keyText();
    if (text.open() == null) {
      String jwk = readable(prepare, text.secret());
      return () -> parse(jwk);
    }
    return () -> new Key[] {parse(text.secret()), parse(text.open())};
  }

  /** Returns the JWK without `"alg":"dir"`, which the library rejects in a key. */
  private static String readable(Prepare prepare, String jwk) {
    if (!prepare.alg.equals("dir")) {
      return jwk;
    }
    JSONObject key = new JSONObject(jwk);
    key.remove("alg");
    return key.toString();
  }

  private static Key parse(String jwk) {
    return JWKS.parse(jwk).toKey();
  }

  @SuppressWarnings("unchecked") // the registry erases the types; the protocol's key has this type
  private static KeyAlgorithm<Key, Key> keyAlgorithm(String name) {
    return (KeyAlgorithm<Key, Key>) (KeyAlgorithm<?, ?>) Jwts.KEY.get().forKey(name);
  }

  @SuppressWarnings("unchecked") // see keyAlgorithm
  private static SecureDigestAlgorithm<Key, ?> signatureAlgorithm(String name) {
    return (SecureDigestAlgorithm<Key, ?>)
        (SecureDigestAlgorithm<?, ?>) Jwts.SIG.get().forKey(name);
  }
}
