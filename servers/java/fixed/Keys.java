import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.JWSSigner;
import com.nimbusds.jose.JWSVerifier;
import com.nimbusds.jose.crypto.ECDSASigner;
import com.nimbusds.jose.crypto.ECDSAVerifier;
import com.nimbusds.jose.crypto.MACSigner;
import com.nimbusds.jose.crypto.MACVerifier;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.proc.SecurityContext;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import com.nimbusds.jwt.proc.BadJWTException;
import com.nimbusds.jwt.proc.DefaultJWTClaimsVerifier;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.interfaces.ECPrivateKey;
import java.security.interfaces.ECPublicKey;
import java.security.spec.PKCS8EncodedKeySpec;
import java.security.spec.X509EncodedKeySpec;
import java.text.ParseException;
import java.util.Base64;
import java.util.Map;
import java.util.Set;

/** The keys that the lab gives every server: a signer and a verifier for each algorithm. */
final class Keys {
  /** The kid of ES256, as in the report. */
  static final String KID = "report";

  private final Map<String, Pair> pairs;

  private Keys(Map<String, Pair> pairs) {
    this.pairs = pairs;
  }

  /** Loads the secret's bytes, the private key as PKCS#8 and its public half, both in PEM. */
  static Keys load(Path hs256, Path es256, Path es256Public)
      throws IOException, GeneralSecurityException, JOSEException {
    byte[] secret = Files.readAllBytes(hs256);
    KeyFactory factory = KeyFactory.getInstance("EC");
    ECPrivateKey signs =
        (ECPrivateKey) factory.generatePrivate(new PKCS8EncodedKeySpec(pem(es256)));
    ECPublicKey verifies =
        (ECPublicKey) factory.generatePublic(new X509EncodedKeySpec(pem(es256Public)));
    if (!Curve.P_256.equals(Curve.forECParameterSpec(signs.getParams()))) {
      throw new IllegalArgumentException(es256 + ": not a P-256 key");
    }
    JWSHeader named = new JWSHeader.Builder(JWSAlgorithm.ES256).keyID(KID).build();
    // The library rejects a secret with fewer bytes than the hash (RFC 7518, section 3.2).
    return new Keys(
        Map.of(
            "HS256",
            new Pair(
                new JWSHeader(JWSAlgorithm.HS256), new MACSigner(secret), new MACVerifier(secret)),
            "ES256",
            new Pair(named, new ECDSASigner(signs), new ECDSAVerifier(verifies))));
  }

  /** Returns the pair of that algorithm; null if there is none. */
  Pair of(String algorithm) {
    return pairs.get(algorithm);
  }

  private static byte[] pem(Path file) throws IOException {
    StringBuilder body = new StringBuilder();
    for (String line : Files.readAllLines(file)) {
      if (!line.startsWith("-----")) {
        body.append(line.strip());
      }
    }
    return Base64.getDecoder().decode(body.toString());
  }

  /** Signs and verifies with one algorithm. */
  static final class Pair {
    private final JWSHeader header;
    private final JWSSigner signer;
    private final JWSVerifier verifier;
    private final DefaultJWTClaimsVerifier<SecurityContext> claims =
        new DefaultJWTClaimsVerifier<>(null, Set.of("exp"));

    private Pair(JWSHeader header, JWSSigner signer, JWSVerifier verifier) {
      this.header = header;
      this.signer = signer;
      this.verifier = verifier;
    }

    String sign(JWTClaimsSet claims) throws JOSEException {
      SignedJWT token = new SignedJWT(header, claims);
      token.sign(signer);
      return token.serialize();
    }

    JWTClaimsSet verify(String text) throws ParseException, JOSEException, BadJWTException {
      SignedJWT token = SignedJWT.parse(text);
      if (!token.getHeader().getAlgorithm().equals(header.getAlgorithm())) {
        throw new BadJWTException("the algorithm does not match");
      }
      if (!token.verify(verifier)) {
        throw new BadJWTException("the signature is wrong");
      }
      JWTClaimsSet verified = token.getJWTClaimsSet();
      claims.verify(verified, null);
      return verified;
    }
  }
}
