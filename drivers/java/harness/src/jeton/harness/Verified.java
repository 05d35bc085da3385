package jeton.harness;

import java.util.Map;

/** The claims of a verified token: {@link Standard}, or a library's map in {@link OfMap}. */
public interface Verified {
  /** Returns the claim `jti`, or null. */
  String jti();

  /** Returns all claims, for an answer. Never called during a timed run. */
  Map<String, Object> view();

  /** Claims without a typed form. */
  record OfMap(Map<String, Object> view) implements Verified {
    @Override
    public String jti() {
      return view.get("jti") instanceof String id ? id : null;
    }
  }
}
