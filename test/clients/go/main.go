// An application that logs with log/slog, and sends by OpenTelemetry.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"os"
	"strconv"
	"time"

	"go.opentelemetry.io/contrib/bridges/otelslog"
	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploggrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploghttp"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	"go.opentelemetry.io/otel/trace"
)

// The configuration comes from the environment.
func exporter(ctx context.Context, protocol string) (sdklog.Exporter, error) {
	if protocol == "grpc" {
		return otlploggrpc.New(ctx)
	}
	return otlploghttp.New(ctx)
}

func main() {
	ctx := context.Background()
	exporter, err := exporter(ctx, os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	provider := sdklog.NewLoggerProvider(sdklog.WithProcessor(sdklog.NewBatchProcessor(exporter)))
	defer func() {
		if err := provider.Shutdown(ctx); err != nil {
			log.Print(err)
		}
	}()
	logger := slog.New(otelslog.NewHandler("shop.checkout", otelslog.WithLoggerProvider(provider)))
	write(logger)
}

// In the test of an outage, all clients go on at the same time.
func waitForGo() {
	path := os.Getenv("GO_FILE")
	for path != "" {
		if _, err := os.Stat(path); err == nil {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}

var levels = []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError}

// The logs that every client writes; test/clients/entries.ts expects them.
func write(logger *slog.Logger) {
	run := os.Getenv("RUN")
	count, _ := strconv.Atoi(os.Getenv("COUNT"))
	pause, _ := strconv.Atoi(os.Getenv("PAUSE_MS"))
	for n := range count {
		if n == 10 {
			waitForGo()
		}
		// As if a span were open. Its trace becomes the correlation key.
		span := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1, 15: byte(n % 10)}, SpanID: trace.SpanID{1}})
		ctx := trace.ContextWithSpanContext(context.Background(), span)
		message := fmt.Sprintf("%s %d: Größe 漢字 😀", run, n)
		attributes := []any{"order", n, "ok", true, "ratio", 0.5}
		if n%50 == 49 {
			err := fmt.Errorf("no %d: %w", n, errors.New("below "+strconv.Itoa(n)))
			logger.ErrorContext(ctx, message, append(attributes, "err", err)...)
		} else {
			logger.Log(ctx, levels[n%len(levels)], message, attributes...)
		}
		time.Sleep(time.Duration(pause) * time.Millisecond)
	}
}
