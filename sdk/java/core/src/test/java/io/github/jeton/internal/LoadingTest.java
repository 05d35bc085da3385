package io.github.jeton.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How the native library is found, and the error if it is not. */
class LoadingTest {
    private static final String MAIN = "io.github.jeton.internal.Everything";
    private static final String USED = "everything was used";

    @TempDir
    Path temporary;

    /** Returns the library of the jar as a file. */
    private Path library() throws Exception {
        String name = System.mapLibraryName("jeton_java");
        Path file = temporary.resolve(name);
        URL resource = getClass().getResource("/io/github/jeton/native/linux-x86_64-gnu/" + name);
        assumeTrue(resource != null);
        try (var stream = resource.openStream()) {
            Files.copy(stream, file);
        }
        return file;
    }

    private static String run(String... options) throws Exception {
        return ChildJvm.run(List.of(options), MAIN);
    }

    @Test
    void jni_checks_find_nothing() throws Exception {
        String output = run("-Xcheck:jni");
        assertTrue(output.contains(USED), output);
        assertFalse(output.contains("WARNING") || output.contains("FATAL"), output);
    }

    @Test
    void copy_is_deleted_when_it_is_loaded() throws Exception {
        String output = run("-Djava.io.tmpdir=" + temporary);
        assertTrue(output.contains(USED), output);
        try (var left = Files.list(temporary)) {
            assertEquals(List.of(), left.toList());
        }
    }

    @Test
    void file_of_a_property_is_loaded() throws Exception {
        Path file = library();
        assertTrue(run("-Dio.github.jeton.library=" + file).contains(USED));
        String output = run("-Dio.github.jeton.library=" + temporary.resolve("absent.so"));
        assertTrue(output.contains(temporary.resolve("absent.so") + ": "), output);
        Files.writeString(file, "no library");
        assertTrue(run("-Dio.github.jeton.library=" + file).contains(file + ": "), "a broken file");
    }

    @Test
    void library_path_is_used() throws Exception {
        library();
        // The directory for copies cannot be used, so this library is loaded.
        String output = run("-Djava.library.path=" + temporary, "-Dio.github.jeton.directory=/proc/absent");
        assertTrue(output.contains(USED), output);
    }

    @Test
    void unsupported_platform_is_named_in_one_line() throws Exception {
        String output = run("-Dos.arch=riscv64");
        assertTrue(output.contains("jeton has no native library for linux-riscv64. Supported: Linux on "), output);
        assertTrue(output.contains("status 1"), output);
    }

    @Test
    void unusable_directory_is_named() throws Exception {
        String output = run("-Dio.github.jeton.directory=/proc/absent");
        assertTrue(output.contains("/proc/absent: ") && output.contains("io.github.jeton.library"), output);
        assertTrue(output.contains("status 1"), output);
    }

    /** If a directory does not allow programs, the next one is tried. */
    @Test
    void directory_without_programs_is_skipped() throws Exception {
        Path noexec = Files.createDirectory(temporary.resolve("noexec"));
        // A mount that only the JVM sees. It needs root, or a kernel with user namespaces.
        List<String> mounted = List.of(
                "unshare", "--mount", "--map-root-user", "sh", "-c",
                "mount -t tmpfs -o noexec tmpfs " + noexec + " && exec \"$@\"", "sh");
        var probe = new ArrayList<>(mounted);
        probe.add("true");
        boolean works;
        try {
            works = new ProcessBuilder(probe).start().waitFor() == 0;
        } catch (java.io.IOException absent) {
            works = false;
        }
        assumeTrue(works, "no mount is allowed on this machine");
        String output = ChildJvm.run(mounted, List.of("-Dio.github.jeton.directory=" + noexec), MAIN);
        assertTrue(output.contains(noexec + "/jeton") && output.contains("failed to map segment"), output);
        Path home = Files.createDirectory(temporary.resolve("home"));
        output = ChildJvm.run(mounted, List.of("-Djava.io.tmpdir=" + noexec, "-Duser.home=" + home), MAIN);
        assertTrue(output.contains(USED), output);
    }

    @Test
    void read_only_directory_is_skipped() throws Exception {
        Path home = Files.createDirectory(temporary.resolve("home"));
        Path readOnly = Files.createDirectory(
                temporary.resolve("read-only"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("r-x------")));
        // Root can write to all directories except some of the kernel.
        for (String directory : List.of(readOnly.toString(), "/proc/self/fdinfo")) {
            String output = run("-Djava.io.tmpdir=" + directory, "-Duser.home=" + home);
            assertTrue(output.contains(USED), output);
        }
    }

    /** As in an application server. Each loader has its own copy, and may be collected. */
    @Test
    void two_class_loaders_use_it() throws Exception {
        List<URL> path = new ArrayList<>();
        for (String part : ChildJvm.classPath().split(java.io.File.pathSeparator)) {
            path.add(Path.of(part).toUri().toURL());
        }
        for (int round = 0; round < 3; round++) {
            for (int loader = 0; loader < 2; loader++) {
                try (var classes = new URLClassLoader(
                        path.toArray(new URL[0]), ClassLoader.getPlatformClassLoader())) {
                    Class<?> main = classes.loadClass(MAIN);
                    main.getMethod("main", String[].class).invoke(null, (Object) new String[0]);
                }
            }
            System.gc();
        }
    }

    @Test
    void two_class_loaders_share_the_file_of_a_property() throws Exception {
        String output = ChildJvm.run(
                List.of("-Dio.github.jeton.library=" + library()), "io.github.jeton.internal.TwoLoaders");
        assertTrue(output.contains("both loaded"), output);
    }
}
