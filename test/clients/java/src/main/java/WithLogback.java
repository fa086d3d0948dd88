import ch.qos.logback.classic.LoggerContext;
import io.opentelemetry.instrumentation.logback.appender.v1_0.OpenTelemetryAppender;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.autoconfigure.AutoConfiguredOpenTelemetrySdk;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;
import org.slf4j.event.Level;

/** Logs by SLF4J and logback; logback's configuration says where to. */
public final class WithLogback {
  public static void main(String[] arguments) throws InterruptedException {
    OpenTelemetrySdk telemetry = AutoConfiguredOpenTelemetrySdk.initialize().getOpenTelemetrySdk();
    OpenTelemetryAppender.install(telemetry);

    Logger logger = LoggerFactory.getLogger("shop.checkout");
    Entries.write((level, message, attributes, correlationKey, failure) -> {
      MDC.put("correlationKey", correlationKey);
      var event = logger.atLevel(Level.valueOf(level)).setCause(failure);
      attributes.forEach(event::addKeyValue);
      event.log(message);
    });

    telemetry.close();
    ((LoggerContext) LoggerFactory.getILoggerFactory()).stop();
  }
}
