import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;
import org.apache.logging.log4j.ThreadContext;

/** Logs by log4j2; log4j2.xml says where to. */
public final class WithLog4j {
  public static void main(String[] arguments) throws InterruptedException {
    Logger logger = LogManager.getLogger("shop.checkout");
    Entries.write((level, message, attributes, correlationKey, failure) -> {
      ThreadContext.put("correlationKey", correlationKey);
      attributes.forEach((name, value) -> ThreadContext.put(name, value.toString()));
      logger.log(Level.valueOf(level), message, failure);
    });
    LogManager.shutdown();
  }
}
