/** Keys, issuers and verifiers of JWT and PASETO. Start with {@link io.github.jeton.Key}. */
package io.github.jeton;
