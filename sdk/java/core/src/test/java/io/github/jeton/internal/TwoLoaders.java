package io.github.jeton.internal;

import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A program that loads the library in two class loaders. */
public final class TwoLoaders {
    private TwoLoaders() {}

    public static void main(String[] arguments) throws Exception {
        List<URL> path = new ArrayList<>();
        for (String part : System.getProperty("java.class.path").split(java.io.File.pathSeparator)) {
            path.add(Path.of(part).toUri().toURL());
        }
        List<URLClassLoader> loaders = new ArrayList<>();
        for (int loader = 0; loader < 2; loader++) {
            var classes = new URLClassLoader(path.toArray(new URL[0]), ClassLoader.getPlatformClassLoader());
            loaders.add(classes);
            classes.loadClass("io.github.jeton.internal.Everything")
                    .getMethod("main", String[].class)
                    .invoke(null, (Object) new String[0]);
        }
        for (URLClassLoader loader : loaders) {
            loader.close();
        }
        System.out.println("both loaded");
    }
}
