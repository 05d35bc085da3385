package jeton.harness;

/** A token rejected by a check that the driver does by hand because its library does not. */
public final class Rejection extends Exception {
  private static final long serialVersionUID = 1;

  public Rejection(String reason) {
    super(reason);
  }

  /** The header names a different algorithm than the pinned one. */
  public static Rejection algorithm() {
    return new Rejection("the token's algorithm is not the expected one");
  }

  public static Rejection signature() {
    return new Rejection("the signature is wrong");
  }

  public static Rejection expiryMissing() {
    return new Rejection("the claim exp is missing");
  }
}
