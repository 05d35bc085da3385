package io.github.jeton.spring;

import io.github.jeton.RemoteKeySet;

/** Changes the key set of {@link JetonAutoConfiguration}. Beans of this type are called before it is built. */
@FunctionalInterface
public interface RemoteKeySetCustomizer {
    /** Changes the key set. The properties have already set the address and the default algorithm. */
    void customize(RemoteKeySet.Builder builder);
}
