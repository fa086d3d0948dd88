"""Writes each line of the standard input as Docker's logging driver json-file does."""

import json
import sys
from datetime import datetime, timezone

for line in sys.stdin:
    time = datetime.now(timezone.utc).isoformat(timespec="microseconds").replace("+00:00", "000Z")
    print(json.dumps({"log": line, "stream": "stdout", "time": time}), flush=True)
