"""Runs the statement of each line of standard input, a JSON string, and writes its answer as a line of JSON.

The argument is the folder of the tables. Needs the package chdb.
"""

import json
import resource
import sys
import time

from chdb import session

tables = session.Session(sys.argv[1])


def cpu_seconds():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


for line in sys.stdin:
    statement = json.loads(line)
    before = cpu_seconds()
    start = time.perf_counter()
    try:
        text = str(tables.query(statement, "JSONCompact"))
        ms = (time.perf_counter() - start) * 1000
        data = json.loads(text)["data"] if text else []
        answer = {"ms": ms, "cpuSeconds": cpu_seconds() - before, "data": data}
    except Exception as error:
        answer = {"error": str(error)}
    print(json.dumps(answer), flush=True)
