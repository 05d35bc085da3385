package io.github.jeton;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Maps need no library, and objects need one version of Jackson. */
class ClaimsWithoutJacksonTest {
    private static final String JACKSON_2 = "/com/fasterxml/jackson/core/jackson-databind/";
    private static final String JACKSON_3 = "/tools/jackson/core/jackson-databind/";

    @Test
    void maps_are_claims_with_each_version_of_jackson_and_with_none() throws Exception {
        assertEquals(List.of("maps", "objects"), run());
        assertEquals(List.of("maps", "objects"), run(JACKSON_2));
        assertEquals(List.of("maps", "objects"), run(JACKSON_3));
        assertEquals(List.of("maps", "INVALID_OPTION"), run(JACKSON_2, JACKSON_3));
    }

    /** Runs the program without these libraries, and with Bean Validation without a provider. */
    private static List<String> run(String... without) throws Exception {
        String all = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        String path = Arrays.stream(all.split(File.pathSeparator))
                .filter(entry -> !entry.contains("hibernate-validator"))
                .filter(entry -> Arrays.stream(without).noneMatch(entry.replace('\\', '/')::contains))
                .collect(Collectors.joining(File.pathSeparator));
        Path java = Path.of(System.getProperty("java.home"), "bin", "java");
        ProcessBuilder builder = new ProcessBuilder(
                        java.toString(),
                        "-cp",
                        path,
                        ClaimsWithoutJacksonApp.class.getName(),
                        without.length < 2 ? "jackson" : "none")
                .redirectErrorStream(true);
        // Cargo sets it to the build folder of the library.
        builder.environment().remove("LD_LIBRARY_PATH");
        Process process = builder.start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor(), output);
        // Newer JDKs warn of native code, with an empty line.
        return output.lines()
                .filter(line -> !line.isEmpty() && !line.startsWith("WARNING"))
                .toList();
    }
}
