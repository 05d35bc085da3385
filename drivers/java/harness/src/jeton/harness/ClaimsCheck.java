package jeton.harness;

import java.util.function.Predicate;

/** The checks of claims that a driver does by hand because its library does not. */
public final class ClaimsCheck {
  private final Prepare prepare;
  private final boolean expiryRequired;

  public ClaimsCheck(Prepare prepare) {
    this.prepare = prepare;
    expiryRequired = prepare.expiryRequired();
  }

  /**
   * Checks the times, the issuer and the audience. Times are seconds since 1970, and NaN if the token
   * has none. The issuer is null if the token has none.
   */
  public void check(double expiry, double start, String issuer, Predicate<String> hasAudience)
      throws Rejection {
    if (Double.isNaN(expiry) && expiryRequired) {
      throw Rejection.expiryMissing();
    }
    double now = System.currentTimeMillis() / 1000.0;
    // A comparison with NaN is false.
    if (now >= expiry || now < start) {
      throw new Rejection("the token has expired or is not valid yet");
    }
    if (prepare.issuer != null && !prepare.issuer.equals(issuer)) {
      throw new Rejection("the token is of another issuer");
    }
    if (prepare.audience != null && !hasAudience.test(prepare.audience)) {
      throw new Rejection("the token is for another audience");
    }
  }
}
