/** How claims become JSON, and the other way round. */
package io.github.jeton.claims;
