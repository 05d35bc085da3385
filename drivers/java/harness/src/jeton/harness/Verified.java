package jeton.harness;

import java.util.Map;

/** The claims of a verified token: {@link Standard}, or a library's map in {@link OfMap}. */
public interface Verified {
  /** The claim `jti`, or null. */
  String jti();

  /** All of the claims, for an answer. Never called while something is timed. */
  Map<String, Object> view();

  /** Claims that have no typed form. */
  record OfMap(Map<String, Object> view) implements Verified {
    @Override
    public String jti() {
      return view.get("jti") instanceof String id ? id : null;
    }
  }
}
