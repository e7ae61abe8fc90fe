import { existsSync } from 'node:fs'
import { request } from 'node:http'
import type { RunningPostgres } from './postgres-binaries.ts'

/** Milliseconds that a Docker engine has to say it is there. */
const PATIENCE_MS = 1500

/**
 * Starts Postgres in a container, when a Docker engine answers; throws quickly when none does.
 * testcontainers removes what it started, also after a crash.
 */
export async function startContainer(): Promise<RunningPostgres> {
  await ping()
  const { GenericContainer, Wait } = await import('testcontainers')
  const container = await new GenericContainer('postgres:17')
    .withEnvironment({ POSTGRES_USER: 'tester', POSTGRES_PASSWORD: 'tester' })
    .withTmpFs({ '/var/lib/postgresql/data': 'rw' })
    .withCommand(['postgres', '-c', 'fsync=off', '-c', 'synchronous_commit=off', '-c', 'max_connections=200'])
    .withExposedPorts(5432)
    // The image starts the server twice; the first one only runs the setup.
    .withWaitStrategy(Wait.forLogMessage(/ready to accept connections/, 2))
    .start()
  return {
    url: `postgres://tester:tester@${container.getHost()}:${container.getMappedPort(5432)}/postgres`,
    taken: 'Docker (postgres:17)',
    async stop() {
      await container.stop()
    },
  }
}

function ping(): Promise<void> {
  const host = process.env.DOCKER_HOST ?? 'unix:///var/run/docker.sock'
  const url = new URL(host.replace(/^tcp:/, 'http:'))
  if (url.protocol === 'unix:' && !existsSync(url.pathname)) throw new Error(`no Docker socket at ${url.pathname}`)
  const target =
    url.protocol === 'unix:' ? { socketPath: url.pathname } : { host: url.hostname, port: url.port || 2375 }
  return new Promise((resolve, reject) => {
    const asked = request({ ...target, path: '/_ping', timeout: PATIENCE_MS }, (answer) => {
      answer.resume()
      if (answer.statusCode === 200) resolve()
      else reject(new Error(`Docker answers ${answer.statusCode}`))
    })
    asked.on('timeout', () => asked.destroy(new Error('Docker does not answer')))
    asked.on('error', reject)
    asked.end()
  })
}
