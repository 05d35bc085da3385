import io.github.jeton.Algorithm;
import io.github.jeton.Issuer;
import io.github.jeton.Key;
import io.github.jeton.MultiIssuerVerifier;
import io.github.jeton.Verifier;
import io.github.jeton.bytes.BytesIssuer;
import io.github.jeton.bytes.BytesVerifier;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import jeton.harness.Driver;
import jeton.harness.Prepare;
import jeton.harness.Session;
import jeton.harness.Standard;
import jeton.harness.StandardPaseto;
import jeton.harness.Verified;

/**
 * The driver of jeton's library for Java, with Jackson. Issuers and verifiers are made once, with every check of the library.
 * The custom claims have a record; the library returns the registered ones, and all become one record.
 */
public final class JetonDriver implements Driver {
  public static void main(String[] arguments) throws IOException {
    Session.serve(new JetonDriver());
  }

  @Override
  public String library() {
    return "jeton";
  }

  @Override
  public String version() {
    return Driver.linkedVersion("io.github.jeton", "jeton");
  }

  @Override
  public List<String> byDriver() {
    return List.of("jwe:claims");
  }

  @Override
  public List<String> extras() {
    return List.of("cached", "issuers");
  }

  @Override
  public List<Offer> offers() {
    Set<String> signs =
        Set.of("sign", "verify", "verify-signature", "round-trip", "generate-key", "load-key");
    List<Offer> offers =
        new ArrayList<>(
            Offer.jwt(
                signs,
                Set.of("jwk"),
                // begin: MACs, written by `cargo xtask sdk algorithms`
                "HS256", "HS384", "HS512"
                // end: MACs
                ));
    offers.addAll(
        Offer.jwt(
            signs,
            Set.of("jwk", "pem"),
            // begin: signatures, written by `cargo xtask sdk algorithms`
            "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512",
            "ES256K", "EdDSA", "Ed25519", "ML-DSA-44", "ML-DSA-65", "ML-DSA-87"
            // end: signatures
            ));
    offers.addAll(JetonJwe.offers());
    offers.addAll(Offer.paseto(signs, "v3.public", "v4.public"));
    offers.addAll(
        Offer.paseto(
            Set.of("sign", "verify", "round-trip", "encrypt", "decrypt", "generate-key", "load-key"),
            "v3.local", "v4.local"));
    return offers;
  }

  @Override
  public Signer sign(Prepare prepare) throws Exception {
    if (prepare.format.equals("jwe")) {
      return JetonJwe.sign(prepare);
    }
    String text = prepare.privateKey();
    Algorithm algorithm = algorithm(prepare);
    List<?> claims = prepare.claims();
    if (!prepare.isPaseto() && prepare.values.stream().noneMatch(one -> one.containsKey("iat"))) {
      // An issuer adds `iat`.
      Callable<BytesIssuer> bytes =
          prepare.keyed(() -> BytesIssuer.jws(Key.of(text, algorithm)).type("JWT").build());
      return index -> bytes.call().issue(JetonJwe.json(claims.get(index)));
    }
    boolean expires = prepare.expiryRequired();
    Callable<Issuer> issuer =
        prepare.keyed(
            () -> {
              var builder = Issuer.builder(Key.of(text, algorithm));
              return (expires ? builder : builder.withoutExpiry()).build();
            });
    return index -> issuer.call().issue(claims.get(index));
  }

  @Override
  public Check check(Prepare prepare) throws Exception {
    if (prepare.format.equals("jwe")) {
      return JetonJwe.check(prepare);
    }
    if (!prepare.issuers.isEmpty()) {
      List<Verifier> verifiers = new ArrayList<>();
      for (Prepare one : prepare.issuers) {
        verifiers.add(verifier(one, Key.of(one.publicKey(), algorithm(one))));
      }
      MultiIssuerVerifier verifier = MultiIssuerVerifier.of(verifiers);
      return token -> new Verified.OfMap(verifier.verify(token).toMap());
    }
    String text = prepare.publicKey();
    Algorithm algorithm = algorithm(prepare);
    Callable<Verifier> verifier = prepare.keyed(() -> verifier(prepare, Key.of(text, algorithm)));
    if (prepare.claims() == prepare.values) {
      return token -> new Verified.OfMap(verifier.call().verify(token).toMap());
    }
    if (prepare.isPaseto()) {
      return token -> standardPaseto(verifier.call().verify(token, Custom.class));
    }
    return token -> standard(verifier.call().verify(token, Custom.class));
  }

  private static Algorithm algorithm(Prepare prepare) {
    return Algorithm.of(prepare.isPaseto() ? prepare.format : prepare.alg);
  }

  /** The claims beside the registered ones. */
  record Custom(String name, Boolean admin) {}

  private static Standard standard(io.github.jeton.Verified<Custom> token) {
    return new Standard(
        token.issuer().orElse(null),
        token.subject().orElse(null),
        token.audiences(),
        token.expiresAt().map(Instant::getEpochSecond).orElse(null),
        token.issuedAt().map(Instant::getEpochSecond).orElse(null),
        token.tokenId().orElse(null),
        token.claims().name(),
        token.claims().admin());
  }

  private static StandardPaseto standardPaseto(io.github.jeton.Verified<Custom> token) {
    return new StandardPaseto(
        token.issuer().orElse(null),
        token.subject().orElse(null),
        token.audiences().stream().findFirst().orElse(null),
        token.expiresAt().map(Instant::toString).orElse(null),
        token.issuedAt().map(Instant::toString).orElse(null),
        token.tokenId().orElse(null),
        token.claims().name(),
        token.claims().admin());
  }

  private static Verifier verifier(Prepare prepare, Key key) {
    Verifier.Builder builder = Verifier.builder(key);
    builder = prepare.issuer == null ? builder.anyIssuer() : builder.issuer(prepare.issuer);
    if (prepare.caches) {
      builder = builder.cache(64);
    }
    builder = prepare.audience == null ? builder.anyAudience() : builder.audience(prepare.audience);
    return (prepare.expiryRequired() ? builder : builder.withoutExpiry()).build();
  }

  @Override
  public SignatureCheck signatureCheck(Prepare prepare) throws Exception {
    String text = prepare.publicKey();
    Algorithm algorithm = algorithm(prepare);
    Callable<BytesVerifier> verifier =
        prepare.keyed(
            () -> {
              Key key = Key.of(text, algorithm);
              return (prepare.isPaseto() ? BytesVerifier.paseto(key) : BytesVerifier.jws(key)).build();
            });
    return token -> verifier.call().verify(token);
  }

  @Override
  public KeyMaker generate(Prepare prepare) {
    var generator = Key.generator(algorithm(prepare));
    if ("dir".equals(prepare.alg)) {
      generator.contentEncryption(prepare.enc);
    }
    return generator::generate;
  }

  @Override
  public KeyMaker load(Prepare prepare) {
    var text = prepare.keyText();
    Callable<Key> secret = () -> key(prepare, text.secret());
    if (text.open() == null) {
      return secret::call;
    }
    return () -> new Key[] {secret.call(), key(prepare, text.open())};
  }

  private static Key key(Prepare prepare, String text) {
    return prepare.isPaseto() ? Key.of(text, algorithm(prepare)) : JetonJwe.key(prepare, text);
  }
}
