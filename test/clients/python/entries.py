"""The logs that every client writes, through Python's own logging; test/clients/entries.ts expects them."""

import logging
import os
import time

LEVELS = [logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR, logging.CRITICAL]


def fail(n):
    try:
        raise ValueError(f"below {n}")
    except ValueError as cause:
        raise RuntimeError(f"no {n}") from cause


def wait_for_go(n):
    """In the test of an outage, all clients go on at the same time."""
    path = os.environ.get("GO_FILE")
    while path and n == 10 and not os.path.exists(path):
        time.sleep(0.05)


def write(log):
    """`log` takes the level, the message, the attributes and whether an exception is being handled."""
    run = os.environ["RUN"]
    for n in range(int(os.environ["COUNT"])):
        wait_for_go(n)
        message = f"{run} {n}: Größe 漢字 😀"
        attributes = {"order": n, "ok": True, "ratio": 0.5, "correlationKey": f"{run}-{n % 10}"}
        if n % 50 == 49:
            try:
                fail(n)
            except RuntimeError:
                log(logging.ERROR, message, attributes, True)
        else:
            log(LEVELS[n % len(LEVELS)], message, attributes, False)
        time.sleep(int(os.environ.get("PAUSE_MS", "0")) / 1000)
