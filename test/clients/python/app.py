"""An application that logs as Python does, and knows nothing of its exporter."""

import logging

from entries import write

logging.getLogger().setLevel(logging.DEBUG)
logger = logging.getLogger("shop.checkout")

write(lambda level, message, attributes, failed: logger.log(level, message, extra=attributes, exc_info=failed))
