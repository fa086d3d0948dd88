import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/** The logs that every client writes; test/clients/entries.ts expects them. */
final class Entries {
  static final String[] LEVELS = {"TRACE", "DEBUG", "INFO", "WARN", "ERROR"};

  interface Log {
    void log(String level, String message, Map<String, Object> attributes, String correlationKey, Throwable failure);
  }

  /** In the test of an outage, all clients go on at the same time. */
  private static void waitForGo() throws InterruptedException {
    String path = System.getenv("GO_FILE");
    while (path != null && !Files.exists(Path.of(path))) Thread.sleep(50);
  }

  static void write(Log log) throws InterruptedException {
    String run = System.getenv("RUN");
    int count = Integer.parseInt(System.getenv("COUNT"));
    int pause = Integer.parseInt(System.getenv().getOrDefault("PAUSE_MS", "0"));
    for (int n = 0; n < count; n += 1) {
      if (n == 10) waitForGo();
      String message = run + " " + n + ": Größe 漢字 😀";
      Map<String, Object> attributes = Map.of("order", n, "ok", true, "ratio", 0.5);
      boolean fails = n % 50 == 49;
      Throwable failure = fails ? new IllegalStateException("no " + n, new IllegalArgumentException("below " + n)) : null;
      log.log(fails ? "ERROR" : LEVELS[n % LEVELS.length], message, attributes, run + "-" + n % 10, failure);
      Thread.sleep(pause);
    }
  }
}
