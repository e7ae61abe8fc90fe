# wynnsync as a container of its own: docker build -t wynnsync .
# docker run -e DATABASE_URL=postgres://... wynnsync           runs `start`
# docker run --rm -e DATABASE_URL=postgres://... wynnsync status
FROM node:24-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY tsconfig.json ./
COPY src src
COPY migrations migrations
COPY scripts scripts
RUN npm run build && npm prune --omit=dev --ignore-scripts

FROM node:24-slim
# The folder of the embedded database is /var/lib/wynnsync. A WYNNSYNC_DATA_DIR would go before a DATABASE_URL of .env.
ENV NODE_ENV=production XDG_DATA_HOME=/var/lib
WORKDIR /opt/wynnsync
COPY package.json LICENSE README.md CHANGELOG.md CONTRIBUTING.md ./
COPY docs docs
COPY examples examples
COPY migrations migrations
COPY src/questions src/questions
COPY src/lake/sql src/lake/sql
COPY --from=build /build/node_modules node_modules
COPY --from=build /build/dist dist
RUN mkdir /var/lib/wynnsync && chown node:node /var/lib/wynnsync && ln -s /opt/wynnsync/dist/main.js /usr/local/bin/wynnsync && chmod +x dist/main.js
USER node
VOLUME /var/lib/wynnsync
EXPOSE 9464
# Until the database is reached nothing listens there.
HEALTHCHECK --interval=30s --timeout=10s --start-period=2m \
  CMD ["node", "-e", "fetch('http://127.0.0.1:9464/healthz').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "/opt/wynnsync/dist/main.js"]
CMD ["start", "--metrics-port", "9464", "--metrics-host", "0.0.0.0"]
