import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest'
import { createReadApi, type Questions, ReadApiError, type TerritoryCaptureRow } from '../../src/api/index.ts'
import { questionNames } from '../../src/api/read/questions.ts'
import { virtualClock } from '../../src/base/clock.ts'
import { recorded } from '../../src/questions/catalogue.ts'
import { pagingNames } from '../../src/web/api/arguments.ts'
import { addWebKey } from '../../src/web/http/key-store.ts'
import { buildProgram } from '../support/cli.ts'
import { guildId } from '../support/guild-answers.ts'
import { bothKinds } from '../support/postgres.ts'
import { hostile } from '../support/report-world.ts'
import { webWorld } from '../support/web-world.ts'

const root = join(import.meta.dirname, '../..')
interface Operation {
  readonly tags: readonly string[]
  readonly parameters: readonly { readonly name: string; readonly required?: boolean }[]
  readonly responses: { readonly 200: { readonly content: Record<string, { readonly schema: Schema }> } }
}

interface Schema {
  readonly properties: { readonly rows: { readonly items: { readonly properties: Record<string, Value> } } }
}

interface Described {
  readonly paths: Record<string, { get: Operation }>
  readonly components: { readonly schemas: Record<string, Value> }
}

type Value = { readonly type?: readonly string[]; readonly enum?: readonly (string | null)[]; readonly $ref?: string }

/** The type of a value in TypeScript. Counts stay below 2^53, and lists are lists of texts. */
const typeOf = ({ type, enum: values }: Value) =>
  (values?.map((one) => (one === null ? 'null' : `'${one}'`)) ?? type ?? ['unknown'])
    .filter((one, _, all) => one !== 'string' || !all.includes('number'))
    .map((one) => (one === 'array' ? 'readonly string[]' : one))
    .join(' | ')

const namesOf = (some: readonly { readonly name: string }[]) =>
  some.map(({ name }) => `'${name}'`).join(' | ') || 'never'

/** What the types of the generated file are compared with. */
const comparing = [
  `import type * as of from '${join(root, 'src/api/read/questions.ts')}'`,
  `import type { Ask, AskAny } from '${join(root, 'src/api/read/rows.ts')}'`,
  'type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false',
  'type Flat<A> = { [Name in keyof A]: A[Name] }',
  'type Needed<A> = { [Name in keyof A]-?: object extends Pick<A, Name> ? never : Name }[keyof A]',
  `export const all: Same<keyof of.Questions, ${namesOf(Object.keys(questionNames).map((name) => ({ name })))}> = true`,
]

/** What the compiler says of a text; empty when it has no objection. */
async function compiled(text: string): Promise<string> {
  const folder = await mkdtemp(join(inject('runFolder'), 'types-'))
  const compilerOptions = {
    noEmit: true,
    rootDir: '/',
    rewriteRelativeImportExtensions: false,
    declaration: false,
    typeRoots: [join(root, 'node_modules/@types')],
  }
  const project = { extends: join(root, 'tsconfig.json'), compilerOptions, include: [], files: ['types.mts'] }
  await writeFile(join(folder, 'types.mts'), text)
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(project))
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  const run = promisify(execFile)(process.execPath, [compiler, '-p', folder])
  return (await run.catch((error: { stdout: string }) => error)).stdout
}

beforeAll(buildProgram)

