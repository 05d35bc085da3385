/** Keys, issuers and verifiers of JWT and PASETO. Begin with {@link io.github.jeton.Key}. */
package io.github.jeton;
