import { execFile, execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { afterwards } from '../support/afterwards.ts'
import { webWorld } from '../support/web-world.ts'

const folder = join(import.meta.dirname, '../../clients/python')
const run = promisify(execFile)

/** Whether this machine has a Python that can run `code`. */
function runs(code: string): boolean {
  try {
    execFileSync('python3', ['-c', code], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
const isThere = runs('import sys; sys.exit(sys.version_info < (3, 9))')
const hasPandas = isThere && runs('import pandas')

/** What a program prints, as JSON; `history` in it is a client of the server. */
async function printed(url: string, program: string, options = ''): Promise<unknown> {
  const head = `import json\nfrom wynnsync_client import ReadApiError, connect\nhistory = connect(${JSON.stringify(url)}${options})\n`
  const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1', PYTHONPATH: folder }
  const { stdout } = await run('python3', ['-c', head + program], { env })
  return JSON.parse(stdout)
}

/** A server that answers each request with the next of these. */
async function answering(...answers: { status: number; headers?: Record<string, string>; body?: unknown }[]) {
  const asked: { url: string | undefined; key: string | undefined }[] = []
  const server = createServer((request, response) => {
    asked.push({ url: request.url, key: request.headers.authorization })
    const { status, headers = {}, body } = answers[Math.min(asked.length, answers.length) - 1] ?? { status: 500 }
    response.writeHead(status, headers).end(body === undefined ? '' : JSON.stringify(body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  afterwards(() => new Promise<void>((resolve) => server.close(() => resolve())))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked }
}

const empty = { question: 'world', arguments: {}, rows: [], next: null }

describe.skipIf(!isThere)('the Python client, which needs python3', () => {
  const web = webWorld('embedded')

  test('answers all rows of all pages, as the read API has them', async () => {
    const { url, json } = await web.served()
    const { rows } = await json('/api/v1/territory_hold?limit=1000')
    expect(rows.length).toBeGreaterThan(3)
    expect(await printed(url, 'print(json.dumps(history.territory_hold(limit=2).all()))')).toEqual(rows)
  })

  test('passes on arguments, instants, filters and columns', async () => {
    const { url, json } = await web.served()
    const program = `
from datetime import datetime, timezone
rows = history.map_at(at=datetime(2026, 6, 1, 15, tzinfo=timezone.utc), select="territory,guild_name", territory=["like.*e*", "not.is.null"])
print(json.dumps(rows.all()))`
    const path =
      '/api/v1/map_at?at=2026-06-01T15:00:00Z&select=territory,guild_name&territory=like.*e*&territory=not.is.null'
    const { rows } = await json(path)
    expect(Object.keys(rows[0])).toEqual(['territory', 'guild_name'])
    expect(await printed(url, program)).toEqual(rows)
  })

  test('says what is wrong with a request', async () => {
    const { url } = await web.served()
    const program = `
try:
    history.member_contribution(guild="Nobody has this name").all()
except ReadApiError as error:
    print(json.dumps([error.status, error.problem, error.argument, str(error)]))`
    expect(await printed(url, program)).toEqual([404, 'name-not-found', null, expect.stringContaining('Nobody')])
  })

  test('refuses an instant without a time zone, and what is no URL', async () => {
    const program = `
from datetime import datetime
said = []
for work in (lambda: history.map_at(at=datetime(2026, 6, 1)).all(), lambda: connect("localhost:8080")):
    try:
        work()
    except ValueError as error:
        said.append(str(error))
print(json.dumps(said))`
    expect(await printed('http://127.0.0.1:1', program)).toEqual([
      'an instant needs a time zone: datetime.datetime(2026, 6, 1, 0, 0)',
      'no http:// or https:// URL: localhost:8080',
    ])
  })

  test('waits as a refusal says, a second at least, and asks again', async () => {
    const server = await answering(
      { status: 429, headers: { 'Retry-After': '0' }, body: { title: 'Too many', status: 429 } },
      { status: 200, body: empty },
    )
    const program = `
import time
began = time.monotonic()
rows = history.world().all()
print(json.dumps([rows, time.monotonic() - began >= 1]))`
    expect(await printed(server.url, program)).toEqual([[], true])
    expect(server.asked).toHaveLength(2)
  })

  test('shows its key to no other host', async () => {
    const other = await answering({ status: 200, body: empty })
    const server = await answering({ status: 302, headers: { Location: `${other.url}/api/v1/world` } })
    const program = `
try:
    history.world().all()
except ReadApiError as error:
    print(json.dumps(error.status))`
    expect(await printed(server.url, program, ', key="secret"')).toBe(302)
    expect(server.asked).toEqual([{ url: '/api/v1/world', key: 'Bearer secret' }])
    expect(other.asked).toEqual([])
  })

  test('fails in words when a response has no rows', async () => {
    for (const body of [[], 'text', { rows: 1 }, { rows: [] }]) {
      const { url } = await answering({ status: 200, body })
      const program = `
try:
    history.world().all()
except ReadApiError as error:
    print(json.dumps([error.status, error.problem, str(error)]))`
      expect(await printed(url, program)).toEqual([200, null, 'the read API answered 200'])
    }
  })

  test('has the version of the program', () => {
    const [, version] = /^version = "(.+)"$/m.exec(readFileSync(join(folder, 'pyproject.toml'), 'utf8')) ?? []
    const manifest: { version: string } = JSON.parse(readFileSync(join(folder, '../../package.json'), 'utf8'))
    expect(version).toBe(manifest.version)
  })

  const notebook: { cells: { cell_type: string; source: string[]; outputs?: unknown[] }[] } = JSON.parse(
    readFileSync(join(folder, 'history.ipynb'), 'utf8'),
  )
  const cells = notebook.cells.filter(({ cell_type }) => cell_type === 'code')

  test('has a notebook that is stored without outputs', () => {
    expect(cells.length).toBeGreaterThan(5)
    expect(cells.flatMap(({ outputs }) => outputs)).toEqual([])
  })

  test.skipIf(!hasPandas)('has a notebook whose cells run, which needs pandas', async () => {
    const { url } = await web.served()
    const program = `
import os
os.environ["WYNNSYNC_URL"] = ${JSON.stringify(url)}
${cells.map(({ source }) => source.join('')).join('\n')}
frame = history.territory_hold().frame()
print(json.dumps([str(frame["held_from"].dtype), str(history.territory_hold(is_current="is.unknown").frame()["held_from"].dtype)]))`
    expect(await printed(url, program)).toEqual(['datetime64[us, UTC]', 'datetime64[us, UTC]'])
  })
})
