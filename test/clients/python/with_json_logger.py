import logging
import sys

from entries import write
from pythonjsonlogger.json import JsonFormatter

handler = logging.StreamHandler(sys.stdout)
handler.setFormatter(JsonFormatter(["levelname", "name", "message", "exc_info"], timestamp=True))
logging.basicConfig(level=logging.DEBUG, handlers=[handler])

logger = logging.getLogger("shop.checkout")

write(lambda level, message, attributes, failed: logger.log(level, message, extra=attributes, exc_info=failed))
