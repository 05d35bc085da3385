package jeton.harness;

/** An answer with `"ok": false`. Anything else that is thrown is answered as `failed`. */
public final class Refusal extends RuntimeException {
  private static final long serialVersionUID = 1;

  final String kind;

  private Refusal(String kind, String reason) {
    super(reason);
    this.kind = kind;
  }

  /** A fact about the library, which is no defect. */
  public static Refusal unsupported(String reason) {
    return new Refusal("unsupported", reason);
  }

  /** A request that makes no sense. */
  public static Refusal invalid(String reason) {
    return new Refusal("invalid", reason);
  }
}
