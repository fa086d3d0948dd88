"""Prints each event log once. Delivery is at least once, so ids that were seen are skipped."""

import json
import os
import signal
from collections import OrderedDict

from confluent_kafka import Consumer, KafkaException

TOPIC = os.environ.get("TOPIC", "sluice.event-logs.v1")
# How many ids are remembered: repeats come soon after, or from a replay of dead letters.
REMEMBERED_MAX = 100_000

seen = OrderedDict()
running = True


def is_first(entry_id):
    if entry_id in seen:
        return False
    seen[entry_id] = None
    if len(seen) > REMEMBERED_MAX:
        seen.popitem(last=False)
    return True


def handle(message):
    headers = {name: value.decode() for name, value in message.headers() or []}
    # The topic may get other types of records one day.
    if headers.get("ce_type") != "sluice.event-log.v1" or not is_first(headers["ce_id"]):
        return
    entry = json.loads(message.value())
    source = entry["step"] or entry["event"]
    print(entry["timestamp"], entry["level"], source, entry["correlationKey"] or "-", entry["payload"], sep="\t", flush=True)


def stop(*_):
    global running
    running = False


signal.signal(signal.SIGINT, stop)
signal.signal(signal.SIGTERM, stop)

consumer = Consumer(
    {
        "bootstrap.servers": os.environ.get("KAFKA_BROKERS", "localhost:9092"),
        "group.id": os.environ.get("GROUP_ID", "example.event-log-printer.v1"),
        "auto.offset.reset": "earliest",
        # The client commits what is stored, in the background; we store what was printed.
        "enable.auto.offset.store": False,
    }
)
consumer.subscribe([TOPIC])
try:
    while running:
        message = consumer.poll(0.5)
        if message is None:
            continue
        if message.error():
            raise KafkaException(message.error())
        handle(message)
        consumer.store_offsets(message=message)
finally:
    # Commits what is stored and leaves the group.
    consumer.close()
