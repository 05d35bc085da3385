import io.grpc.Server;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Executors;

/**
 * A Java server, which the public comparison of gRPC servers lacks: grpc-java and nimbus-jose-jwt,
 * used as their documentation shows, with the service of the other servers here.
 */
public final class FixedServer {
  private FixedServer() {}

  public static void main(String[] arguments) throws Exception {
    Map<String, String> options = options(arguments);
    Keys keys =
        Keys.load(
            Path.of(option(options, "--hs256")),
            Path.of(option(options, "--es256")),
            Path.of(option(options, "--es256-public")));
    Server server =
        start(address(option(options, "--listen")), keys, Integer.parseInt(option(options, "--cores")));
    InetSocketAddress listens = (InetSocketAddress) server.getListenSockets().get(0);
    System.out.println(
        "listening on " + listens.getAddress().getHostAddress() + ":" + listens.getPort());
    server.awaitTermination();
  }

  /** Starts a server. As many threads as it has cores answer calls. */
  static Server start(InetSocketAddress listen, Keys keys, int cores) throws IOException {
    return NettyServerBuilder.forAddress(listen)
        .executor(Executors.newFixedThreadPool(cores))
        .addService(new FixedService(keys))
        .build()
        .start();
  }

  private static Map<String, String> options(String[] words) {
    if (words.length % 2 != 0) {
      throw new IllegalArgumentException("an option requires a value");
    }
    Map<String, String> options = new HashMap<>();
    for (int i = 0; i < words.length; i += 2) {
      options.put(words[i], words[i + 1]);
    }
    return options;
  }

  private static String option(Map<String, String> options, String name) {
    String value = options.get(name);
    if (value == null) {
      throw new IllegalArgumentException(name + " is missing");
    }
    return value;
  }

  private static InetSocketAddress address(String text) {
    int colon = text.lastIndexOf(':');
    return new InetSocketAddress(text.substring(0, colon), Integer.parseInt(text.substring(colon + 1)));
  }
}