describe.each(bothKinds)('the client of the read API on the %s database', (kind) => {
  const lived = webWorld(kind)

  test('has the questions, arguments and rows of openapi.json, and no others, but for the rows of tables', async () => {
    const { json } = await lived.served()
    const { paths, components }: Described = await json('/openapi.json')
    const resolved = ({ $ref, ...value }: Value) => ($ref ? components.schemas[$ref.split('/').at(-1) ?? ''] : value)
    // The rows of tables are asked by their paths.
    const described = Object.entries(paths).filter(
      ([path, { get }]) => path.startsWith('/api/v1/') && !get.tags.includes(recorded.title),
    )
    expect(Object.values<string>(questionNames)).toEqual(described.map(([path]) => path.slice('/api/v1/'.length)))
    const expected = Object.entries<string>(questionNames).map(([called, name]) => {
      const operation = paths[`/api/v1/${name}`]?.get
      const type = called.replace(/^./, (letter) => letter.toUpperCase())
      const given = operation?.parameters.filter((one) => !pagingNames.some((name) => name === one.name)) ?? []
      const needed = given.filter(({ required }) => required)
      const rows = operation?.responses[200].content['application/json']?.schema.properties.rows.items.properties ?? {}
      const fields = Object.entries(rows).map(
        ([column, schema]) => `readonly ${column}: ${typeOf(resolved(schema) ?? {})}`,
      )
      const asks = `${needed.length > 0 ? 'Ask' : 'AskAny'}<of.${type}Arguments, of.${type}Row>`
      return `export const ${called}: [
  Same<Exclude<keyof of.${type}Arguments, 'limit' | 'order'>, ${namesOf(given)}>,
  Same<Needed<of.${type}Arguments>, ${namesOf(needed)}>,
  Same<Flat<of.${type}Row>, { ${fields.join('; ')} }>,
  Same<of.Questions['${called}'], ${asks}>,
] = [true, true, true, true]`
    })
    expect(await compiled([...comparing, ...expected].join('\n'))).toBe('')
    const [first = '', ...others] = expected
    const wrong = first.replace(/readonly (\w+): .*? \}/, 'readonly $1: never }')
    expect(await compiled([...comparing, wrong, ...others].join('\n'))).toContain(`Type 'true' is not assignable`)
  })

  const clientOf = async (...given: Parameters<typeof lived.served>): Promise<Questions> =>
    createReadApi({ url: `${(await lived.served(...given)).url}/` })

  test('reads the rows of all pages, one page, and from where a page ended', async () => {
    const api = await clientOf()
    const whole = await api.territoryCapture().all()
    expect(whole.length).toBeGreaterThan(2)
    const walked: TerritoryCaptureRow[] = []
    const rows = api.territoryCapture({ limit: 1, order: 'desc' })
    for await (const row of rows) walked.push(row)
    expect(walked).toEqual(whole.toReversed())
    const first = await rows.page()
    expect(first.rows).toEqual(walked.slice(0, 1))
    expect((await rows.page(String(first.cursor))).rows).toEqual(walked.slice(1, 2))
    expect((await api.territoryCapture().page()).cursor).toBeNull()
    const at = new Date('2026-06-01T10:45:00Z')
    const held = await api.territoryOwnerAt({ territory: 'Oak', at }).page()
    expect(held.arguments).toEqual({ territory: 'Oak', at: at.toISOString() })
    expect(held.rows).toEqual([
      expect.objectContaining({ guild_uuid: guildId('b'), held_from: '2026-06-01T10:30:00.000Z' }),
    ])
    const ofGuild = await api.territoryCapture({ to_guild_uuid: hostile.prefix }).page()
    expect(ofGuild.arguments).toEqual({ to_guild_uuid: guildId('a') })
    const between = ['gte.2026-06-01T10:00Z', 'lt.2026-06-01T11:00Z'] as const
    const filtered = api.territoryCapture({
      captured_at: between,
      territory: 'in.(Oak,Elm)',
      order: 'captured_at.desc',
    })
    expect((await filtered.page()).arguments).toEqual({ captured_at: between, territory: 'in.(Oak,Elm)' })
    expect(await filtered.all()).toEqual(
      whole
        .filter(({ captured_at }) => String(captured_at) >= '2026-06-01T10' && String(captured_at) < '2026-06-01T11')
        .filter(({ territory }) => territory === 'Oak' || territory === 'Elm')
        .toReversed(),
    )
    const heldAt = api.mapAt({ at, guild_name: 'not.is.null', order: 'territory' })
    expect((await heldAt.all()).map(({ territory }) => territory)).toEqual(['Elm', 'Oak'])
    expect(typeof (await api.memberContribution({ guild: hostile.guild }).all())[0]?.contributed).toBe('number')
  })

  test('throws problems as errors, and ends when it is told to', async () => {
    const api = await clientOf({ requestsPerMinute: 2 })
    const failure = (asked: Promise<unknown>) => asked.catch((error: unknown) => error)
    const wrong = await failure(api.world({ limit: 0 }).all())
    expect(wrong).toBeInstanceOf(ReadApiError)
    expect(wrong).toMatchObject({ status: 400, problem: 'bad-argument', argument: 'limit' })
    expect(await failure(api.memberActivity({ guild: hostile.guild.slice(0, -1) }).page())).toMatchObject({
      status: 404,
      problem: 'name-not-found',
      similar: [expect.stringContaining(hostile.guild)],
    })
    const refused = await failure(api.world().page())
    expect(refused).toMatchObject({ status: 429, problem: 'too-many-requests', retryAfter: expect.any(Number) })
    const aborted = AbortSignal.abort(new Error('enough'))
    await expect(api.world({}, { signal: aborted }).page()).rejects.toThrow('enough')
  })

  test('sends its key', async () => {
    const { db, clock } = lived.world
    const key = await addWebKey(db, { name: 'client', createdAt: new Date(clock.now()) })
    const { url } = await lived.served({ requestsPerMinute: 1 })
    const api = createReadApi({ url, key })
    for (let request = 0; request < 3; request++) expect((await api.world().page()).rows).toEqual(expect.any(Array))
    await expect(createReadApi({ url, key: 'none' }).world().page()).rejects.toMatchObject({ problem: 'wrong-key' })
  })

  test('runs the example of docs/reference/read-api.md', async () => {
    const page = readFileSync(join(root, 'docs/reference/read-api.md'), 'utf8')
    const [, example = ''] = /```js\n(.*?)```/s.exec(page) ?? []
    expect(example).toContain(`'wynnsync/api'`)
    const { url } = await lived.served()
    const file = join(inject('runFolder'), `read-api-${kind}.mjs`)
    await writeFile(file, example.replace('wynnsync/api', join(root, 'dist/api/index.js')))
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [file, url, 'Oak'])
    expect([stderr, stdout]).toEqual(['', expect.stringMatching(/^Oak .*\n/)])
  })
})

test.each([
  [503, '5', 5000],
  [503, '0', 1000],
  [503, undefined, 1000],
  [429, '86400', 60_000],
  [400, '5', 0],
])('after %i with Retry-After %s the next request waits %i ms', async (status, retryAfter, wait) => {
  const server = createServer((_, response) => {
    response.writeHead(status, retryAfter === undefined ? {} : { 'retry-after': retryAfter }).end()
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  onTestFinished(() => void server.close())
  const address = server.address()
  const clock = virtualClock(0, { auto: true })
  const api = createReadApi({ url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`, clock })
  for (const sentAt of [0, wait, 2 * wait]) {
    await expect(api.world().page()).rejects.toMatchObject({ status })
    expect(clock.now()).toBe(sentAt)
  }
  await expect(api.world({}, { signal: AbortSignal.abort(new Error('enough')) }).page()).rejects.toThrow('enough')
})

test('a proxy that answers in place of the read API is an error with its status', async () => {
  const server = createServer((_, response) => response.writeHead(502).end('<h1>Bad Gateway</h1>'))
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  onTestFinished(() => void server.close())
  const address = server.address()
  const api = createReadApi({ url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/prefix` })
  await expect(api.world().page()).rejects.toMatchObject({ name: 'ReadApiError', status: 502, problem: undefined })
})
