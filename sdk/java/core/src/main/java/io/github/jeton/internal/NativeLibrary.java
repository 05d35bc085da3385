package io.github.jeton.internal;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Finds and loads the native library: the file that a property names, then the library path of the JVM, then the one in
 * the jar, which is copied to a private directory. Each class loader loads its own copy, because the JVM requires it.
 */
final class NativeLibrary {
    /** The property with the file to load. */
    static final String FILE_PROPERTY = "io.github.jeton.library";

    /** The property with the directory for the copy of the library. */
    static final String DIRECTORY_PROPERTY = "io.github.jeton.directory";

    /** The version of these classes. */
    static final String VERSION = "0.1.0";

    private static final String NAME = "jeton_java";

    private static final String SUPPORTED = "Linux on x86_64 and aarch64, with glibc 2.28 or musl 1.2, or a later version";

    private NativeLibrary() {}

    static void load() {
        List<String> tried = new ArrayList<>();
        if (!find(tried)) {
            throw new UnsatisfiedLinkError("the native library of jeton cannot be loaded on " + platform() + ": "
                    + String.join("; ", tried) + ". It needs " + SUPPORTED + ". Set the property " + FILE_PROPERTY
                    + " to its file, or " + DIRECTORY_PROPERTY
                    + " to a directory in which files can be created and executed.");
        }
        String version = Reply.text(Native.version());
        if (!version.equals(VERSION)) {
            throw new UnsatisfiedLinkError(
                    "the native library of jeton has version " + version + ", the classes have " + VERSION);
        }
    }

    private static boolean find(List<String> tried) {
        String file = System.getProperty(FILE_PROPERTY);
        if (file != null) {
            // If a file is named, no other is tried.
            Path path = Path.of(file).toAbsolutePath();
            return loadFile(path, tried) || isOfAnotherLoader(tried) && copyOf(path, tried);
        }
        try {
            System.loadLibrary(NAME);
            return true;
        } catch (UnsatisfiedLinkError error) {
            // It is usually not there. Another message is about a file that is.
            if (!error.getMessage().startsWith("no " + NAME + " in ")) {
                tried.add("library path: " + error.getMessage());
            }
        }
        List<String> resources = resources();
        if (resources.isEmpty()) {
            throw new UnsatisfiedLinkError("jeton has no native library for " + platform() + ". Supported: " + SUPPORTED
                    + ". Set the property " + FILE_PROPERTY + " to a library that you built for it.");
        }
        return resources.stream().anyMatch(resource -> copyFromJar(resource, tried));
    }

    /** Returns the libraries in the jar that may be for this platform, most likely first. */
    private static List<String> resources() {
        return platforms().stream()
                .map(platform -> "/io/github/jeton/native/" + platform + "/" + System.mapLibraryName(NAME))
                .filter(resource -> NativeLibrary.class.getResource(resource) != null)
                .toList();
    }

    private static boolean loadFile(Path path, List<String> tried) {
        try {
            System.load(path.toString());
            return true;
        } catch (UnsatisfiedLinkError error) {
            tried.add(path + ": " + error.getMessage());
            return false;
        }
    }

    private static boolean isOfAnotherLoader(List<String> tried) {
        return tried.get(tried.size() - 1).contains("another classloader");
    }

    /** A source of the bytes of the library. */
    private interface Source {
        InputStream open() throws IOException;
    }

    private static boolean copyOf(Path path, List<String> tried) {
        return copy(() -> Files.newInputStream(path), tried);
    }

    private static boolean copyFromJar(String resource, List<String> tried) {
        return copy(() -> NativeLibrary.class.getResourceAsStream(resource), tried);
    }

    private static boolean copy(Source source, List<String> tried) {
        for (Path directory : directories()) {
            Path own = null;
            try {
                Files.createDirectories(directory);
                own = privateDirectory(directory);
                Path file = own.resolve(System.mapLibraryName(NAME));
                try (InputStream library = source.open()) {
                    Files.copy(library, file);
                }
                if (loadFile(file, tried)) {
                    return true;
                }
            } catch (IOException | RuntimeException error) {
                tried.add(directory + ": " + error);
            } finally {
                delete(own);
            }
        }
        return false;
    }

    /** Creates a directory that only this user can change, so that nobody replaces the file before it is loaded. */
    private static Path privateDirectory(Path directory) throws IOException {
        if (directory.getFileSystem().supportedFileAttributeViews().contains("posix")) {
            var owner = PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));
            return Files.createTempDirectory(directory, "jeton", owner);
        }
        return Files.createTempDirectory(directory, "jeton");
    }

    /** Deletes the copy. On Windows, a loaded file is deleted when the JVM ends. */
    private static void delete(Path own) {
        if (own == null) {
            return;
        }
        Path file = own.resolve(System.mapLibraryName(NAME));
        try {
            Files.deleteIfExists(file);
            Files.delete(own);
        } catch (IOException inUse) {
            own.toFile().deleteOnExit();
            file.toFile().deleteOnExit();
        }
    }

    private static List<Path> directories() {
        String chosen = System.getProperty(DIRECTORY_PROPERTY);
        if (chosen != null) {
            return List.of(Path.of(chosen).toAbsolutePath());
        }
        List<Path> all = new ArrayList<>();
        all.add(Path.of(System.getProperty("java.io.tmpdir")).toAbsolutePath());
        String home = System.getProperty("user.home");
        if (home != null && !home.isEmpty() && !home.equals("?")) {
            all.add(Path.of(home, ".cache", "jeton"));
        }
        return all;
    }

    /** Returns the folders in the jar, most likely first. */
    private static List<String> platforms() {
        String platform = platform();
        if (!platform.startsWith("linux-")) {
            return List.of(platform);
        }
        String arch = platform.substring("linux-".length());
        boolean isMusl = Files.exists(Path.of("/lib/ld-musl-" + arch + ".so.1"));
        return isMusl ? List.of(platform + "-musl", platform + "-gnu") : List.of(platform + "-gnu", platform + "-musl");
    }

    private static String platform() {
        String os = System.getProperty("os.name").toLowerCase(Locale.ROOT);
        String arch = System.getProperty("os.arch").toLowerCase(Locale.ROOT);
        String name = os.startsWith("mac") ? "macos" : os.startsWith("windows") ? "windows" : os.replace(" ", "");
        return name + "-" + switch (arch) {
            case "amd64", "x86-64", "x86_64" -> "x86_64";
            case "arm64", "aarch64" -> "aarch64";
            default -> arch;
        };
    }
}
