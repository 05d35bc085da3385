package agreement;

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
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.nimbusds.jose.proc.SecurityContext;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import com.nimbusds.jwt.proc.BadJWTException;
import com.nimbusds.jwt.proc.DefaultJWTClaimsVerifier;
import java.security.SecureRandom;
import java.text.ParseException;
import java.util.Date;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/**
 * A benchmark of nimbus-jose-jwt as a Java programmer would write it: JMH, without code of the lab.
 * `cargo xtask agreement` compares its figures with the lab's.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class Agreement {
  private static final String ISSUER = "https://issuer.example";
  private static final String AUDIENCE = "api";

  /** Consecutive operations use different tokens, so that CPU caches are as cold as in the lab. */
  private static final int POOL = 8;

  /** The claims of a verified token. */
  public record Visit(
      String iss,
      String sub,
      List<String> aud,
      long exp,
      long iat,
      String jti,
      String name,
      boolean admin) {}

  @Param({"HS256", "ES256"})
  public String alg;

  private final Visit[] visits = new Visit[POOL];
  private final String[] tokens = new String[POOL];
  private JWSHeader header;
  private JWSSigner signer;
  private JWSVerifier verifier;
  private DefaultJWTClaimsVerifier<SecurityContext> claimsVerifier;
  private int turn;

  @Setup
  public void prepare() throws JOSEException {
    header = new JWSHeader(JWSAlgorithm.parse(alg));
    if (alg.equals("HS256")) {
      byte[] secret = new byte[32];
      new SecureRandom().nextBytes(secret);
      signer = new MACSigner(secret);
      verifier = new MACVerifier(secret);
    } else {
      var key = new ECKeyGenerator(Curve.P_256).generate();
      signer = new ECDSASigner(key);
      verifier = new ECDSAVerifier(key);
    }
    var exact = new JWTClaimsSet.Builder().issuer(ISSUER).build();
    claimsVerifier = new DefaultJWTClaimsVerifier<>(AUDIENCE, exact, Set.of("exp"));
    claimsVerifier.setMaxClockSkew(0);
    long now = System.currentTimeMillis() / 1000;
    for (int i = 0; i < POOL; i++) {
      String id = String.format("7f3a91c04be2%04x", 0xd651 + 0x11 * i);
      visits[i] =
          new Visit(
              ISSUER,
              "user-1234567890",
              List.of(AUDIENCE),
              now + 24 * 60 * 60,
              now,
              id,
              "John Doe",
              true);
      tokens[i] = issue(visits[i]);
    }
  }

  @Benchmark
  public String sign() throws JOSEException {
    return issue(visits[turn++ & (POOL - 1)]);
  }

  @Benchmark
  public Visit verify() throws ParseException, JOSEException, BadJWTException {
    SignedJWT token = SignedJWT.parse(tokens[turn++ & (POOL - 1)]);
    if (!token.getHeader().getAlgorithm().equals(header.getAlgorithm())
        || !token.verify(verifier)) {
      throw new JOSEException("a fresh token is rejected");
    }
    JWTClaimsSet claims = token.getJWTClaimsSet();
    claimsVerifier.verify(claims, null);
    return new Visit(
        claims.getIssuer(),
        claims.getSubject(),
        claims.getAudience(),
        claims.getExpirationTime().getTime() / 1000,
        claims.getIssueTime().getTime() / 1000,
        claims.getJWTID(),
        claims.getStringClaim("name"),
        claims.getBooleanClaim("admin"));
  }

  private String issue(Visit visit) throws JOSEException {
    JWTClaimsSet claims =
        new JWTClaimsSet.Builder()
            .issuer(visit.iss())
            .subject(visit.sub())
            .audience(visit.aud())
            .expirationTime(new Date(visit.exp() * 1000))
            .issueTime(new Date(visit.iat() * 1000))
            .jwtID(visit.jti())
            .claim("name", visit.name())
            .claim("admin", visit.admin())
            .build();
    SignedJWT token = new SignedJWT(header, claims);
    token.sign(signer);
    return token.serialize();
  }
}
