package io.github.jeton.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringApplication;

/** A resource server of Spring Boot with tokens of `jeton serve`. */
class ResourceServerTest {
    @TempDir
    static Path folder;

    private static final HttpClient CLIENT = HttpClient.newHttpClient();
    private static Process server;
    private static String issuer;

    @BeforeAll
    static void start() throws Exception {
        String command = System.getProperty("jeton.command");
        assumeTrue(command != null && !command.isEmpty(), "the command jeton is not built");
        int port = freePort();
        issuer = "http://127.0.0.1:" + port;
        Path settings = Files.writeString(folder.resolve("jeton.toml"), """
                data = "%s"
                listen = "127.0.0.1:%d"
                admin_listen = "127.0.0.1:%d"
                [[issuer]]
                iss = "%s"
                profiles = [
                  { name = "access", alg = "ES256", lifetime_seconds = 900, audiences = ["api"] },
                ]
                """.formatted(folder.resolve("data"), port, freePort(), issuer));
        server = new ProcessBuilder(command, "serve", "--config", settings.toString())
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("log").toFile())
                .start();
        for (int wait = 0; wait < 1200; wait++) {
            assertTrue(server.isAlive(), () -> "jeton serve ended");
            try {
                if (get(issuer + "/.well-known/openid-configuration", null).statusCode() == 200) {
                    return;
                }
            } catch (java.io.IOException notYet) {
                Thread.sleep(50);
            }
        }
        throw new AssertionError("jeton serve does not respond");
    }

    @AfterAll
    static void stop() throws Exception {
        if (server != null) {
            server.destroy();
            server.waitFor();
        }
    }

    private static int freePort() throws Exception {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }

    private static HttpResponse<String> get(String address, String token) throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(address));
        if (token != null) {
            request.header("Authorization", "Bearer " + token);
        }
        return CLIENT.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    private static String token() throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create(issuer + "/token"))
                .header("Content-Type", "application/x-www-form-urlencoded")
                .POST(HttpRequest.BodyPublishers.ofString("grant_type=client_credentials"))
                .build();
        String body = CLIENT.send(request, HttpResponse.BodyHandlers.ofString()).body();
        Matcher found = Pattern.compile("\"access_token\":\"([^\"]+)\"").matcher(body);
        assertTrue(found.find(), "no token in the response");
        return found.group(1);
    }

    /** Returns the status and the text of each response of the resource server. */
    private static String who(Class<?> application, String... tokens) throws Exception {
        StringBuilder said = new StringBuilder();
        try (var context = SpringApplication.run(
                application,
                "--server.port=0",
                "--id=" + issuer,
                "--spring.main.banner-mode=off",
                "--logging.level.root=WARN")) {
            String port = context.getEnvironment().getProperty("local.server.port");
            for (String token : tokens) {
                var response = get("http://127.0.0.1:" + port + "/who", token);
                said.append(response.statusCode()).append(' ').append(response.body()).append('\n');
            }
        }
        return said.toString();
    }

    @Test
    void jeton_replaces_the_decoder_of_spring() throws Exception {
        String token = token();
        String changed = token.substring(0, token.length() - 2) + (token.endsWith("AA") ? "BB" : "AA");
        String[] tokens = {token, changed, null, "x"};
        String withJeton = who(JetonDecoderApp.class, tokens);
        assertTrue(withJeton.startsWith("200 local " + issuer + " [api] "), withJeton);
        assertTrue(withJeton.endsWith("401 \n401 \n401 \n"), withJeton);
        assertEquals(who(SpringDecoderApp.class, tokens), withJeton);
    }
}
