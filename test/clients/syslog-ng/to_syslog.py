"""An application that logs to the system's log."""

import logging
import os
from logging.handlers import SysLogHandler

from entries import write

handler = SysLogHandler(os.environ["LOG_SOCKET"])
handler.ident = "shop.checkout: "
logging.basicConfig(level=logging.DEBUG, format="%(message)s", handlers=[handler])

write(lambda level, message, attributes, failed: logging.log(level, message))
