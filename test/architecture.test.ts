import { readdirSync, readFileSync } from 'node:fs'
import { join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

const root = fileURLToPath(new URL('../', import.meta.url))
const paths = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter((path) =>
  path.endsWith('.ts'),
)
const files = paths.map((name) => {
  const path = join('src', name)
  const text = readFileSync(join(root, path), 'utf8')
  const code = text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*/g, '')
  const imports = [...code.matchAll(/(?:from|import)\s*\(?'([^']+)'/g)].map(([, name = '']) =>
    name.startsWith('.') ? normalize(join(path, '..', name)) : name,
  )
  return { path: path.replaceAll('\\', '/'), code, imports: imports.map((name) => name.replaceAll('\\', '/')) }
})

/** Every file and library that is there once this file is: what it imports, what those import. Types are not. */
function loadedBy(path: string, loaded = new Set<string>()): Set<string> {
  loaded.add(path)
  const { code = '' } = files.find((file) => file.path === path) ?? {}
  for (const [, name = ''] of code.matchAll(/^(?:import|export) (?!type )[^']*?from '([^']+)'/gm)) {
    const target = name.startsWith('.') ? normalize(join(path, '..', name)).replaceAll('\\', '/') : name
    if (!loaded.has(target)) loadedBy(target, loaded)
  }
  return loaded
}

/** The room of a file: its folder below `src`, or its own name. */
const roomOf = (path: string) => path.replace(/^src\//, '').replace(/\/.*|\.ts$/g, '')

/** Which rooms may be entered from which; everything may be entered from `main`. */
const below: Readonly<Record<string, readonly string[]>> = {
  main: ['cli'],
  cli: [
    'app',
    'app-api',
    'webhook',
    'config',
    'credential',
    'log',
    'resources',
    'sync',
    'api',
    'db',
    'analytics',
    'sandbox',
    'errors',
    'clock',
  ],
  'app-api': ['app', 'credential', 'db', 'sync', 'api'],
  app: ['config', 'credential', 'log', 'db', 'clock'],
  log: ['config', 'clock'],
  webhook: ['clock'],
  config: ['errors'],
  credential: ['errors'],
  resources: ['sync', 'api', 'db', 'errors'],
  sync: ['db', 'api', 'errors', 'clock'],
  analytics: ['db', 'errors', 'clock'],
  sandbox: ['errors', 'clock', 'api'],
  db: ['errors', 'clock'],
  api: ['errors', 'clock'],
  errors: [],
  clock: [],
}

/** `path: what it says` for every file of `folder` whose code, or one of whose imports, matches. */
function offenders(folder: string, what: RegExp, among: 'code' | 'imports'): string[] {
  return files
    .filter(({ path }) => path.startsWith(`src/${folder}`))
    .flatMap((file) =>
      (among === 'code' ? file.code.split('\n') : file.imports).map((line) => `${file.path}: ${line.trim()}`),
    )
    .filter((line) => what.test(line.slice(line.indexOf(': ') + 2)))
}

describe('the rooms of the house', () => {
  test('are entered from above only', () => {
    const wrong = files.flatMap(({ path, imports }) =>
      imports
        .filter((name) => name.startsWith('src/') && roomOf(name) !== roomOf(path))
        .filter((name) => !below[roomOf(path)]?.includes(roomOf(name)))
        .map((name) => `${path} imports ${name}`),
    )
    expect(wrong).toEqual([])
  })

  test('see of the engine, as resources, only what they declare, and of the database only what tables are made of', () => {
    const inside =
      /^src\/(?!resources\/|api\/|errors|clock|sync\/(resource|hash)\.ts|db\/(history|columns|schemas|database)\.ts)/
    expect(offenders('resources/', inside, 'imports')).toEqual([])
  })

  test('know no library that belongs to another: no HTTP, queue, driver, scheduler or logger in resources', () => {
    expect(offenders('resources/', /^(undici|p-queue|postgres|node-cron|pino)/, 'imports')).toEqual([])
    expect(offenders('', /^undici/, 'imports').filter((line) => !line.startsWith('src/api/'))).toEqual([])
    const drivers = /^(postgres$|@electric-sql)/
    expect(offenders('', drivers, 'imports').filter((line) => !line.startsWith('src/db/'))).toEqual([])
  })

  test('load at the start of any command neither HTTP nor tables nor a database', () => {
    const all = [...loadedBy('src/main.ts')]
    expect(all).toContain('src/cli/program.ts')
    expect(all).toContain('zod')
    expect(
      all.filter((name) => /^(undici|drizzle-orm|postgres$|@electric-sql|p-queue|src\/(sync|resources)\/)/.test(name)),
    ).toEqual([])
    expect([...loadedBy('src/cli/query.ts')].filter((name) => /^(undici|drizzle-orm)/.test(name))).toEqual([])
    expect([...loadedBy('src/cli/sync.ts')].filter((name) => /^@?hono/.test(name))).toEqual([])
  })

  test('have one that reads the environment, and one that ends the process', () => {
    const environment = offenders('', /process\.env/, 'code').map((line) => line.split(':')[0])
    expect(new Set(environment)).toEqual(new Set(['src/config.ts']))
    const ends = offenders('', /process\.exit\(/, 'code').map((line) => line.split(':')[0])
    // The second one is the text of a program for a child process.
    expect(new Set(ends)).toEqual(new Set(['src/main.ts', 'src/db/embedded-create.ts']))
  })

  test('take time and chance from outside', () => {
    const taken = offenders('', /new Date\(\)|Date\.now\(|Math\.random|setInterval/, 'code').map(
      (line) => line.split(':')[0],
    )
    expect([...new Set(taken)].sort()).toEqual([
      'src/api/client.ts',
      'src/api/transport.ts',
      'src/app.ts',
      'src/clock.ts',
    ])
  })

  test('write no instant of the database server into history', () => {
    expect(offenders('sync/', /(?<!\.)\bnow\(\)|current_timestamp|clock_timestamp/i, 'code')).toEqual([])
  })

  test('import each other in no circle, not even for a type', () => {
    const importsOf = new Map(files.map(({ path, imports }) => [path, imports]))
    const done = new Set<string>()
    const circles: string[] = []
    const walk = (path: string, way: readonly string[]): void => {
      if (way.includes(path)) circles.push([...way.slice(way.indexOf(path)), path].join(' -> '))
      if (way.includes(path) || done.has(path)) return
      for (const next of importsOf.get(path) ?? []) walk(next, [...way, path])
      done.add(path)
    }
    for (const { path } of files) walk(path, [])
    expect(circles).toEqual([])
  })

  test('have no file of more than 250 lines', () => {
    expect(files.filter(({ code }) => code.split('\n').length > 250).map(({ path }) => path)).toEqual([])
  })
})
