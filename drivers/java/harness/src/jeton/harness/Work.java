package jeton.harness;

import java.util.List;
import java.util.Map;

/** A prepared operation. */
abstract class Work {
  /** Runs the operation this many times. Returns the protocol's checksum. */
  abstract long run(long iterations) throws Exception;

  /** Returns the token of a claims value. */
  String token(int index) throws Exception {
    throw DriverException.invalid("token needs a prepared sign, encrypt or round-trip");
  }

  /**
   * Returns the claims of one token, or null where the operation decodes none. Throws for a bad
   * token.
   */
  Map<String, Object> verify(String token) throws Exception {
    throw DriverException.invalid("verify needs a prepared verify, decrypt or verify-signature");
  }

  /** Returns whether {@link #verify} is supported. */
  boolean verifies() {
    return false;
  }

  /** Creates the work of a request. */
  static Work of(Driver driver, Prepare prepare) throws Exception {
    return switch (prepare.operation) {
      case "sign", "encrypt" -> new Signing(prepare, driver.sign(prepare));
      case "verify", "decrypt" -> new Checking(prepare, driver.check(prepare));
      case "verify-signature" -> new CheckingSignature(prepare, driver.signatureCheck(prepare));
      case "round-trip" -> new RoundTrip(prepare, driver.sign(prepare), driver.check(prepare));
      case "generate-key" -> new MakingKeys(driver.generate(prepare));
      case "load-key" -> new MakingKeys(driver.load(prepare));
      default -> throw DriverException.invalid("the operation is unknown");
    };
  }

  private static long sumOf(String token) {
    int length = token.length();
    return length + token.charAt(length - 1);
  }

  private static long sumOf(Verified claims) {
    String jti = claims.jti();
    return jti == null || jti.isEmpty() ? 1 : jti.charAt(jti.length() - 1);
  }

  private static class Signing extends Work {
    final int count;
    final Driver.Signer signer;

    Signing(Prepare prepare, Driver.Signer signer) {
      count = prepare.values.size();
      if (count == 0) {
        throw DriverException.invalid("there is no claims value to sign");
      }
      this.signer = signer;
    }

    @Override
    long run(long iterations) throws Exception {
      long sum = 0;
      int index = 0;
      for (long i = 0; i < iterations; i++) {
        sum += sumOf(signer.sign(index));
        if (++index == count) {
          index = 0;
        }
      }
      return sum;
    }

    @Override
    String token(int index) throws Exception {
      if (index < 0 || index >= count) {
        throw DriverException.invalid("the index is outside the pool of " + count + " claims values");
      }
      return signer.sign(index);
    }
  }

  private static final class RoundTrip extends Signing {
    private final Driver.Check check;

    RoundTrip(Prepare prepare, Driver.Signer signer, Driver.Check check) {
      super(prepare, signer);
      this.check = check;
    }

    @Override
    long run(long iterations) throws Exception {
      long sum = 0;
      int index = 0;
      for (long i = 0; i < iterations; i++) {
        String token = signer.sign(index);
        sum += sumOf(token) + sumOf(check.check(token));
        if (++index == count) {
          index = 0;
        }
      }
      return sum;
    }
  }

  private static final class Checking extends Work {
    private final List<String> tokens;
    private final Driver.Check check;

    Checking(Prepare prepare, Driver.Check check) {
      tokens = List.copyOf(prepare.tokens);
      this.check = check;
    }

    @Override
    long run(long iterations) throws Exception {
      int count = require(tokens);
      long sum = 0;
      int index = 0;
      for (long i = 0; i < iterations; i++) {
        sum += sumOf(check.check(tokens.get(index)));
        if (++index == count) {
          index = 0;
        }
      }
      return sum;
    }

    @Override
    Map<String, Object> verify(String token) throws Exception {
      return check.check(token).view();
    }

    @Override
    boolean verifies() {
      return true;
    }
  }

  private static final class CheckingSignature extends Work {
    private final List<String> tokens;
    private final Driver.SignatureCheck check;

    CheckingSignature(Prepare prepare, Driver.SignatureCheck check) {
      tokens = List.copyOf(prepare.tokens);
      this.check = check;
    }

    @Override
    long run(long iterations) throws Exception {
      int count = require(tokens);
      int index = 0;
      for (long i = 0; i < iterations; i++) {
        check.check(tokens.get(index));
        if (++index == count) {
          index = 0;
        }
      }
      return iterations;
    }

    @Override
    Map<String, Object> verify(String token) throws Exception {
      check.check(token);
      return null;
    }

    @Override
    boolean verifies() {
      return true;
    }
  }

  private static final class MakingKeys extends Work {
    private final Driver.KeyMaker maker;

    MakingKeys(Driver.KeyMaker maker) throws Exception {
      this.maker = maker;
      maker.make(); // fails now, not in the middle of a run, if the library cannot do this
    }

    @Override
    long run(long iterations) throws Exception {
      long sum = 0;
      for (long i = 0; i < iterations; i++) {
        if (maker.make() != null) {
          sum++;
        }
      }
      return sum;
    }
  }

  private static int require(List<String> tokens) {
    if (tokens.isEmpty()) {
      throw DriverException.invalid("prepare has no tokens");
    }
    return tokens.size();
  }
}
