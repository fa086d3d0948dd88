import logging
import os

import seqlog
from entries import write

handler = seqlog.log_to_seq(
    server_url=f"{os.environ['BASE_URL']}/projects/{os.environ['PROJECT']}",
    api_key=os.environ["KEY"],
    level=logging.DEBUG,
    auto_flush_timeout=1,
    override_root_logger=True,
)

logger = logging.getLogger("shop.checkout")

write(lambda level, message, attributes, failed: logger.log(level, message, exc_info=failed, **attributes))
# At the end of a program, seqlog can wait for itself while it sends.
handler.log_queue.join()
handler.flush()
