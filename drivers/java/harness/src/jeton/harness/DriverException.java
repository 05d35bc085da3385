package jeton.harness;

/** An answer with `"ok": false`. Any other exception is answered as `failed`. */
public final class DriverException extends RuntimeException {
  private static final long serialVersionUID = 1;

  final String kind;

  private DriverException(String kind, String reason) {
    super(reason);
    this.kind = kind;
  }

  /** Creates an error for what the library does not support, which is not a defect. */
  public static DriverException unsupported(String reason) {
    return new DriverException("unsupported", reason);
  }

  /** Creates an error for an inconsistent request. */
  public static DriverException invalid(String reason) {
    return new DriverException("invalid", reason);
  }
}
