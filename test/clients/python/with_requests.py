import os
import sys
import time
import traceback
from datetime import datetime, timezone

import requests
from entries import LEVELS, write

session = requests.Session()
session.headers["X-API-Key"] = os.environ["KEY"]


def send(entries):
    address = os.environ["BASE_URL"] + "/api/ApplicationLogs/batch?strict=true"
    body = {"uniqueIdentifier": os.environ["PROJECT"], "logEntries": entries}
    # The same key for every attempt: an entry is stored once, however often it is sent.
    key = {"Idempotency-Key": os.urandom(16).hex()}
    while True:
        try:
            answer = session.post(address, json=body, headers=key, timeout=15)
            if answer.status_code == 200:
                return
            print(answer.status_code, answer.text, file=sys.stderr)
            if answer.status_code < 500 and "Retry-After" not in answer.headers:
                return
        except (requests.ConnectionError, requests.Timeout):
            pass
        time.sleep(1)


NAMES = dict(zip(LEVELS, ["Debug", "Information", "Warning", "Error", "Critical"]))
entries = []


def log(level, message, attributes, failed):
    entry = {
        "timestamp": datetime.now(timezone.utc).isoformat(),
        "categoryName": "shop.checkout",
        "level": NAMES[level],
        "message": message,
        "correlationKey": attributes.pop("correlationKey"),
        "scopeData": attributes,
    }
    if failed:
        entry["exception"] = traceback.format_exc()
    entries.append(entry)
    if len(entries) == 10:
        send(entries)
        entries.clear()


write(log)
if entries:
    send(entries)
