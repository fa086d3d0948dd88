//! An application that logs with `tracing`, and sends by OpenTelemetry.

use opentelemetry_appender_tracing::layer::OpenTelemetryTracingBridge;
use opentelemetry_otlp::LogExporter;
use opentelemetry_sdk::logs::SdkLoggerProvider;
use std::{env, error::Error, fmt, path::Path, thread, time::Duration};
use tracing::{debug, error, info, trace, warn};
use tracing_subscriber::prelude::*;

fn main() -> Result<(), Box<dyn Error>> {
    // The configuration comes from the environment.
    let exporter = LogExporter::builder().with_http().build()?;
    let provider = SdkLoggerProvider::builder().with_batch_exporter(exporter).build();
    tracing_subscriber::registry().with(OpenTelemetryTracingBridge::new(&provider)).init();

    write();
    // By default it waits for 5 s.
    provider.shutdown_with_timeout(Duration::from_secs(60))?;
    Ok(())
}

#[derive(Debug)]
struct Failure(String, Option<Box<Failure>>);

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for Failure {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.1.as_ref().map(|cause| cause as _)
    }
}

/// In the test of an outage, all clients go on at the same time.
fn wait_for_go() {
    if let Ok(path) = env::var("GO_FILE") {
        while !Path::new(&path).exists() {
            thread::sleep(Duration::from_millis(50));
        }
    }
}

/// The logs that every client writes; test/clients/entries.ts expects them.
fn write() {
    let run = env::var("RUN").unwrap_or_default();
    let number = |name| env::var(name).ok().and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
    for n in 0..number("COUNT") {
        if n == 10 {
            wait_for_go();
        }
        let message = format!("{run} {n}: Größe 漢字 😀");
        let key = format!("{run}-{}", n % 10);
        macro_rules! log {
            ($level:ident $(, $more:tt)*) => {
                $level!(target: "shop::checkout", order = n, ok = true, ratio = 0.5, correlationKey = %key $(, $more)*, "{message}")
            };
        }
        if n % 50 == 49 {
            let failure = Failure(format!("no {n}"), Some(Box::new(Failure(format!("below {n}"), None))));
            error!(
                target: "shop::checkout",
                order = n,
                ok = true,
                ratio = 0.5,
                correlationKey = %key,
                exception.message = %failure,
                exception.stacktrace = ?failure,
                "{message}"
            );
        } else {
            match n % 5 {
                0 => log!(trace),
                1 => log!(debug),
                2 => log!(info),
                3 => log!(warn),
                _ => log!(error),
            }
        }
        thread::sleep(Duration::from_millis(number("PAUSE_MS")));
    }
}
