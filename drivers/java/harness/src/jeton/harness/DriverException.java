package jeton.harness;

/** An answer with `"ok": false`. Anything else that is thrown is answered as `failed`. */
public final class DriverException extends RuntimeException {
  private static final long serialVersionUID = 1;

  final String kind;

  private DriverException(String kind, String reason) {
    super(reason);
    this.kind = kind;
  }

  /** A fact about the library, which is no defect. */
  public static DriverException unsupported(String reason) {
    return new DriverException("unsupported", reason);
  }

  /** A request that makes no sense. */
  public static DriverException invalid(String reason) {
    return new DriverException("invalid", reason);
  }
}
