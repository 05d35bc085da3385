import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import javax.tools.ToolProvider;

/**
 * Builds the driver or the server of the current folder: `java ../harness/Build.java OUT`. Maven
 * fetches the packages of pom.xml into OUT/lib, unless they are there. The files there must match
 * jars.lock exactly, because Maven has no lockfile. The compiler writes to OUT/classes; for a driver it also compiles
 * the harness. It does not run again if nothing has changed.
 *
 * With `--lock`, writes jars.lock again. With `--test`, also compiles the harness's tests to OUT/tests, runs
 * them on this driver, and runs the tests of the folder.
 */
final class Build {
  private static final String FETCH =
      "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies";

  /** The code that drivers share. A server is in another folder and shares nothing. */
  private static final Path HARNESS = Path.of("../harness");

  private static final Path LOCK = Path.of("jars.lock");

  /** Jars that are built from this checkout, one per line. They are beside those of Maven, and not locked. */
  private static final Path LOCAL_JARS = Path.of("local-jars");

  /** Folders of other drivers whose sources this one uses, one per line. */
  private static final Path SHARED = Path.of("shared-sources");

  /** Without `processing`: jars contain annotations for processors that are not present. */
  private static final List<String> OPTIONS =
      List.of("--release", "17", "-Xlint:all,-processing", "-Werror", "-proc:none");

  private Build() {}

  public static void main(String[] arguments) throws Exception {
    Path out = Path.of(arguments[0]).toAbsolutePath();
    String also = arguments.length > 1 ? arguments[1] : "";
    Path jars = out.resolve("lib");
    Path classes = out.resolve("classes");
    Files.createDirectories(jars);
    List<String> local = Files.exists(LOCAL_JARS) ? Files.readAllLines(LOCAL_JARS) : List.of();
    for (String jar : local) {
      Files.deleteIfExists(jars.resolve(Path.of(jar).getFileName()));
    }
    if (also.equals("--lock") || !found(jars).equals(Files.readAllLines(LOCK))) {
      empty(jars);
      run("mvn", "-B", "-q", FETCH, "-DoutputDirectory=" + jars, "-DincludeScope=runtime");
      lock(jars, also.equals("--lock"));
    }
    for (String jar : local) {
      Files.copy(Path.of(jar), jars.resolve(Path.of(jar).getFileName()));
    }
    boolean isDriver = Files.isDirectory(HARNESS);
    List<String> folders = new ArrayList<>(List.of("."));
    if (isDriver) {
      folders.add(HARNESS + "/src");
    }
    if (Files.exists(SHARED)) {
      folders.addAll(Files.readAllLines(SHARED));
    }
    compileIfChanged(out.resolve("compiled.txt"), classes, jars, folders);
    if (also.equals("--test")) {
      String classPath = classes + File.pathSeparator + jars + "/*";
      if (isDriver) {
        Path tests = out.resolve("tests");
        empty(tests);
        compile(tests, classPath(classes, jars), sources(List.of(HARNESS + "/test")));
        classPath = tests + File.pathSeparator + classPath;
        for (String driver : classes("*Driver.java")) {
          run("java", "-cp", classPath, "jeton.harness.Tests", driver);
        }
      }
      for (String test : classes("*Test.java")) {
        run("java", "-cp", classPath, test);
      }
    }
  }

  /** Returns the classes in this folder whose file names match. */
  private static List<String> classes(String glob) throws IOException {
    List<String> names = new ArrayList<>();
    try (var files = Files.newDirectoryStream(Path.of("."), glob)) {
      files.forEach(file -> names.add(file.getFileName().toString().replace(".java", "")));
    }
    return names;
  }

  private static void lock(Path jars, boolean write) throws IOException, NoSuchAlgorithmException {
    List<String> found = found(jars);
    if (write) {
      Files.write(LOCK, found);
      return;
    }
    List<String> wanted = Files.readAllLines(LOCK);
    if (!found.equals(wanted)) {
      List<String> odd = new ArrayList<>(found);
      odd.removeAll(wanted);
      wanted.removeAll(found);
      throw stop("error: the jars differ from jars.lock: " + odd + " instead of " + wanted);
    }
  }

  /** Returns the lines of a lock for the files in the folder. */
  private static List<String> found(Path jars) throws IOException, NoSuchAlgorithmException {
    List<String> found = new ArrayList<>();
    hashes(jars).forEach((name, hash) -> found.add(hash + "  " + name));
    return found;
  }

  /** Returns the SHA-256 of each file in the folder, by name. */
  private static Map<String, String> hashes(Path folder)
      throws IOException, NoSuchAlgorithmException {
    Map<String, String> hashes = new TreeMap<>();
    try (var files = Files.newDirectoryStream(folder)) {
      for (Path file : files) {
        hashes.put(file.getFileName().toString(), hash(file));
      }
    }
    return hashes;
  }

  private static String hash(Path file) throws IOException, NoSuchAlgorithmException {
    byte[] digest = MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(file));
    return HexFormat.of().formatHex(digest);
  }

  /** Compiles unless the record of the last time has the same compiler, jars and sources. */
  private static void compileIfChanged(
      Path record, Path classes, Path jars, List<String> folders)
      throws IOException, NoSuchAlgorithmException {
    List<String> sources = sources(folders);
    List<String> inputs = new ArrayList<>(List.of(Runtime.version() + " " + OPTIONS));
    inputs.addAll(found(jars));
    for (String source : sources) {
      inputs.add(hash(Path.of(source)) + "  " + source);
    }
    if (Files.exists(record) && Files.readAllLines(record).equals(inputs)) {
      return;
    }
    Files.deleteIfExists(record);
    empty(classes);
    compile(classes, classPath(classes, jars), sources);
    Files.write(record, inputs);
  }

  private static String classPath(Path classes, Path jars) throws IOException {
    StringBuilder classPath = new StringBuilder(classes.toString());
    for (String jar : names(jars, ".jar")) {
      classPath.append(File.pathSeparator).append(jar);
    }
    return classPath.toString();
  }

  private static List<String> sources(List<String> folders) throws IOException {
    List<String> sources = new ArrayList<>();
    for (String folder : folders) {
      sources.addAll(names(Path.of(folder), ".java"));
    }
    return sources;
  }

  private static void compile(Path to, String classPath, List<String> sources) {
    List<String> arguments = new ArrayList<>(OPTIONS);
    arguments.addAll(List.of("-d", to.toString(), "-cp", classPath));
    arguments.addAll(sources);
    var compiler = ToolProvider.getSystemJavaCompiler();
    if (compiler.run(null, System.out, System.err, arguments.toArray(new String[0])) != 0) {
      throw stop("error: does not compile");
    }
  }

  private static List<String> names(Path folder, String ending) throws IOException {
    try (var files = Files.walk(folder)) {
      return files.map(Path::toString).filter(name -> name.endsWith(ending)).sorted().toList();
    }
  }

  private static void empty(Path folder) throws IOException {
    Files.createDirectories(folder);
    List<Path> found;
    try (var files = Files.walk(folder)) {
      found = new ArrayList<>(files.toList());
    }
    for (int i = found.size() - 1; i > 0; i--) { // a folder comes before its contents
      Files.delete(found.get(i));
    }
  }

  private static void run(String... command) throws IOException, InterruptedException {
    int status = new ProcessBuilder(command).inheritIO().start().waitFor();
    if (status != 0) {
      throw stop("error: " + command[0] + " ended with status " + status);
    }
  }

  private static IllegalStateException stop(String why) {
    System.err.println(why);
    System.exit(1);
    return new IllegalStateException(why);
  }
}
