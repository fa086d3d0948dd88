# Sluice: gateway, consumers, views and the operator's commands in one image. docs/containers.md describes how to run it.
# NODE_IMAGE may be pinned by digest; it must have Node 24.6 or newer, as the program is run as TypeScript.
ARG NODE_IMAGE=node:24-bookworm-slim

FROM ${NODE_IMAGE} AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
# No production dependency needs an install script, so none may run. Maps and types are of no use at run time.
RUN --mount=type=cache,target=/root/.npm \
    npm ci --omit=dev --ignore-scripts --no-audit --no-fund \
    && find node_modules -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' \) -delete \
    && rm -f node_modules/swagger-ui-dist/swagger-ui-es-bundle*.js

# The page, as static files. Its development dependencies stay in this stage.
FROM ${NODE_IMAGE} AS page
WORKDIR /app
COPY package.json package-lock.json tsconfig.json ./
RUN --mount=type=cache,target=/root/.npm \
    npm ci --ignore-scripts --no-audit --no-fund
COPY shared shared
COPY views views
# Its sources are of no use at run time.
RUN node views/web/build.js \
    && find views/web -mindepth 1 -maxdepth 1 ! -name dist -exec rm -r {} +

FROM ${NODE_IMAGE}
# `docker exec CONTAINER sluice …`, and a data folder from which a new volume takes its owner.
RUN printf '#!/bin/sh\nexec node /app/sluice.js "$@"\n' > /usr/local/bin/sluice \
    && chmod 0755 /usr/local/bin/sluice \
    && install -d -o 1000 -g 1000 -m 0750 /data
WORKDIR /app
COPY --from=dependencies /app/node_modules node_modules
COPY package.json sluice.js LICENSE ./
COPY shared shared
COPY gateway gateway
COPY consumers consumers
COPY --from=page /app/views views
COPY deploy deploy
ENV HOST=0.0.0.0 \
    PORT=8080 \
    DATA_DIR=/data
# The number, not the name, so that an orchestrator can tell that it is not root.
USER 1000:1000
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 CMD ["node", "deploy/health-check.ts"]
ARG VERSION=0.3.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Sluice" \
      org.opencontainers.image.description="Event-sourced log ingestion gateway: HTTP in, Kafka between, Elasticsearch behind; or one process on SQLite." \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
ENTRYPOINT ["node", "sluice.js"]
CMD ["start"]
