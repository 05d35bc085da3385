package io.github.jeton.internal;

import java.io.File;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Runs a main class in another JVM of the same JDK, with the class path of the tests. */
final class ChildJvm {
    private ChildJvm() {}

    /** Returns its output, followed by its status. */
    static String run(List<String> options, String main, String... arguments) throws Exception {
        return run(List.of(), options, main, arguments);
    }

    /** As above, with a command that starts the JVM. */
    static String run(List<String> starter, List<String> options, String main, String... arguments)
            throws Exception {
        List<String> command = new ArrayList<>(starter);
        command.add(System.getProperty("java.home") + File.separator + "bin" + File.separator + "java");
        command.addAll(options);
        if (Runtime.version().feature() >= 22) {
            command.add("--enable-native-access=ALL-UNNAMED");
        }
        command.addAll(List.of("-cp", classPath(), main));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        // Cargo sets it to the build folder of the library.
        builder.environment().remove("LD_LIBRARY_PATH");
        Process process = builder.start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return output + "status " + process.waitFor();
    }

    static String classPath() {
        return Stream.of(System.getProperty("surefire.test.class.path"), System.getProperty("java.class.path"))
                .filter(path -> path != null)
                .findFirst()
                .orElseThrow();
    }
}
