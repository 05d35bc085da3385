package io.github.jeton.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.jeton.ErrorCode;
import io.github.jeton.JetonException;
import io.github.jeton.RemoteKeySet;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The habits of real key servers, from sdk/testdata/fetch.json, and a proxy. */
class FetchTest {
    private static final Path DATA = Path.of(System.getProperty("jeton.root"), "sdk/testdata/fetch.json");

    @TempDir
    Path folder;

    private Process process;
    private JsonNode server;
    private JsonNode table;

    @BeforeEach
    void start() throws Exception {
        String program = System.getenv("JETON_KEY_SERVER");
        // `cargo xtask sdk java` builds the key server.
        assumeTrue(program != null);
        process = new ProcessBuilder(
                        program, DATA.toString(), folder.resolve("authority.pem").toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        var output = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        server = new ObjectMapper().readTree(output.readLine());
        table = new ObjectMapper().readTree(DATA.toFile());
    }

    @AfterEach
    void stop() throws IOException {
        if (process != null) {
            process.getOutputStream().close();
        }
    }

    private String read(String path) throws IOException {
        try (InputStream body = URI.create(server.get("http").asText() + path).toURL().openStream()) {
            return new String(body.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    @Test
    void habit_of_a_key_server_has_its_result() throws Exception {
        String token = table.get("token").asText();
        assertTrue(table.get("habits").size() > 30);
        for (JsonNode habit : table.get("habits")) {
            String name = habit.get("name").asText();
            String base = server.get("http").asText() + "/" + name;
            boolean isOfIssuer = habit.path("via").asText().equals("issuer");
            RemoteKeySet keys = (isOfIssuer ? RemoteKeySet.discover(base) : RemoteKeySet.at(base + "/keys")).build();
            String expected = habit.get("expect").asText();
            assertEquals(expected, FetchApp.result(keys, token), name);
            if (habit.has("requests_after_a_second")) {
                Thread.sleep(1200);
                assertEquals(expected, FetchApp.result(keys, token), name);
                assertEquals(habit.get("requests_after_a_second").asText(), read("/" + name + "/count"), name);
            }
        }
        String head = read("/plain/head").toLowerCase(Locale.ROOT);
        assertTrue(head.contains("\r\nuser-agent: jeton-java/" + NativeLibrary.VERSION + "\r\n"), head);
    }

    @Test
    void proxy_of_the_system_properties_is_used_except_for_loopback_hosts() throws Exception {
        String address = "https://keys.example/plain/keys";
        URI proxy = URI.create(server.get("proxy").asText());
        assertEquals("ok", through(proxy.getPort(), address));
        assertTrue(read("/proxy/head").startsWith("CONNECT keys.example:443 "), read("/proxy/head"));
        assertEquals("KEY_SET_UNREACHABLE", through(proxy.getPort(), "https://refused.example/plain/keys"));
        assertEquals("KEY_SET_UNREACHABLE", through(proxy.getPort(), address, "-Dhttp.nonProxyHosts=*.example"));
        // Nothing listens on this port.
        assertEquals("ok", through(1, server.get("https").asText() + "/plain/keys", "-Dhttp.nonProxyHosts="));
        assertEquals("KEY_SET_UNREACHABLE", through(1, address));
    }

    /** Runs a JVM that trusts the authority of the server. */
    private String through(int port, String address, String... more) throws Exception {
        Path store = folder.resolve("authority.p12");
        KeyStore trusted = KeyStore.getInstance("PKCS12");
        trusted.load(null, null);
        try (InputStream pem = Files.newInputStream(Path.of(server.get("authority").asText()))) {
            var certificate = CertificateFactory.getInstance("X.509").generateCertificate(pem);
            trusted.setCertificateEntry("authority", certificate);
        }
        try (OutputStream file = Files.newOutputStream(store)) {
            trusted.store(file, "password".toCharArray());
        }
        List<String> options = new ArrayList<>(List.of(
                "-Dhttps.proxyHost=127.0.0.1",
                "-Dhttps.proxyPort=" + port,
                "-Djavax.net.ssl.trustStore=" + store,
                "-Djavax.net.ssl.trustStorePassword=password",
                "-Djavax.net.ssl.trustStoreType=PKCS12"));
        options.addAll(List.of(more));
        String output = ChildJvm.run(options, FetchApp.class.getName(), address, table.get("token").asText());
        assertTrue(output.endsWith("status 0"), output);
        return output.lines().filter(line -> line.equals("ok") || line.matches("[A-Z_]+")).findFirst().orElse(output);
    }

    @Test
    void http_to_another_host_needs_a_setting() {
        String address = "http://keys.invalid/keys";
        var refused = assertThrows(JetonException.class, () -> RemoteKeySet.at(address).build());
        assertEquals(ErrorCode.KEY_SET_ADDRESS, refused.code());
        // The address is allowed, and the name does not exist.
        RemoteKeySet keys = RemoteKeySet.at(address).allowPlainHttp().build();
        assertEquals("KEY_SET_UNREACHABLE", FetchApp.result(keys, table.get("token").asText()));
    }
}
