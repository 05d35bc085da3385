import com.nimbusds.jose.EncryptionMethod;
import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWEAlgorithm;
import com.nimbusds.jose.JWEDecrypter;
import com.nimbusds.jose.JWEEncrypter;
import com.nimbusds.jose.JWEHeader;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.JWSObject;
import com.nimbusds.jose.JWSSigner;
import com.nimbusds.jose.JWSVerifier;
import com.nimbusds.jose.crypto.AESDecrypter;
import com.nimbusds.jose.crypto.AESEncrypter;
import com.nimbusds.jose.crypto.DirectDecrypter;
import com.nimbusds.jose.crypto.DirectEncrypter;
import com.nimbusds.jose.crypto.ECDHDecrypter;
import com.nimbusds.jose.crypto.ECDHEncrypter;
import com.nimbusds.jose.crypto.ECDSASigner;
import com.nimbusds.jose.crypto.ECDSAVerifier;
import com.nimbusds.jose.crypto.Ed25519Signer;
import com.nimbusds.jose.crypto.Ed25519Verifier;
import com.nimbusds.jose.crypto.MACSigner;
import com.nimbusds.jose.crypto.MACVerifier;
import com.nimbusds.jose.crypto.RSADecrypter;
import com.nimbusds.jose.crypto.RSAEncrypter;
import com.nimbusds.jose.crypto.RSASSASigner;
import com.nimbusds.jose.crypto.RSASSAVerifier;
import com.nimbusds.jose.crypto.X25519Decrypter;
import com.nimbusds.jose.crypto.X25519Encrypter;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.OctetKeyPair;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.nimbusds.jose.jwk.gen.OctetKeyPairGenerator;
import com.nimbusds.jose.jwk.gen.OctetSequenceKeyGenerator;
import com.nimbusds.jose.jwk.gen.RSAKeyGenerator;
import com.nimbusds.jose.jwk.source.ImmutableJWKSet;
import com.nimbusds.jose.proc.JWSKeySelector;
import com.nimbusds.jose.proc.JWSVerificationKeySelector;
import com.nimbusds.jose.proc.SecurityContext;
import com.nimbusds.jwt.EncryptedJWT;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import com.nimbusds.jwt.proc.BadJWTException;
import com.nimbusds.jwt.proc.DefaultJWTClaimsVerifier;
import com.nimbusds.jwt.proc.DefaultJWTProcessor;
import java.io.IOException;
import java.security.Provider;
import java.text.ParseException;
import java.util.ArrayList;
import java.util.Date;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import jeton.harness.Driver;
import jeton.harness.Prepare;
import jeton.harness.DriverException;
import jeton.harness.Rejection;
import jeton.harness.Session;
import jeton.harness.Standard;
import jeton.harness.Verified;

/**
 * The driver of com.nimbusds:nimbus-jose-jwt. A token is parsed, its algorithm compared, and its
 * signature checked with the verifier of its key. The claims go through DefaultJWTClaimsVerifier,
 * with its clock skew of 60 s set to zero. It does not use DefaultJWTProcessor, which does not
 * support EdDSA.
 *
 * With its defaults, a token is parsed and its signature verified, as in the library's first
 * examples. Any algorithm of the header is accepted that the key's verifier supports, and the
 * claims are not checked.
 *
 * EdDSA and X25519 need Tink, and PEM needs Bouncy Castle, as the library documents.
 */
public class NimbusDriver implements Driver {
  public static void main(String[] arguments) throws IOException {
    Session.serve(new NimbusDriver());
  }

  /** The provider that does the cryptography; null for the JDK's preferred one. */
  protected Provider provider() {
    return null;
  }

  @Override
  public String library() {
    return "nimbus-jose-jwt";
  }

  @Override
  public String version() {
    return Driver.linkedVersion("com.nimbusds", "nimbus-jose-jwt");
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
  public List<Offer> offers() {
    Set<String> signs =
        Set.of("sign", "verify", "verify-signature", "round-trip", "generate-key", "load-key");
    Set<String> seals = Set.of("encrypt", "decrypt", "round-trip", "generate-key", "load-key");
    List<String> encs =
        List.of(
            "A128CBC-HS256", "A192CBC-HS384", "A256CBC-HS512", "A128GCM", "A192GCM", "A256GCM");
    Set<String> jwk = Set.of("jwk");
    Set<String> jwkOrPem = Set.of("jwk", "pem");
    List<Offer> offers = new ArrayList<>(Offer.jwt(signs, jwk, "HS256", "HS384", "HS512", "EdDSA"));
    offers.addAll(
        Offer.jwt(
            signs, jwkOrPem, "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256",
            "ES384", "ES512"));
    offers.addAll(
        Offer.jwe(
            seals,
            jwk,
            List.of("dir", "A128KW", "A192KW", "A256KW", "A128GCMKW", "A192GCMKW", "A256GCMKW"),
            encs));
    offers.addAll(
        Offer.jwe(
            seals,
            jwkOrPem,
            List.of(
                "RSA1_5", "RSA-OAEP", "RSA-OAEP-256", "RSA-OAEP-384", "RSA-OAEP-512", "ECDH-ES",
                "ECDH-ES+A128KW", "ECDH-ES+A192KW", "ECDH-ES+A256KW"),
            encs));
    return offers;
  }

  @Override
  public Signer sign(Prepare prepare) throws Exception {
    List<JWTClaimsSet> maps = new ArrayList<>();
    if (prepare.typed == null) {
      for (var value : prepare.values) {
        maps.add(JWTClaimsSet.parse(value));
      }
    }
    Claims claims = index -> prepare.typed == null ? maps.get(index) : of(prepare.typed.get(index));
    if (prepare.format.equals("jwe")) {
      JWEAlgorithm alg = JWEAlgorithm.parse(prepare.alg);
      JWEHeader header = new JWEHeader(alg, EncryptionMethod.parse(prepare.enc));
      Callable<JWEEncrypter> key = prepare.keyed(() -> encrypter(alg, parse(prepare.publicKey())));
      return index -> {
        EncryptedJWT token = new EncryptedJWT(header, claims.at(index));
        token.encrypt(key.call());
        return token.serialize();
      };
    }
    JWSHeader header = new JWSHeader(JWSAlgorithm.parse(prepare.alg));
    Callable<JWSSigner> key = prepare.keyed(() -> signer(parse(prepare.privateKey())));
    return index -> {
      SignedJWT token = new SignedJWT(header, claims.at(index));
      token.sign(key.call());
      return token.serialize();
    };
  }

  @Override
  public Check check(Prepare prepare) throws Exception {
    if (!prepare.issuers.isEmpty()) {
      return checkIssuers(prepare);
    }
    ClaimsCheck claims = new ClaimsCheck(prepare);
    boolean typed = prepare.typed != null;
    if (prepare.format.equals("jwe")) {
      JWEAlgorithm alg = JWEAlgorithm.parse(prepare.alg);
      EncryptionMethod enc = EncryptionMethod.parse(prepare.enc);
      Callable<JWEDecrypter> key = prepare.keyed(() -> decrypter(alg, parse(prepare.privateKey())));
      return text -> {
        EncryptedJWT token = EncryptedJWT.parse(text);
        JWEHeader header = token.getHeader();
        boolean named = header.getAlgorithm().equals(alg) && header.getEncryptionMethod().equals(enc);
        if (!named && !prepare.defaults) {
          throw Rejection.algorithm();
        }
        token.decrypt(key.call());
        return verified(token.getJWTClaimsSet(), claims, typed);
      };
    }
    JWSAlgorithm alg = JWSAlgorithm.parse(prepare.alg);
    Callable<JWSVerifier> key = prepare.keyed(() -> verifier(parse(prepare.publicKey())));
    return text -> {
      SignedJWT token = SignedJWT.parse(text);
      requireSignature(token, prepare.defaults ? token.getHeader().getAlgorithm() : alg, key.call());
      return verified(token.getJWTClaimsSet(), claims, typed);
    };
  }

  /** The library's selector of keys by claims. Each issuer has a selector for its own key set. */
  private static Check checkIssuers(Prepare prepare) throws Exception {
    Map<String, JWSKeySelector<SecurityContext>> keys = new HashMap<>();
    Map<String, ClaimsCheck> checks = new HashMap<>();
    for (Prepare one : prepare.issuers) {
      var set = new ImmutableJWKSet<SecurityContext>(new JWKSet(parse(one.publicKey())));
      keys.put(one.issuer, new JWSVerificationKeySelector<>(JWSAlgorithm.parse(prepare.alg), set));
      checks.put(one.issuer, new ClaimsCheck(one));
    }
    var processor = new DefaultJWTProcessor<SecurityContext>();
    processor.setJWTClaimsSetAwareJWSKeySelector(
        (header, claims, context) -> {
          var selector = keys.get(claims.getIssuer());
          return selector == null ? List.of() : selector.selectJWSKeys(header, context);
        });
    processor.setJWTClaimsSetVerifier((claims, context) -> checks.get(claims.getIssuer()).verify(claims));
    return text -> new Verified.OfMap(processor.process(text, null).toJSONObject());
  }

  @Override
  public SignatureCheck signatureCheck(Prepare prepare) throws Exception {
    JWSAlgorithm alg = JWSAlgorithm.parse(prepare.alg);
    Callable<JWSVerifier> key = prepare.keyed(() -> verifier(parse(prepare.publicKey())));
    return text -> requireSignature(JWSObject.parse(text), alg, key.call());
  }

  @Override
  public KeyMaker generate(Prepare prepare) {
    String alg = prepare.alg;
    return switch (alg.substring(0, 2)) {
      case "HS" -> () -> new OctetSequenceKeyGenerator(Integer.parseInt(alg.substring(2))).generate();
      case "RS", "PS" -> () -> new RSAKeyGenerator(2048).provider(provider()).generate();
      case "ES" -> () -> new ECKeyGenerator(curve(alg)).provider(provider()).generate();
      case "Ed" -> () -> new OctetKeyPairGenerator(Curve.Ed25519).generate();
      case "EC" -> () -> new ECKeyGenerator(Curve.P_256).provider(provider()).generate();
      case "di" -> () ->
          new OctetSequenceKeyGenerator(EncryptionMethod.parse(prepare.enc).cekBitLength())
              .generate();
      default -> () ->
          new OctetSequenceKeyGenerator(Integer.parseInt(alg.substring(1, 4))).generate();
    };
  }

  @Override
  public KeyMaker load(Prepare prepare) {
    var text = prepare.keyText();
    if (text.form().equals("pem")) {
      // Both at once: a private EC key alone is rejected if its PEM does not contain the public
      // key.
      String pair = text.secret() + text.open();
      return () -> {
        JWK key = JWK.parseFromPEMEncodedObjects(pair);
        return List.of(using(prepare, key), using(prepare, key.toPublicJWK()));
      };
    }
    if (text.open() == null) {
      return () -> using(prepare, parse(text.secret()));
    }
    return () ->
        List.of(using(prepare, parse(text.secret())), using(prepare, parse(text.open())));
  }

  /**
   * Creates what uses a key: the private half or secret signs or decrypts, the public half the
   * opposite.
   */
  private Object using(Prepare prepare, JWK key) throws JOSEException {
    if (prepare.format.equals("jwe")) {
      JWEAlgorithm alg = JWEAlgorithm.parse(prepare.alg);
      return key.isPrivate() ? decrypter(alg, key) : encrypter(alg, key);
    }
    return key.isPrivate() ? signer(key) : verifier(key);
  }

  private interface Claims {
    JWTClaimsSet at(int index) throws ParseException;
  }

  /** Returns the library's claims of the typed claims. */
  private static JWTClaimsSet of(Standard claims) {
    return new JWTClaimsSet.Builder()
        .issuer(claims.iss())
        .subject(claims.sub())
        .audience(claims.aud())
        .expirationTime(new Date(claims.exp() * 1000))
        .issueTime(new Date(claims.iat() * 1000))
        .jwtID(claims.jti())
        .claim("name", claims.name())
        .claim("admin", claims.admin())
        .build();
  }

  private static void requireSignature(JWSObject token, JWSAlgorithm alg, JWSVerifier verifier)
      throws JOSEException, Rejection {
    if (!token.getHeader().getAlgorithm().equals(alg)) {
      throw Rejection.algorithm();
    }
    if (!token.verify(verifier)) {
      throw Rejection.signature();
    }
  }

  private static Verified verified(JWTClaimsSet claims, ClaimsCheck check, boolean typed)
      throws Exception {
    if (claims == null) {
      throw new Rejection("the payload is not a claims set");
    }
    check.verify(claims);
    if (!typed) {
      return new Verified.OfMap(claims.toJSONObject());
    }
    return new Standard(
        claims.getIssuer(),
        claims.getSubject(),
        claims.getAudience(),
        seconds(claims.getExpirationTime()),
        seconds(claims.getIssueTime()),
        claims.getJWTID(),
        claims.getStringClaim("name"),
        claims.getBooleanClaim("admin"));
  }

  private static Long seconds(Date date) {
    return date == null ? null : date.getTime() / 1000;
  }

  /** The library's claims verifier for a policy. */
  private static final class ClaimsCheck {
    private final DefaultJWTClaimsVerifier<SecurityContext> verifier;

    /** In the library's first example, verification and the comparison of claims are separate. */
    private final boolean isLeftToTheCaller;

    ClaimsCheck(Prepare prepare) {
      JWTClaimsSet exact =
          prepare.issuer == null ? null : new JWTClaimsSet.Builder().issuer(prepare.issuer).build();
      Set<String> required = new HashSet<>();
      if (prepare.expiryRequired()) {
        required.add("exp");
      }
      verifier = new DefaultJWTClaimsVerifier<>(prepare.audience, exact, required);
      verifier.setMaxClockSkew(0);
      isLeftToTheCaller = prepare.defaults;
    }

    void verify(JWTClaimsSet claims) throws BadJWTException {
      if (!isLeftToTheCaller) {
        verifier.verify(claims, null);
      }
    }
  }

  private static JWK parse(String text) throws ParseException {
    return JWK.parse(text);
  }

  private JWSSigner signer(JWK key) throws JOSEException {
    JWSSigner signer = switch (key.getKeyType().getValue()) {
      case "oct" -> new MACSigner(key.toOctetSequenceKey());
      case "RSA" -> new RSASSASigner(key.toRSAKey());
      case "EC" -> new ECDSASigner(key.toECKey());
      default -> new Ed25519Signer(key.toOctetKeyPair());
    };
    signer.getJCAContext().setProvider(provider());
    return signer;
  }

  private JWSVerifier verifier(JWK key) throws JOSEException {
    JWSVerifier verifier = switch (key.getKeyType().getValue()) {
      case "oct" -> new MACVerifier(key.toOctetSequenceKey());
      case "RSA" -> new RSASSAVerifier(key.toRSAKey());
      case "EC" -> new ECDSAVerifier(key.toECKey());
      default -> new Ed25519Verifier(key.toOctetKeyPair().toPublicJWK());
    };
    verifier.getJCAContext().setProvider(provider());
    return verifier;
  }

  private JWEEncrypter encrypter(JWEAlgorithm alg, JWK key) throws JOSEException {
    JWEEncrypter encrypter = encrypterOf(alg, key);
    encrypter.getJCAContext().setProvider(provider());
    return encrypter;
  }

  private static JWEEncrypter encrypterOf(JWEAlgorithm alg, JWK key) throws JOSEException {
    if (alg.equals(JWEAlgorithm.DIR)) {
      return new DirectEncrypter(key.toOctetSequenceKey());
    }
    if (key instanceof ECKey ec) {
      return new ECDHEncrypter(ec);
    }
    if (key instanceof OctetKeyPair pair) {
      return new X25519Encrypter(pair.toPublicJWK());
    }
    return alg.getName().startsWith("RSA")
        ? new RSAEncrypter(key.toRSAKey())
        : new AESEncrypter(key.toOctetSequenceKey());
  }

  private JWEDecrypter decrypter(JWEAlgorithm alg, JWK key) throws JOSEException {
    JWEDecrypter decrypter = decrypterOf(alg, key);
    decrypter.getJCAContext().setProvider(provider());
    return decrypter;
  }

  private static JWEDecrypter decrypterOf(JWEAlgorithm alg, JWK key) throws JOSEException {
    if (alg.equals(JWEAlgorithm.DIR)) {
      return new DirectDecrypter(key.toOctetSequenceKey());
    }
    if (key instanceof ECKey ec) {
      return new ECDHDecrypter(ec);
    }
    if (key instanceof OctetKeyPair pair) {
      return new X25519Decrypter(pair);
    }
    return alg.getName().startsWith("RSA")
        ? new RSADecrypter(key.toRSAKey())
        : new AESDecrypter(key.toOctetSequenceKey());
  }

  private static Curve curve(String alg) {
    return switch (alg) {
      case "ES256" -> Curve.P_256;
      case "ES384" -> Curve.P_384;
      case "ES512" -> Curve.P_521;
      default -> throw DriverException.unsupported("no curve for " + alg);
    };
  }
}
